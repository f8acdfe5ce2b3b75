import Router from '@koa/router';
import {
  documentRoutes,
  type Project,
  type JsonSchema,
  type Method,
  type RouteSpec,
} from '@twofold/schema';
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
import type { InputTypes } from '../http/input-types.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';
import type { RouteOptions } from './types.ts';

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

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Method[];

/**
 * Describes own routes for OpenAPI. A route whose path is a pattern of its own is left out.
 *
 * @param entities names that the document has as components.
 */
export function describeRoutes(
  { declared, inputs }: OwnRoutes,
  entities: ReadonlySet<string>,
): RouteSpec[] {
  if (inputs === null) return [];
  return declared.flatMap(({ methods, path, options }) =>
    typeof path === 'string'
      ? methods
          .filter((method) => METHODS.includes(method))
          .map((method) =>
            describeRoute({ method: method as Method, path, options }, inputs, entities),
          )
      : [],
  );
}

interface OneRoute {
  readonly method: Method;
  readonly path: string;
  readonly options: RouteOptions;
}

function describeRoute(
  { method, path, options }: OneRoute,
  inputs: InputTypes,
  entities: ReadonlySet<string>,
): RouteSpec {
  const { auth, body, query, response, summary, tags = ['routes'], upload } = options;
  const id = `${method.toLowerCase()}${path.replaceAll(/\W+(\w?)/g, (_, first: string) => first.toUpperCase())}`;
  return {
    id,
    method,
    path,
    access: auth ? 'user' : 'public',
    tag: tags[0] ?? 'routes',
    tags,
    summary: summary ?? `${method} ${path}`,
    ...(query !== undefined && { query: propertiesOf(schemaOf(query, inputs)) }),
    ...(upload && { body: { kind: 'stream', type: 'multipart/form-data' } as const }),
    ...(body === 'raw' && { body: { kind: 'stream', type: 'application/octet-stream' } as const }),
    ...(body !== undefined &&
      body !== 'raw' && { body: { kind: 'json', schema: schemaOf(body, inputs) } as const }),
    responses: { 200: answerOf(response, inputs, entities), ...refusals(options) },
  };
}

function answerOf(
  response: string | undefined,
  inputs: InputTypes,
  entities: ReadonlySet<string>,
): RouteSpec['responses'][number] {
  if (response === undefined) return { description: 'The answer' };
  const schema: JsonSchema = entities.has(response)
    ? { $ref: `#/components/schemas/${response}` }
    : inputs.describe(response);
  return { description: response, schema };
}

function refusals({ auth, body, query, upload, limit }: RouteOptions): RouteSpec['responses'] {
  return {
    ...((body !== undefined || query !== undefined || upload) && {
      400: { description: 'A value is missing or wrong' },
    }),
    ...(auth && { 401: { description: 'Unauthorized' }, 403: { description: 'Forbidden' } }),
    ...((body !== undefined || upload) && {
      413: { description: 'Request body too large' },
      415: { description: 'Unsupported media type' },
    }),
    ...(limit !== undefined && { 429: { description: 'Rate limit exceeded' } }),
  };
}

function schemaOf(type: string | StandardSchema, inputs: InputTypes): JsonSchema {
  return isStandardSchema(type) ? jsonSchemaOf(type) : inputs.describe(type);
}

/** Some libraries also give a JSON Schema of what they accept (standardschema.dev/json-schema). */
function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  const { jsonSchema } = schema['~standard'] as {
    readonly jsonSchema?: { input(options: { readonly target: string }): JsonSchema };
  };
  try {
    return jsonSchema?.input({ target: 'draft-2020-12' }) ?? {};
  } catch {
    // The schema has a part, such as a function, that JSON Schema cannot express.
    return {};
  }
}

const propertiesOf = ({ properties }: JsonSchema) =>
  (properties ?? {}) as Readonly<Record<string, JsonSchema>>;
