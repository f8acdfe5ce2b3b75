import { buildSchema } from 'graphql';
import type { Project } from '../model.ts';
import { adminModules } from '../rest/admin-modules.ts';
import { restSchemas } from '../rest/schemas.ts';
import { ADMIN_REFUSED } from './admin-data.ts';
import { moduleRoutes } from './rest.ts';
import type { JsonSchema, RouteSpec } from './route.ts';

/** The routes below `/api/data`, and the schemas that they refer to. */
export interface AdminDataDocument {
  readonly routes: readonly RouteSpec[];
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/**
 * The routes of every entity for the document. A schema that differs from the one of REST with its
 * name gets a name that no type of GraphQL can have.
 *
 * @param known the schemas of REST
 * @example adminDataDocument(project, {}).routes[0].path // '/api/data/posts'
 */
export function adminDataDocument(
  given: Project,
  known: Readonly<Record<string, JsonSchema>>,
): AdminDataDocument {
  const schema = buildSchema(given.sdl);
  const modules = adminModules(given, schema);
  const project = { ...given, entities: modules.map(({ entity }) => entity) };
  const schemas = restSchemas(project, schema, modules);
  const renamed = renamedSchemas(schemas, known);
  const rename = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value).replaceAll(/#\/components\/schemas\/([^"]+)/g, (whole, name: string) =>
        renamed.has(name) ? `#/components/schemas/${nameOf(name)}` : whole,
      ),
    ) as T;
  return {
    routes: moduleRoutes({ project, schema, modules, own: () => false }).map((route) =>
      rename(adminRoute(route)),
    ),
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [
        renamed.has(name) ? nameOf(name) : name,
        rename(schema),
      ]),
    ),
  };
}

const nameOf = (name: string) => `Data.${name}`;

const renamedSchemas = (
  schemas: Readonly<Record<string, JsonSchema>>,
  known: Readonly<Record<string, JsonSchema>>,
): ReadonlySet<string> =>
  new Set(
    Object.keys(schemas).filter(
      (name) =>
        Object.hasOwn(known, name) && JSON.stringify(known[name]) !== JSON.stringify(schemas[name]),
    ),
  );

function adminRoute(route: RouteSpec): RouteSpec {
  const { method, path, summary, query, headers, body, references } = route;
  return {
    method,
    summary,
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body && { body }),
    ...(references && { references }),
    id: `${route.id}AsAdmin`,
    path,
    access: method === 'GET' ? 'data:read' : 'data:write',
    tag: 'data',
    responses: { ...route.responses, ...ADMIN_REFUSED },
  };
}
