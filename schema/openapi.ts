import { Kind, parse } from 'graphql';
import { adminDataOf, capabilityRoutes, opens } from './capabilities.ts';
import { auditRoutes } from './routes/audit.ts';
import type { Project } from './model.ts';
import { restSchemas } from './rest/schemas.ts';
import { adminDataDocument } from './routes/admin-data-document.ts';
import { ADMIN_DATA } from './routes/admin-data.ts';
import { restRoutes, type IsOwn } from './routes/rest.ts';
import { deprecation } from './sunset.ts';
import type { BodySpec, JsonSchema, RouteSpec } from './routes/route.ts';
import { documentRoutes, systemRoutes } from './routes/system.ts';

/** An OpenAPI 3.1 document. */
export type OpenapiDocument = Readonly<Record<string, unknown>>;

/** The parts of a document besides the routes of the model. */
export interface Documented {
  readonly ownRoutes?: readonly RouteSpec[];
  /** The flows of capabilities, which `projectRoutes` may know by name only. */
  readonly flows?: readonly RouteSpec[];
  /** Whether the server has `/api/data`; when absent, whether the manifest ever lets it. */
  readonly adminData?: boolean;
}

/**
 * Every endpoint of a project's server as OpenAPI 3.1: the system's, the capabilities' and REST.
 * Paths and schemas are sorted by name, and tags are in the schema's order, so that the emitted
 * project, which stores its entities by name, gives the same document.
 *
 * @example
 * JSON.stringify(openapiDocument(project), null, 2) // { "openapi": "3.1.0", "paths": { "/api/posts": … } }
 */
export function openapiDocument(
  given: Project,
  own?: IsOwn,
  { ownRoutes = [], flows = [], adminData = adminDataOf(given) !== 'never' }: Documented = {},
): OpenapiDocument {
  const project = inSchemaOrder(given);
  const schemas = project.api.rest ? restSchemas(project) : {};
  const admin = adminData ? adminDataDocument(project, schemas) : { routes: [], schemas: {} };
  const served = projectRoutes(project, own, flows).filter(
    ({ path }) => adminData || path !== ADMIN_DATA,
  );
  const routes = distinctIds([...served, ...admin.routes, ...ownRoutes]);
  return {
    openapi: '3.1.0',
    info: { title: project.name || 'API', version: '1' },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.flatMap(tagsOf))].map((name) => ({ name })),
    paths: byName(pathsOf(routes)),
    components: {
      schemas: byName({ ...schemas, ...admin.schemas }),
      securitySchemes: SECURITY,
    },
  };
}

/** The entities in the order of the schema; only REST and `/api/data` show them. */
function inSchemaOrder(project: Project): Project {
  if (!hasDocument(project)) return project;
  const names = parse(project.sdl, { noLocation: true }).definitions.flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_DEFINITION ? [node.name.value] : [],
  );
  const places = new Map(names.map((name, at) => [name, at]));
  const placeOf = ({ name }: { readonly name: string }) => places.get(name) ?? names.length;
  return { ...project, entities: project.entities.toSorted((a, b) => placeOf(a) - placeOf(b)) };
}

/** Whether a server serves an OpenAPI document: it does if it has generated endpoints. */
const hasDocument = (project: Project): boolean =>
  project.api.rest || adminDataOf(project) !== 'never';

function byName<T>(value: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The accessToken of a login',
  },
  api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
} as const;

/**
 * Every route that a project's server has, in the order of the document.
 *
 * @param flows what is known of the routes of capabilities besides their names.
 */
export function projectRoutes(
  project: Project,
  own?: IsOwn,
  flows: readonly RouteSpec[] = [],
): RouteSpec[] {
  const { api } = project;
  const described = new Map(flows.map((flow) => [nameOf(flow), flow]));
  return distinctIds([
    ...systemRoutes,
    ...(hasDocument(project) ? documentRoutes : []),
    ...(opens(project, 'audit') ? auditRoutes : []),
    ...capabilityRoutes(project).map((route) => described.get(nameOf(route)) ?? route),
    ...(api.rest ? restRoutes(project, own) : []),
  ]);
}

const nameOf = ({ method, path }: RouteSpec) => `${method} ${path}`;

/**
 * Makes operation ids unique: an entity may have the name of a capability's object, as `getApp` on
 * a hosting server.
 */
function distinctIds(routes: readonly RouteSpec[]): RouteSpec[] {
  const seen = new Set<string>();
  return routes.map((route) => {
    const id = seen.has(route.id) ? `${route.id}Object` : route.id;
    seen.add(id);
    return { ...route, id };
  });
}

function pathsOf(routes: readonly RouteSpec[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes)
    (paths[toTemplate(route.path)] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return paths;
}

/** `/api/posts/:id` → `/api/posts/{id}` */
const toTemplate = (path: string) => path.replace(/[:*](\w+)/g, '{$1}');

const tagsOf = ({ tag, tags = [tag] }: RouteSpec): readonly string[] => tags;

function operationOf(route: RouteSpec): Record<string, unknown> {
  const parameters = [
    ...pathParameters(route),
    ...queryParameters(route),
    ...headerParameters(route),
  ];
  return {
    operationId: route.id,
    tags: tagsOf(route),
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...deprecation(route.deprecated),
    ...(route.callers && { 'x-callers': route.callers }),
    ...(route.references && { 'x-references': route.references }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: requestBody(route.body) }),
    responses: Object.fromEntries(
      Object.entries(route.responses).map(([status, response]) => [status, responseOf(response)]),
    ),
    security: securityOf(route).map((name) => ({ [name]: [] })),
  };
}

/** Guards that accept no API key, because they need the session of a sign-in. */
const BEARER_ONLY: ReadonlySet<string> = new Set(['session', 'proof']);

/** The security schemes of a guard, unless the route sets its own. An empty list means public. */
function securityOf({ access, security }: RouteSpec): readonly string[] {
  if (security) return security;
  if (access === 'public') return [];
  return BEARER_ONLY.has(access) ? ['bearer'] : ['bearer', 'api_key'];
}

const pathParameters = ({ path }: RouteSpec) =>
  [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

/** Query parameters. A list is one parameter, separated by commas. */
function queryParameters({ query = {} }: RouteSpec): object[] {
  return Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(typeof description === 'string' && { description }),
    schema,
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
  }));
}

function headerParameters({ headers = {} }: RouteSpec): object[] {
  return Object.entries(headers).map(([name, { description, ...schema }]) => ({
    name,
    in: 'header',
    ...(typeof description === 'string' && { description }),
    schema,
  }));
}

function requestBody(body: BodySpec): object {
  const json = body.kind === 'json' ? body : undefined;
  const type = body.kind === 'json' ? 'application/json' : body.type;
  const form = json?.form && { 'application/x-www-form-urlencoded': { schema: json.form } };
  const content = { [type]: { schema: body.schema ?? {} }, ...form };
  return { required: json?.optional !== true, content };
}

function responseOf({
  description,
  schema,
  type,
}: RouteSpec['responses'][number] & { readonly schema?: JsonSchema }): object {
  if (!schema && !type) return { description };
  return {
    description,
    content: {
      [type ?? 'application/json']: { schema: schema ?? { type: 'string' } },
    },
  };
}
