import Router from '@koa/router';
import { documentRoutes, type Project } from '@twofold/schema';
import type { Middleware } from 'koa';
import type { Kernel, ServerModule } from '../module.ts';
import {
  assertNotFixed,
  fixedMatcher,
  type FixedRoute,
  fixedRoutes,
  replacedRoutes,
} from './fixed-paths.ts';
import { collectRoutes, type DeclareRoutes, type OwnRoutes, passing } from './own-router.ts';

export { describeRoutes } from './describe.ts';
export { collectRoutes } from './own-router.ts';
export type { DeclareRoutes, OwnRoutes } from './own-router.ts';

/**
 * Collects the routes of the user and checks them against those of the server.
 *
 * @throws ConfigError for wrong options, or a route that takes a path of the server.
 */
export function createOwnRoutes(
  { project, now, tracing }: Pick<Kernel, 'project' | 'now' | 'tracing'>,
  modules: readonly ServerModule[],
  declare: readonly DeclareRoutes[],
): OwnRoutes {
  const own = collectRoutes(
    {
      bodyLimit: project.server.bodyLimit,
      inputs: modules.find((module) => module.inputs)!.inputs!,
      enforceRate: modules.find((module) => module.enforceRate)?.enforceRate,
      now,
      tracing,
    },
    declare,
  );
  assertNotFixed(own.declared, fixedOf(project, modules));
  return own;
}

/** Without REST, the description of the own routes leaves its paths to them. */
function fixedOf({ api }: Project, modules: readonly ServerModule[]): FixedRoute[] {
  const listed = modules
    .flatMap((module) => module.routes ?? [])
    .map(({ spec }) => spec)
    .filter(({ id }) => api.rest || !documentRoutes.some((each) => each.id === id));
  return fixedRoutes(api.path, listed);
}

/**
 * The own routes as middleware, before everything that the server answers itself. Paths of the
 * server are left to it, even when a parameter of an own route would match one.
 */
export function serveOwnRoutes(
  { project, log }: Pick<Kernel, 'project' | 'log'>,
  modules: readonly ServerModule[],
  { router, declared }: OwnRoutes = NO_ROUTES,
): Middleware[] {
  if (declared.length === 0) return [];
  const generated = modules.flatMap((module) => module.generated?.() ?? []);
  for (const { own, generated: replaced } of replacedRoutes(declared, generated))
    log.warn(`the own route ${own} answers instead of the generated ${replaced}`);
  const isFixed = fixedMatcher(fixedOf(project, modules));
  const routes = router.routes() as unknown as Middleware;
  const methods = router.allowedMethods() as unknown as Middleware;
  return [
    (ctx, next) => {
      const method = ctx.method === 'HEAD' ? 'GET' : ctx.method;
      if (isFixed(method, ctx.path)) return next();
      return methods(ctx, () => routes(ctx, () => passing(ctx, next)) as Promise<void>);
    },
  ];
}

/** An empty router, for a server without own routes. */
export const NO_ROUTES: OwnRoutes = { router: new Router(), declared: [], inputs: null };
