import { ConfigError } from '../errors.ts';
import type { DeclaredRoute } from './own-router.ts';

/** A route of the server itself. With a `*` at its end it stands for every path below. */
export interface FixedRoute {
  /** Any method when absent. */
  readonly method?: string;
  readonly path: string;
}

/** Paths that belong to the server in every project, so that a later `auth:` breaks no route. */
const ALWAYS = ['/api/auth', '/api/oauth', '/api/health', '/api/system'];

/** The fixed routes of a server: GraphQL's, the system's, and those of its capabilities. */
export function fixedRoutes(graphqlPath: string, listed: readonly FixedRoute[]): FixedRoute[] {
  const always = ALWAYS.flatMap((path) => [{ path }, { path: `${path}/*rest` }]);
  return [{ path: graphqlPath }, ...always, ...listed];
}

/**
 * Refuses own routes that name a path of the server. A parameter that would only match one, as in
 * `/api/:name`, is no conflict: such a request is answered by the server.
 *
 * @throws ConfigError that names each route.
 */
export function assertNotFixed(
  declared: readonly DeclaredRoute[],
  fixed: readonly FixedRoute[],
): void {
  const problems = declared.flatMap(({ methods, path }) => {
    const taken = fixed.find(
      (each) => isFor(methods, each) && typeof path === 'string' && covers(each.path, path),
    );
    return taken
      ? [
          `src/routes.ts: ${methods.at(-1)} ${String(path)} takes a path of the server (${taken.path}): give the route another path`,
        ]
      : [];
  });
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
}

const isFor = (methods: readonly string[], { method }: FixedRoute) =>
  method === undefined || methods.includes(method);

const segmentsOf = (path: string) => path.toLowerCase().split('/').filter(Boolean);

/**
 * Whether a fixed path has every literal of an own path: `/api/apps/:name` covers `/api/apps/x`.
 */
function covers(fixed: string, own: string): boolean {
  const wanted = segmentsOf(fixed);
  const given = segmentsOf(own);
  const open = wanted.at(-1)?.startsWith('*') === true;
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every(
    (segment, at) => segment.startsWith(':') || segment.startsWith('*') || segment === given[at],
  );
}

/** Tests whether a request is for a fixed route. */
export function fixedMatcher(
  fixed: readonly FixedRoute[],
): (method: string, path: string) => boolean {
  return (method, path) =>
    fixed.some(
      (each) => (each.method === undefined || each.method === method) && covers(each.path, path),
    );
}

/** A route of the project that answers in place of a generated route of REST. */
export interface Replaced {
  readonly own: string;
  readonly generated: string;
}

/**
 * The generated routes that are replaced, because the project has a route with the same method and
 * path.
 */
export function replacedRoutes(
  declared: readonly DeclaredRoute[],
  generated: readonly { readonly method: string; readonly path: string }[],
): Replaced[] {
  return declared.flatMap(({ methods, path }) =>
    generated
      .filter((each) => methods.includes(each.method) && shapeOf(each.path) === shapeOf(path))
      .map((each) => ({
        own: `${each.method} ${String(path)}`,
        generated: `${each.method} ${each.path}`,
      })),
  );
}

/** A path without the names of its parameters. */
const shapeOf = (path: string | RegExp) =>
  typeof path === 'string' ? path.toLowerCase().replaceAll(/:\w+/g, ':') : null;
