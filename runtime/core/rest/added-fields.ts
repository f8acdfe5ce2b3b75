import {
  type Entity,
  type Field,
  type FilterShape,
  isHidden,
  type ListOptions,
  type Operation,
  type OrderShape,
  type RestMember,
  type RestModule,
  restFilters,
  restMembers,
  restSorts,
  type TypeRef,
} from '@twofold/schema';
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  type GraphQLSchema,
  isObjectType,
  isOutputType,
  specifiedScalarTypes,
} from 'graphql';
import type { RequestContext } from '../context/request-context.ts';
import { type EntityModel, found, type Model } from '../data/model.ts';
import { createReader } from '../data/reader.ts';
import type { Engine } from '../graphql/engine.ts';
import { attachResolver } from '../graphql/resolvers.ts';

type Named = Pick<RestModule, 'path'>;

/**
 * The names of the fields that REST adds to the types of a schema. Each has a space, so no document
 * of a client can name it, and no type of the user's has it.
 */
export const addedNames = {
  list: ({ path }: Named) => `list ${path}`,
  /** Reads every row, page after page by cursors. */
  every: ({ path }: Named) => `every ${path}`,
  /** Reads a row by key, with the rules of the user's own root field. */
  get: ({ path }: Named) => `get ${path}`,
  /** Reads a row by key with the rules of the entity alone, to answer a write. */
  row: ({ path }: Named) => `row ${path}`,
  relation: (field: string) => `rest ${field}`,
  /** The key of a relation, or a column that the schema does not show. */
  key: (field: string) => `rest key ${field}`,
};

/** What the key of a connection of the user's own resolver begins with in an answer. */
export const ROWS = 'rest rows ';

/** The most rows that a stream of all rows reads at once. */
const EVERY = 1000;

/**
 * The engine with fields for what the modules read: lists and rows of our own, relations without
 * arguments and connections, and keys of to-one relations. A request of REST or of `/api/data` is
 * then an operation like any other. Fields that may be refused, or fail in a function of the user's,
 * are left out of an answer.
 *
 * @example withAddedFields(engine, modules).model.operations.get('Query.list /api/posts')
 */
export function withAddedFields(engine: Engine, modules: readonly RestModule[]): Engine {
  const { model, store, reader, resolvers } = engine;
  const added = modules.flatMap(operationsOf);
  const shown = new Map(modules.map(({ entity }) => [entity.name, entity]));
  const entities = new Map(
    [...model.entities].map(([name, entity]) => [name, withFields(entity, shown.get(name))]),
  );
  const orders = modules.map(orderShape);
  const extended: Model = {
    ...model,
    entities,
    entity: (name) => found(entities.get(name), `entity ${name}`),
    filters: withShapes(model.filters, modules.flatMap(filterShapes)),
    orders: withShapes(model.orders, orders),
    writes: withShapes(
      model.writes,
      modules.flatMap(({ writes = [] }) => writes),
    ),
    operations: new Map([
      ...model.operations,
      ...added.map((operation) => [`Query.${operation.name}`, operation] as const),
    ]),
  };
  const fallible = Object.keys(resolvers).length > 0;
  const open: Engine = {
    ...engine,
    model: extended,
    reader: createReader(extended, store, reader.marker),
    mayLack: (type, name) => {
      const field = model.entities.get(type)?.fields.get(name);
      return field !== undefined && (field.rules.length > 0 || (fallible && name !== 'id'));
    },
  };
  declareFields(open, added);
  return open;
}

const withShapes = <T extends { readonly id: string }>(
  known: ReadonlyMap<string, T>,
  shapes: readonly T[],
) => new Map([...known, ...shapes.map((shape) => [shape.id, shape] as const)]);

function operationsOf(module: RestModule): Operation[] {
  return [...listOperations(module), ...getOperations(module)];
}

const whereOf = ({ path }: Named) => `where ${path}`;
const orderOf = ({ path }: Named) => `order ${path}`;

function listOperations(module: RestModule): Operation[] {
  const { entity, list } = module;
  if (list?.action.kind !== 'list') return [];
  const { order, condition, paging } = list.action.list;
  const connection = { type: connectionOf(entity.name), edge: '', ...CONNECTION };
  const listed = {
    filters: [],
    where: { arg: 'where', shape: whereOf(module) },
    orderBy: { arg: 'orderBy', shape: orderOf(module) },
    ...(entity.search && { search: 'search' }),
    ...(condition && { condition }),
    order,
    connection,
  };
  const root = (name: string, pages: ListOptions['paging']): Operation => ({
    ...ROOT,
    name,
    type: typeRef(connection.type, 'object'),
    action: { kind: 'list', entity: entity.name, list: { ...listed, paging: pages } },
    rules: list.rules,
  });
  const { default: size, max } = paging;
  return [
    root(addedNames.list(module), { limit: 'limit', offset: 'offset', default: size, max }),
    root(addedNames.every(module), { first: 'first', after: 'after', default: EVERY, max: EVERY }),
  ];
}

const CONNECTION = { nodes: 'nodes', totalCount: 'totalCount' } as const;
const ROOT = { root: 'query', args: [], decidedBy: 'rest' } as const;

const connectionOf = (entity: string) => `rest ${entity}Connection`;

const typeRef = (name: string, kind: TypeRef['kind'], list = false): TypeRef => ({
  name,
  kind,
  text: list ? `[${name}]` : name,
  required: false,
  list,
  itemRequired: false,
});

function getOperations(module: RestModule): Operation[] {
  const { entity, get } = module;
  const by = [{ arg: 'id', column: 'id' }];
  const action = { kind: 'get', entity: entity.name, by, unique: true } as const;
  const one = (name: string, rules: Operation['rules']): Operation => ({
    ...ROOT,
    name,
    type: typeRef(entity.name, 'entity'),
    action,
    rules,
  });
  return [
    ...(get ? [one(addedNames.get(module), get.rules)] : []),
    one(addedNames.row(module), [{ allow: ['PUBLIC'], roles: [], on: [] }]),
  ];
}

/** A filter for each member, and for each to-one relation by the key of a visible row. */
function filterShapes(module: RestModule): FilterShape[] {
  const { entity, list } = module;
  if (list?.action.kind !== 'list') return [];
  const all = [...restFilters(module).values()];
  const members = [...new Set(all.map(({ member }) => member))];
  const related = members.flatMap(relatedFilter);
  const filters = members.map((member): FilterShape['filters'][number] => ({
    kind: 'operators',
    name: member.name,
    column: member.column?.name ?? '',
    operators: [
      ...new Set(all.filter((each) => each.member === member).map(({ operator }) => operator)),
    ],
  }));
  return [
    {
      id: whereOf(module),
      entity: entity.name,
      filters: [...filters, ...related.map(({ filter }) => filter)],
    },
    ...related.map(({ shape }) => shape),
  ];
}

function relatedFilter({ kind, field: { name, source } }: RestMember) {
  if (kind !== 'key' || source.kind !== 'one') return [];
  const operators = ['eq', 'ne', 'in', 'notIn'] as const;
  const shape: FilterShape = {
    id: `rest key ${source.entity}`,
    entity: source.entity,
    filters: [{ kind: 'operators', name: 'id', column: 'id', operators }],
  };
  const filter = { kind: 'one', name: addedNames.relation(name), field: name, shape: shape.id };
  return [{ shape, filter: filter as FilterShape['filters'][number] }];
}

function orderShape(module: RestModule): OrderShape {
  const members = restMembers(module.entity);
  const fields = restSorts(module).map((name) => ({
    name,
    column: members.get(name)?.column?.name ?? '',
  }));
  return {
    id: orderOf(module),
    entity: module.entity.name,
    form: { kind: 'fields', fields },
  };
}

/** An entity with its relations without arguments, and the keys of its to-one relations. */
function withFields(entity: EntityModel, shown: Entity = entity.entity): EntityModel {
  const members = [...restMembers(shown).values()];
  const added = members.flatMap((member) => addedField(member) ?? []);
  return {
    ...entity,
    fields: new Map([...entity.fields, ...added.map((f) => [f.name, f] as const)]),
  };
}

function addedField({ kind, field, column }: RestMember): Field | undefined {
  const { source, type, rules } = field;
  const common = { args: [], rules, decidedBy: 'rest' } as const;
  if ((kind === 'key' || isHidden(field)) && column)
    return {
      ...common,
      name: addedNames.key(field.name),
      type: typeRef(column.scalar, 'scalar'),
      source: { kind: 'column', column: column.name },
    };
  if (kind !== 'relation') return undefined;
  const name = addedNames.relation(field.name);
  if (source.kind === 'one')
    return { ...common, name, type: typeRef(type.name, type.kind), source };
  if (source.kind !== 'many') return undefined;
  const { paging, order, condition } = source.list;
  const list = {
    filters: [],
    paging: { default: paging.default, max: paging.max },
    ...(condition && { condition }),
    order,
  };
  return {
    ...common,
    name,
    type: typeRef(source.entity, 'entity', true),
    source: { ...source, list },
  };
}

/** Declares the fields in the schema, where only their names lead to them: nothing lists them. */
function declareFields(engine: Engine, operations: readonly Operation[]): void {
  const { schema, model } = engine;
  const query = found(schema.getQueryType() ?? undefined, 'Query');
  for (const { name, type, action } of operations)
    if (action.kind === 'list')
      declare(engine, query, name, { type: connectionType(engine, action.entity), args: GIVEN });
    else declare(engine, query, name, { type: outputType(schema, type), args: GIVEN });
  for (const { entity, fields } of model.entities.values()) {
    const parent = schema.getType(entity.name);
    for (const { name, type } of fields.values())
      if (name.includes(' ') && isObjectType(parent))
        declare(engine, parent, name, { type: outputType(schema, type) });
  }
}

/** Arguments whose values REST has read, and which pass unchanged. */
const GIVEN: GraphQLFieldConfigArgumentMap = Object.fromEntries(
  ['id', 'where', 'orderBy', 'search', 'limit', 'offset', 'first', 'after'].map((name) => [
    name,
    { type: new GraphQLScalarType({ name: 'Given' }) },
  ]),
);

function declare(
  engine: Engine,
  parent: GraphQLObjectType,
  name: string,
  config: GraphQLFieldConfig<unknown, RequestContext>,
): void {
  const { field } = new GraphQLObjectType({ name: 'Added', fields: { field: config } }).getFields();
  if (!field) return;
  Object.assign(field, { name, parentType: parent });
  attachResolver(engine, parent, field);
  Object.defineProperty(parent.getFields(), name, { value: field, configurable: true });
}

function connectionType(engine: Engine, entity: string): GraphQLObjectType {
  const { schema } = engine;
  const page = objectOf(engine, 'rest PageInfo', {
    hasNextPage: { type: namedType(schema, 'Boolean') },
    endCursor: { type: namedType(schema, 'String') },
  });
  return objectOf(engine, connectionOf(entity), {
    totalCount: { type: namedType(schema, 'Int') },
    nodes: { type: new GraphQLList(namedType(schema, entity)) },
    pageInfo: { type: page },
  });
}

function objectOf(
  engine: Engine,
  name: string,
  fields: Readonly<Record<string, GraphQLFieldConfig<unknown, RequestContext>>>,
): GraphQLObjectType {
  const type = new GraphQLObjectType({ name: 'Added', fields });
  type.name = name;
  for (const field of Object.values(type.getFields())) attachResolver(engine, type, field);
  return type;
}

function outputType(schema: GraphQLSchema, { name, list }: TypeRef): GraphQLOutputType {
  const type = namedType(schema, name);
  return list ? new GraphQLList(type) : type;
}

/** A schema holds the scalars of the specification only where it uses them. */
function namedType(schema: GraphQLSchema, name: string): GraphQLOutputType {
  const type = schema.getType(name) ?? specifiedScalarTypes.find((each) => each.name === name);
  return found(isOutputType(type) ? type : undefined, `type ${name}`);
}
