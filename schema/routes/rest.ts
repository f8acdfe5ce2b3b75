import { buildSchema, type GraphQLSchema } from 'graphql';
import { signsIn } from '../capabilities.ts';
import type { AuthRule, FilterOperator, Operation, Project, Verb } from '../model.ts';
import { pascalCase } from '../names.ts';
import { ownSize } from '../implied-lists.ts';
import { restMembers } from '../rest/members.ts';
import { restAnswer, restModules, type RestModule } from '../rest/modules.ts';
import { defaultPageSize, restFilters, isSearched, restSorts } from '../rest/parameters.ts';
import { errorName, paginationName, restBody } from '../rest/schemas.ts';
import { leafSchema, reference } from '../rest/value-schemas.ts';
import { callersOf } from './callers.ts';
import type { JsonSchema, RouteReference, RouteSpec } from './route.ts';

/** Whether the user's own function answers a field: `own('Query.posts')`. */
export type IsOwn = (coordinate: string) => boolean;

/**
 * The routes of every REST module. Their guard `public` accepts every caller, because the rules of
 * the schema are checked for every row; `security` documents the result.
 *
 * @param own root fields that the user's own function answers: their lists filter and sort by what
 * they declare.
 * @example
 * restRoutes(project).map(({ method, path }) => `${method} ${path}`) // ['GET /api/posts', 'GET /api/posts/:id', …]
 */
export function restRoutes(project: Project, own: IsOwn = () => false): RouteSpec[] {
  const modules = restModules(project);
  return modules.length === 0
    ? []
    : moduleRoutes({ project, schema: buildSchema(project.sdl), modules, own });
}

/** The routes of these modules. */
export function moduleRoutes(made: Omit<Making, 'module'>): RouteSpec[] {
  return made.modules.flatMap((module) => routesOf({ ...made, module }));
}

interface Making {
  readonly project: Project;
  readonly schema: GraphQLSchema;
  readonly modules: readonly RestModule[];
  readonly module: RestModule;
  readonly own: IsOwn;
}

function routesOf(making: Making): RouteSpec[] {
  const { list, get, create, update, remove } = making.module;
  return [
    ...(list ? [listRoute(making, list)] : []),
    ...(create ? [createRoute(making, create)] : []),
    ...(get ? [getRoute(making, get)] : []),
    ...(update ? [updateRoute(making, update, 'PATCH'), updateRoute(making, update, 'PUT')] : []),
    ...(remove ? [removeRoute(making, remove)] : []),
  ];
}

/**
 * CSV and NDJSON are no content types of the document: clients with types of it would have to tell a
 * page from a text at each call.
 */
const PAGE =
  'A page. With `Accept: text/csv` or `application/x-ndjson` every row that matches instead, as text';

type Responses = Record<number, { readonly description: string; readonly schema?: JsonSchema }>;

function listRoute(making: Making, operation: Operation): RouteSpec {
  const { project, module } = making;
  const answer: JsonSchema = {
    type: 'object',
    required: ['data', 'pagination'],
    properties: {
      data: { type: 'array', items: reference(module.entity.name) },
      pagination: pagination(making, operation),
    },
  };
  return {
    ...common(making, operation, 'READ'),
    id: `list${pascalCase(module.entity.plural)}`,
    method: 'GET',
    path: module.path,
    summary: `Lists ${module.entity.plural}`,
    query: {
      ...pageQuery(operation),
      ...sortQuery(making),
      ...searchQuery(making),
      ...shapeQuery(making),
      ...filterQuery(making),
    },
    responses: {
      200: { description: PAGE, schema: answer },
      ...refusals(project, { 400: 'A parameter is unknown or wrong' }),
    },
  };
}

/** A user's function that pages by itself does not return a total. */
function pagination({ project, module, own }: Making, operation: Operation): JsonSchema {
  const { action, name } = operation;
  const pages = action.kind === 'list' && ownSize(action.list.paging) !== undefined;
  if (
    !own(`Query.${name}`) ||
    !pages ||
    (action.kind === 'list' && action.list.connection?.totalCount !== undefined)
  )
    return reference(paginationName(project));
  const number = { type: 'integer' };
  const unknown = {
    type: ['integer', 'null'],
    description: `Null: the server's own ${module.entity.plural} does not count`,
  };
  return {
    type: 'object',
    required: ['total', 'page', 'page_size', 'total_pages'],
    properties: { total: unknown, page: number, page_size: number, total_pages: unknown },
  };
}

function getRoute(making: Making, operation: Operation): RouteSpec {
  const { project, module } = making;
  return {
    ...common(making, operation, 'READ'),
    id: `get${module.entity.name}`,
    method: 'GET',
    path: `${module.path}/:id`,
    summary: `One ${module.entity.singular}`,
    query: shapeQuery(making),
    headers: {
      'If-None-Match': {
        type: 'string',
        description: 'An ETag; the answer is 304 when it is still the one',
      },
    },
    responses: {
      200: object(making),
      304: { description: 'It is as it was' },
      ...refusals(project, {
        400: 'Invalid id format, or a parameter is wrong',
        404: `${module.entity.name} not found`,
      }),
    },
  };
}

const WRITTEN = {
  400: 'A value is missing or wrong',
  409: 'Such a row is there already',
  413: 'Request body too large',
  415: 'Unsupported media type',
  422: 'A related row is not there',
};

function createRoute(making: Making, operation: Operation): RouteSpec {
  const { project, schema, module } = making;
  return {
    ...common(making, operation, 'CREATE'),
    id: `create${module.entity.name}`,
    method: 'POST',
    path: module.path,
    summary: `Creates a ${module.entity.singular}`,
    query: shapeQuery(making),
    body: {
      kind: 'json',
      schema: restBody(schema, project, module, 'create'),
      limit: project.server.bodyLimit,
    },
    responses: { 201: written(making, 'create'), ...refusals(project, WRITTEN) },
  };
}

const IF_MATCH: Record<string, JsonSchema> = {
  'If-Match': {
    type: 'string',
    description: 'An ETag; the answer is 412 when the object is not that any more',
  },
};

function updateRoute(making: Making, operation: Operation, method: 'PATCH' | 'PUT'): RouteSpec {
  const { project, schema, module } = making;
  const { entity, path } = module;
  const [id, summary] =
    method === 'PATCH'
      ? [`update${entity.name}`, `Changes a ${entity.singular}; what is absent stays`]
      : [`put${entity.name}`, `Changes a ${entity.singular}, the same as PATCH`];
  return {
    ...common(making, operation, 'UPDATE'),
    id,
    method,
    path: `${path}/:id`,
    summary,
    query: shapeQuery(making),
    headers: IF_MATCH,
    body: {
      kind: 'json',
      schema: restBody(schema, project, module, 'update'),
      limit: project.server.bodyLimit,
    },
    responses: {
      200: written(making, 'update'),
      ...refusals(project, {
        ...WRITTEN,
        404: `${entity.name} not found`,
        412: 'It was changed since',
      }),
    },
  };
}

const VERSION: JsonSchema = { type: 'integer', description: 'The version that was read' };

function removeRoute(making: Making, operation: Operation): RouteSpec {
  const { project, modules, module } = making;
  const { entity, path } = module;
  const references = referencesTo(modules, entity.name);
  const version = operation.action.kind === 'remove' ? operation.action.version : undefined;
  return {
    ...common(making, operation, 'DELETE'),
    id: `delete${entity.name}`,
    method: 'DELETE',
    path: `${path}/:id`,
    summary: `Removes a ${entity.singular}`,
    headers: IF_MATCH,
    ...(version && { query: { [version]: VERSION } }),
    ...(references.length > 0 && { references }),
    responses: {
      204: { description: 'It is gone' },
      ...refusals(project, {
        400: 'Invalid id format',
        404: `${entity.name} not found`,
        409: version ? 'It is still in use, or has another version' : 'It is still in use',
        412: 'It was changed since',
      }),
    },
  };
}

/** Fields of the shown types that refer to rows of an entity. */
const referencesTo = (modules: readonly RestModule[], name: string): RouteReference[] =>
  modules.flatMap(({ entity }) =>
    [...restMembers(entity).values()].flatMap(({ kind, column, name: field }) =>
      column?.references?.entity === name && kind !== 'relation'
        ? [{ type: entity.name, field, onDelete: column.references.onDelete }]
        : [],
    ),
  );

function refusals(project: Project, descriptions: Readonly<Record<number, string>>): Responses {
  const all = {
    ...descriptions,
    ...(isPublic(project) ? {} : { 401: 'Unauthorized', 403: 'Forbidden' }),
    429: 'Rate limit exceeded',
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, description]) => [
      status,
      { description, schema: reference(errorName(project)) },
    ]),
  );
}

const isPublic = (project: Project) => project.api.access === 'public' && !signsIn(project);

const object = ({ module: { entity } }: Making) => ({
  description: `The ${entity.singular}`,
  schema: reference(entity.name),
});

function written(making: Making, verb: 'create' | 'update'): Responses[number] {
  const answer = restAnswer(making.module, verb);
  if (answer === 'object') return object(making);
  return answer === 'id'
    ? {
        description: 'Its id',
        schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      }
    : { description: 'Done' };
}

function common(
  { project, schema, module }: Making,
  operation: Operation,
  verb: Verb,
): Pick<RouteSpec, 'access' | 'tag' | 'security' | 'callers' | 'description' | 'deprecated'> {
  const rules = [...operation.rules, ...module.entity.rules].filter(
    ({ on }) => on.length === 0 || on.includes(verb),
  );
  const open =
    rules.length === 0
      ? project.api.access === 'public'
      : [operation.rules, module.entity.rules].every((some) => saysPublic(some, verb));
  const description =
    rules.length === 0
      ? undefined
      : `Allowed for: ${[...new Set(rules.flatMap(inWords))].join(', ')}.`;
  const root = verb === 'READ' ? schema.getQueryType() : schema.getMutationType();
  const callers = callersOf(operation.rules, module.entity.rules, verb);
  const deprecated = root?.getFields()[operation.name]?.deprecationReason;
  return {
    access: 'public',
    tag: module.entity.plural,
    security: open ? [] : ['bearer', 'api_key'],
    ...(callers && { callers }),
    ...(description && { description }),
    ...(deprecated && { deprecated }),
  };
}

/** Whether the rules for the verb accept every caller. */
function saysPublic(rules: readonly AuthRule[], verb: Verb): boolean {
  const relevant = rules.filter(({ on }) => on.length === 0 || on.includes(verb));
  return relevant.length === 0 || relevant.some(({ allow }) => allow.includes('PUBLIC'));
}

const inWords = ({ allow, roles }: AuthRule): string[] =>
  allow.map((who) => (who === 'ROLE' ? `the role ${roles.join(' or ')}` : WHO[who]));

const WHO = {
  PUBLIC: 'everybody',
  USER: 'users',
  OWNER: 'the owner',
  TENANT: 'members of its organization',
  API_KEY: 'API keys',
} as const;

function pageQuery(operation: Operation): Record<string, JsonSchema> {
  const max = operation.action.kind === 'list' ? operation.action.list.paging.max : 100;
  return {
    page: { type: 'integer', minimum: 1, default: 1 },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: max,
      default: defaultPageSize(operation),
      description: 'Objects in a page',
    },
  };
}

function sortQuery({ module, own }: Making): Record<string, JsonSchema> {
  const names = restSorts(module, own(`Query.${module.list?.name}`));
  if (names.length === 0) return {};
  return {
    sort: { type: 'string', enum: names },
    order: { type: 'string', enum: ['asc', 'desc'], default: 'asc' },
  };
}

function searchQuery({ module, own }: Making): Record<string, JsonSchema> {
  if (!isSearched(module, own(`Query.${module.list?.name}`))) return {};
  return { search: { type: 'string', description: 'Words that the objects must have' } };
}

const listOf = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
});

function shapeQuery({ module }: Making): Record<string, JsonSchema> {
  const relations = [...restMembers(module.entity).values()]
    .filter(({ kind }) => kind === 'relation')
    .map(({ name }) => name);
  return {
    fields: listOf('Only these members, and the id; a dot leads into what is embedded'),
    ...(relations.length > 0 && {
      include: listOf(`What to embed: ${relations.join(', ')}; a dot leads on to what those have`),
    }),
  };
}

function filterQuery({ project, module, own }: Making): Record<string, JsonSchema> {
  // `title` and `title_eq` are the same filter, so only the short one is documented.
  const all = restFilters(module, own(`Query.${module.list?.name}`));
  const filters = [...all.values()].filter(
    ({ parameter, operator, member }) =>
      operator !== 'eq' || parameter === member.name || !all.has(member.name),
  );
  return Object.fromEntries(
    filters.map(({ parameter, member, operator }) => [
      parameter,
      filterSchema(
        project,
        member.kind === 'key' ? (member.column?.scalar ?? 'ID') : member.field.type.name,
        operator,
      ),
    ]),
  );
}

function filterSchema(project: Project, type: string, operator: FilterOperator): JsonSchema {
  if (operator === 'isNull') return { type: 'boolean' };
  const value = leafSchema(project, type);
  if (operator === 'contains' || operator === 'startsWith' || operator === 'endsWith')
    return { type: 'string' };
  return operator === 'in' || operator === 'notIn' ? { type: 'array', items: value } : value;
}
