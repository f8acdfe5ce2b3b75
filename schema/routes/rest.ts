import type { Column, Entity, Field, Operation, Project, WriteShape } from '../model.ts';
import { kebabCase, pascalCase } from '../names.ts';
import { ERROR } from './auth-schemas.ts';
import type { JsonSchema, RouteSpec } from './route.ts';

/** What REST offers of one entity: a mirror of the root fields that the schema has. */
export interface RestModule {
  readonly entity: Entity;
  /** `/api/blog-posts` */
  readonly path: string;
  readonly list?: Operation;
  readonly get?: Operation;
  readonly create?: Operation;
  readonly update?: Operation;
  readonly remove?: Operation;
}

/** The modules of a project, in the schema's order; an entity that no root field speaks of has none. */
export function restModules(project: Project): RestModule[] {
  return project.entities.flatMap((entity) => {
    const find = (kind: Operation['action']['kind'], test: (operation: Operation) => boolean = () => true) =>
      project.operations.find((operation) => operation.action.kind === kind && 'entity' in operation.action && operation.action.entity === entity.name && test(operation));
    const list = find('list', ({ name }) => name === entity.plural) ?? find('list');
    const get = find('get', ({ action }) => action.kind === 'get' && action.by.length === 1 && action.by[0]?.column === 'id');
    const create = find('create');
    const update = find('update');
    const remove = find('remove');
    if (!(list ?? get ?? create ?? update ?? remove)) return [];
    return [{ entity, path: `/api/${kebabCase(entity.plural)}`, ...(list && { list }), ...(get && { get }), ...(create && { create }), ...(update && { update }), ...(remove && { remove }) }];
  });
}

/**
 * The routes of every module, for the router and for OpenAPI.
 *
 * @example restRoutes(project).map(({ method, path }) => `${method} ${path}`) // ['GET /api/posts', 'GET /api/posts/:id', …]
 */
export function restRoutes(project: Project): RouteSpec[] {
  return restModules(project).flatMap((module) => moduleRoutes(project, module));
}

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const refused = (description: string) => ({ description, schema: ERROR });
const REFUSALS = { 401: refused('Not signed in'), 403: refused('Not allowed') };

function moduleRoutes(project: Project, { entity, path, list, get, create, update, remove }: RestModule): RouteSpec[] {
  const { name, plural, singular } = entity;
  const at = { access: 'rules', tag: plural } as const;
  const one = { 200: { description: `The ${singular}`, schema: ref(name) }, 404: refused(`${name} not found`), ...REFUSALS };
  const body = (shape: 'Create' | 'Update') => ({ body: { kind: 'stream', type: 'application/json', schema: ref(`${shape}${name}`) } as const });
  const written = { 400: refused('A value is missing or wrong'), 409: refused('Such a row is there already'), 415: refused('Not JSON'), 422: refused('A related row is not there') };
  const item = `${path}/:id`;
  const routes: (RouteSpec | undefined)[] = [
    list && { ...at, id: `list${pascalCase(plural)}`, method: 'GET', path, summary: `Lists ${plural}`, query: listQuery(project, entity), responses: { 200: { description: 'A page', schema: ref(`${name}Page`) }, 400: refused('A parameter is wrong'), ...REFUSALS } },
    get && { ...at, id: `get${name}`, method: 'GET', path: item, summary: `One ${singular}`, query: shapeQuery(entity), responses: one },
    create && { ...at, ...body('Create'), id: `create${name}`, method: 'POST', path, summary: `Creates a ${singular}`, responses: { 201: { description: 'It was created', schema: ref(name) }, ...written, ...REFUSALS } },
    update && { ...at, ...body('Update'), id: `update${name}`, method: 'PATCH', path: item, summary: `Changes a ${singular}; what is absent stays`, responses: { ...one, ...written, 412: refused('It was changed since') } },
    update && { ...at, ...body('Update'), id: `put${name}`, method: 'PUT', path: item, summary: `Changes a ${singular}, the same as PATCH`, responses: { ...one, ...written, 412: refused('It was changed since') } },
    remove && { ...at, id: `delete${name}`, method: 'DELETE', path: item, summary: `Removes a ${singular}`, responses: { 204: { description: 'It is gone' }, 404: refused(`${name} not found`), 409: refused('It is still in use'), 412: refused('It was changed since'), ...REFUSALS } },
  ];
  return routes.filter((route) => route !== undefined);
}

/** Values stay text here: what is wrong with one is said in words of our own. */
function listQuery(project: Project, entity: Entity): Record<string, JsonSchema> {
  const filters = entity.fields
    .filter((field) => field.source.kind === 'column' && field.type.kind !== 'object' && !field.type.list)
    .map((field) => [field.name, { description: `Only where ${field.name} is this; ${field.name}_gt, _lt, _in, _contains … compare`, examples: [example(project, field)] }] as const);
  return {
    page: { description: 'The page, from 1', examples: [1] },
    limit: { description: 'Rows in a page', examples: [20] },
    sort: { description: 'The field to sort by' },
    order: { description: 'asc or desc' },
    ...shapeQuery(entity),
    ...Object.fromEntries(filters),
  };
}

const example = (project: Project, { type }: Field) => project.enums.find(({ name }) => name === type.name)?.values[0] ?? (type.name === 'Int' ? 1 : 'x');

function shapeQuery(entity: Entity): Record<string, JsonSchema> {
  const relations = entity.fields.filter(({ source }) => source.kind === 'one' || source.kind === 'many').map(({ name }) => name);
  return {
    fields: { description: 'Only these fields, with commas between them' },
    ...(relations.length > 0 && { include: { description: `Relations to embed: ${relations.join(', ')}` } }),
  };
}

/** The schemas that the routes refer to, by name. */
export function restSchemas(project: Project): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = {};
  for (const { entity, list, create, update } of restModules(project)) {
    schemas[entity.name] = entitySchema(project, entity);
    if (list) schemas[`${entity.name}Page`] = pageSchema(entity.name);
    if (create) schemas[`Create${entity.name}`] = inputSchema(project, create, true);
    if (update) schemas[`Update${entity.name}`] = inputSchema(project, update, false);
  }
  return schemas;
}

function entitySchema(project: Project, entity: Entity): JsonSchema {
  const shown = entity.fields.filter(({ source }) => source.kind === 'column');
  const properties = shown.map((field) => [field.name, { ...fieldSchema(project, field), ...(field.description && { description: field.description }) }] as const);
  const keys = foreignKeys(entity).map(({ name }) => [name, { type: ['string', 'null'] }] as const);
  return { type: 'object', properties: Object.fromEntries([...properties, ...keys]), required: shown.filter(({ type }) => type.required).map(({ name }) => name) };
}

/** A to-one relation shows its key, `authorId`, unless a field does so already. */
export function foreignKeys(entity: Entity): { readonly name: string; readonly column: string; readonly field: Field }[] {
  return entity.fields.flatMap((field) => {
    const name = `${field.name}Id`;
    if (field.source.kind !== 'one' || field.source.key !== 'own' || field.source.typeColumn !== undefined) return [];
    return entity.fields.some((other) => other.name === name) ? [] : [{ name, column: field.source.column, field }];
  });
}

const pageSchema = (name: string): JsonSchema => ({
  type: 'object',
  required: ['data', 'pagination'],
  properties: {
    data: { type: 'array', items: ref(name) },
    pagination: { type: 'object', properties: Object.fromEntries(['total', 'page', 'page_size', 'total_pages'].map((key) => [key, { type: 'integer' }])) },
  },
});

function fieldSchema(project: Project, { source, type }: Field): JsonSchema {
  const values = project.enums.find(({ name }) => name === type.name)?.values;
  const scalar = project.scalars.find(({ name }) => name === type.name);
  const item: JsonSchema = values ? { enum: values } : (scalarSchema(source.kind === 'column' ? (scalar?.column ?? 'json') : 'json', type.name) ?? {});
  return type.list ? { type: 'array', items: item } : item;
}

function scalarSchema(type: Column['type'], name: string): JsonSchema | undefined {
  const formats: Partial<Record<Column['type'], JsonSchema>> = {
    integer: { type: 'integer' }, real: { type: 'number' }, boolean: { type: 'boolean' }, json: {},
    timestamp: { type: 'string', format: 'date-time' }, date: { type: 'string', format: 'date' }, uuid: { type: 'string', format: 'uuid' },
  };
  return name === 'ID' ? { type: 'string' } : (formats[type] ?? { type: 'string' });
}

function inputSchema(project: Project, { action, args }: Operation, create: boolean): JsonSchema {
  const shape = 'write' in action ? project.writes.find(({ id }) => id === action.write) : undefined;
  const properties = (shape?.writes ?? []).map((write) => [write.name, writeSchema(project, shape as WriteShape, write)] as const);
  const required = create && !('input' in action && action.input) ? args.filter(({ type }) => type.required).map(({ name }) => name) : [];
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

function writeSchema(project: Project, shape: WriteShape, write: WriteShape['writes'][number]): JsonSchema {
  if (write.kind === 'key') return { type: ['string', 'null'] };
  if (write.kind === 'keys') return { type: 'array', items: { type: 'string' } };
  if (write.kind !== 'column') return write.kind === 'nested' ? { type: 'object' } : {};
  const entity = project.entities.find(({ name }) => name === shape.entity);
  const field = entity?.fields.find(({ source }) => source.kind === 'column' && source.column === write.column);
  return field ? fieldSchema(project, field) : {};
}
