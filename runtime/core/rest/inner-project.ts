import type {
  Entity,
  FilterShape,
  ListOptions,
  Operation,
  OrderShape,
  Project,
  RestMember,
  RestModule,
  TypeRef,
} from '@twofold/schema';
import { restFilters, restMembers, restModules, restSorts } from '@twofold/schema';
import { createInnerSdl, type InnerField } from './inner-sdl.ts';

/** The names that REST adds to the schema. No name of the user's has their prefix. */
export interface Names {
  list(entity: Entity): string;
  /** The root field that reads every row, page after page by cursors. */
  every(entity: Entity): string;
  /** The root field that reads a row by key, with the rules of the user's own root field. */
  get(entity: Entity): string;
  /**
   * The root field that reads a row by key with the rules of the entity alone, to answer a write.
   */
  row(entity: Entity): string;
  relation(field: string): string;
  /**
   * The name of a connection that the user's own resolver answers, until its rows are taken out.
   */
  connection(field: string): string;
  key(field: string): string;
  type(name: string): string;
}

/** A project derived from the user's, in which REST requests are ordinary operations. */
export interface InnerProject {
  readonly project: Project;
  readonly names: Names;
}

/**
 * Adds root fields for what REST reads, so that planning, rules, scalars and resolvers are those of
 * GraphQL. Fields with rules become nullable, and with `fallible` (the user has resolvers) all
 * fields: one that is refused or fails is left out, and the rest of the answer stays.
 *
 * @example innerProject(project).project.operations.at(-1) // { name: 'rest_list_posts', action: { kind: 'list', … } }
 */
export function innerProject(project: Project, fallible: boolean): InnerProject {
  const names = namesFor(project.sdl);
  const modules = restModules(project);
  const sdl = createInnerSdl(project, names.type, fallible);
  const filters: FilterShape[] = [];
  const orders: OrderShape[] = [];
  const operations = modules.flatMap((module) => [
    ...listOperation(module, names, { sdl, filters, orders }),
    ...getOperations(module, names, sdl),
  ]);
  const entities = project.entities.map((entity) => withRelations(entity, names, sdl));
  return {
    names,
    project: {
      ...project,
      sdl: sdl.text(),
      entities,
      filters: [...project.filters, ...filters],
      orders: [...project.orders, ...orders],
      operations: [...project.operations, ...operations],
    },
  };
}

function namesFor(sdl: string): Names {
  let prefix = 'rest_';
  while (sdl.includes(prefix)) prefix += '_';
  return {
    list: ({ plural }) => `${prefix}list_${plural}`,
    every: ({ plural }) => `${prefix}every_${plural}`,
    get: ({ name }) => `${prefix}get_${name}`,
    row: ({ name }) => `${prefix}row_${name}`,
    relation: (field) => `${prefix}${field}`,
    connection: (field) => `${prefix}rows_${field}`,
    key: (field) => `${prefix}key_${field}`,
    type: (name) => `${prefix}${name}`,
  };
}

interface Shapes {
  readonly sdl: ReturnType<typeof createInnerSdl>;
  readonly filters: FilterShape[];
  readonly orders: OrderShape[];
}

function listOperation(
  module: RestModule,
  names: Names,
  { sdl, filters, orders }: Shapes,
): Operation[] {
  const { entity, list } = module;
  if (list?.action.kind !== 'list') return [];
  const where = whereShape(module, names, sdl);
  const order = orderShape(module, names, sdl);
  filters.push(...where);
  orders.push(order);
  const listed = {
    filters: [],
    where: { arg: 'where', shape: where[0]?.id ?? '' },
    orderBy: { arg: 'orderBy', shape: order.id },
    ...(entity.search && { search: 'search' }),
    order: list.action.list.order,
    ...(list.action.list.condition && { condition: list.action.list.condition }),
  };
  const { default: size, max } = list.action.list.paging;
  const args = `where: ${listed.where.shape}, orderBy: ${order.id}${entity.search ? ', search: String' : ''}`;
  const type = sdl.addConnection(entity.name);
  const root = (name: string, paging: string, options: ListOptions): Operation => {
    sdl.addQuery(`${name}(${args}, ${paging}): ${type}`);
    return {
      ...ROOT,
      name,
      type: typeRef(type, 'object'),
      action: { kind: 'list', entity: entity.name, list: options },
      rules: list.rules,
    };
  };
  const connection = { type, edge: '', nodes: 'nodes', totalCount: 'totalCount' };
  return [
    root(names.list(entity), 'limit: Int, offset: Int', {
      ...listed,
      connection,
      paging: { limit: 'limit', offset: 'offset', default: size, max },
    }),
    root(names.every(entity), 'first: Int, after: String', {
      ...listed,
      connection,
      paging: { first: 'first', after: 'after', default: EVERY, max: EVERY },
    }),
  ];
}

/** The most rows that a stream of all rows reads at once. */
const EVERY = 1000;

const ROOT = { root: 'query', args: [], decidedBy: 'rest' } as const;

const typeRef = (name: string, kind: TypeRef['kind'], list = false): TypeRef => ({
  name,
  kind,
  text: list ? `[${name}]` : name,
  required: false,
  list,
  itemRequired: false,
});

/** A filter for each member, and for each to-one relation by the key of a visible row. */
function whereShape(module: RestModule, names: Names, sdl: Shapes['sdl']): FilterShape[] {
  const { entity } = module;
  const byMember = new Map<RestMember, FilterShape['filters'][number]>();
  const nested: FilterShape[] = [];
  const all = [...restFilters(module).values()];
  for (const member of new Set(all.map((filter) => filter.member))) {
    const operators = [
      ...new Set(all.filter((filter) => filter.member === member).map(({ operator }) => operator)),
    ];
    byMember.set(member, {
      kind: 'operators',
      name: member.name,
      column: member.column?.name ?? '',
      operators,
    });
    if (member.kind !== 'key' || member.field.source.kind !== 'one') continue;
    const key: FilterShape = {
      id: names.type(`${member.field.source.entity}Key`),
      entity: member.field.source.entity,
      filters: [
        { kind: 'operators', name: 'id', column: 'id', operators: ['eq', 'ne', 'in', 'notIn'] },
      ],
    };
    nested.push(key);
    byMember.set(
      { ...member, name: names.relation(member.field.name) },
      {
        kind: 'one',
        name: names.relation(member.field.name),
        field: member.field.name,
        shape: key.id,
      },
    );
  }
  const id = names.type(`${entity.name}Where`);
  const filters = [...byMember.values()];
  sdl.addFilter(id, [...byMember], nested);
  return [{ id, entity: entity.name, filters }, ...nested];
}

function orderShape(module: RestModule, names: Names, sdl: Shapes['sdl']): OrderShape {
  const id = names.type(`${module.entity.name}Order`);
  const members = restMembers(module.entity);
  const fields = restSorts(module).map((name) => ({
    name,
    column: members.get(name)?.column?.name ?? '',
  }));
  sdl.addOrder(
    id,
    fields.map(({ name }) => name),
  );
  return { id, entity: module.entity.name, form: { kind: 'fields', fields } };
}

function getOperations({ entity, get }: RestModule, names: Names, sdl: Shapes['sdl']): Operation[] {
  const action = {
    kind: 'get',
    entity: entity.name,
    by: [{ arg: 'id', column: 'id' }],
    unique: true,
  } as const;
  const one = (name: string, rules: Operation['rules']): Operation => {
    sdl.addQuery(`${name}(id: ID!): ${entity.name}`);
    return { ...ROOT, name, type: typeRef(entity.name, 'entity'), action, rules };
  };
  return [
    ...(get ? [one(names.get(entity), get.rules)] : []),
    one(names.row(entity), [{ allow: ['PUBLIC'], roles: [], on: [] }]),
  ];
}

/** Relations without arguments and connections, and the keys of to-one relations. */
function withRelations(entity: Entity, names: Names, sdl: Shapes['sdl']): Entity {
  const added = [...restMembers(entity).values()].flatMap(
    (member) => innerField(member, names) ?? [],
  );
  sdl.addFields(
    entity.name,
    added.map(({ sdl: line }) => line),
  );
  return { ...entity, fields: [...entity.fields, ...added.map(({ field }) => field)] };
}

function innerField({ kind, field, column }: RestMember, names: Names): InnerField | undefined {
  const { source, type, rules } = field;
  const common = { args: [], rules, decidedBy: 'rest' } as const;
  if (kind === 'key' && column) {
    const name = names.key(field.name);
    return {
      sdl: `${name}: ${column.scalar}`,
      field: {
        ...common,
        name,
        type: typeRef(column.scalar, 'scalar'),
        source: { kind: 'column', column: column.name },
      },
    };
  }
  if (kind !== 'relation' || (source.kind !== 'one' && source.kind !== 'many')) return undefined;
  const name = names.relation(field.name);
  if (source.kind === 'one')
    return {
      sdl: `${name}: ${type.name}`,
      field: { ...common, name, type: typeRef(type.name, type.kind), source },
    };
  return {
    sdl: `${name}: [${source.entity}]`,
    field: {
      ...common,
      name,
      type: typeRef(source.entity, 'entity', true),
      source: { ...source, list: plainList(source.list) },
    },
  };
}

const plainList = ({ paging, order, condition }: ListOptions): ListOptions => ({
  filters: [],
  paging: { default: paging.default, max: paging.max },
  ...(condition && { condition }),
  order,
});
