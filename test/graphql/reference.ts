import {
  buildSchema,
  execute,
  type GraphQLSchema,
  isObjectType,
  parse,
  type ExecutionResult,
} from 'graphql';
import type { Entity, Field, ListOptions, Project } from '@twofold/schema';
import type { Data, Row } from './random-data.ts';

type Args = Record<string, any>;
type Value = unknown;

/** What every answer has to be, and what its fields come to one by one. */
export interface Reference {
  execute(query: string, variables: Args): Promise<ExecutionResult>;
  /** What a root field comes to: rows by the names of their columns. */
  root(name: string, args: Args): Value;
  field(entity: string, name: string, id: number, args: Args): Value;
}

/** graphql-js with plain resolvers over rows in memory. */
export function createReference(
  project: Project,
  data: Data,
  custom: (entity: string) => (row: Row) => unknown,
): Reference {
  const schema = buildSchema(project.sdl);
  const world: World = { project, data, schema };
  for (const entity of project.entities) {
    const type = schema.getType(entity.name);
    if (!isObjectType(type)) continue;
    for (const field of entity.fields) {
      const declared = type.getFields()[field.name];
      if (declared)
        declared.resolve =
          field.source.kind === 'custom'
            ? custom(entity.name)
            : (row: Row, args: Args) => fieldValue(world, entity, field, row, args);
    }
  }
  const query = schema.getQueryType()?.getFields() ?? {};
  const root = (name: string, args: Args) => rootValue(world, name, args);
  for (const { name } of project.operations)
    if (query[name]) query[name].resolve = (_: unknown, args: Args) => root(name, args);
  return {
    execute: async (text, variables) =>
      execute({ schema, document: parse(text), variableValues: variables }),
    root,
    field: (entityName, name, id, args) => {
      const entity = entityOf(world, entityName);
      const row = rowsOf(world, entityName).find((each) => each['id'] === id) as Row;
      return fieldValue(
        world,
        entity,
        entity.fields.find((field) => field.name === name) as Field,
        row,
        args,
      );
    },
  };
}

function rootValue(world: World, name: string, args: Args): Value {
  const action = world.project.operations.find((operation) => operation.name === name)?.action;
  if (action?.kind === 'get')
    return (
      rowsOf(world, action.entity).find((row) =>
        action.by.every(({ arg, column }) => String(row[column]) === String(args[arg])),
      ) ?? null
    );
  if (action?.kind === 'listAbstract') return abstractList(world, action.type, action.list, args);
  return action?.kind === 'list'
    ? listValue(world, action.entity, action.list, rowsOf(world, action.entity), args)
    : null;
}

/** Rows of several types by their keys, and where these are equal, by the names of their types. */
function abstractList(world: World, type: string, { paging }: ListOptions, args: Args): Value {
  const rows = membersOf(world, type).flatMap((member) => rowsOf(world, member));
  const sorted = rows.sort(
    (a, b) => a['id'] - b['id'] || (a['__typename'] < b['__typename'] ? -1 : 1),
  );
  return sorted
    .slice(args[paging.offset ?? ''] ?? 0)
    .slice(0, args[paging.limit ?? ''] ?? paging.default);
}

const membersOf = ({ project }: World, type: string): readonly string[] =>
  project.abstracts.find(({ name }) => name === type)?.members ?? [];

interface World {
  readonly project: Project;
  readonly data: Data;
  readonly schema: GraphQLSchema;
}

const rowsOf = ({ data }: World, entity: string): readonly Row[] => data.rows.get(entity) ?? [];
const entityOf = ({ project }: World, name: string) =>
  project.entities.find((entity) => entity.name === name) as Entity;

function fieldValue(world: World, _entity: Entity, { source }: Field, row: Row, args: Args): Value {
  if (source.kind === 'column') return row[source.column];
  if (source.kind === 'one' && source.typeColumn !== undefined)
    return (
      rowsOf(world, row[source.typeColumn]).find(({ id }) => id === row[source.column]) ?? null
    );
  if (source.kind === 'one')
    return (
      rowsOf(world, source.entity).find((other) =>
        source.key === 'own'
          ? other['id'] === row[source.column]
          : other[source.column] === row['id'],
      ) ?? null
    );
  return source.kind === 'many'
    ? listValue(world, source.entity, source.list, related(world, source, row), args)
    : null;
}

function related(
  world: World,
  source: Extract<Field['source'], { kind: 'many' }>,
  row: Row,
): Row[] {
  const { via } = source;
  if (via.kind === 'column')
    return rowsOf(world, source.entity).filter(
      (other) =>
        other[via.column] === row['id'] &&
        (via.typeColumn === undefined || other[via.typeColumn] === row['__typename']),
    );
  const keys = (world.data.joins.get(via.table) ?? [])
    .filter((pair) => pair[String(via.own)] === row['id'])
    .map((pair) => pair[String(via.other)]);
  return rowsOf(world, source.entity).filter((other) => keys.includes(other['id']));
}

function listValue(
  world: World,
  entityName: string,
  list: ListOptions,
  all: readonly Row[],
  args: Args,
): Value {
  const entity = entityOf(world, entityName);
  const where = list.where && args[list.where.arg];
  const kept = all
    .filter((row) =>
      list.filters.every(({ arg, column }) => args[arg] === undefined || row[column] === args[arg]),
    )
    .filter((row) => !where || matches(world, entity, row, where));
  const order = Object.entries((list.orderBy && args[list.orderBy.arg]) ?? {}).map(
    ([field, direction]) => ({ column: columnOf(entity, field), descending: direction === 'DESC' }),
  );
  const sorted = [...kept].sort((a, b) => compareRows(entity, order, a, b));
  const { paging } = list;
  const size = Math.min(
    args[paging.first ?? ''] ??
      args[paging.last ?? ''] ??
      args[paging.limit ?? ''] ??
      paging.default,
    paging.max,
  );
  if (!list.connection) return sorted.slice(args[paging.offset ?? ''] ?? 0).slice(0, size);
  return connection(sorted, size, {
    after: args[paging.after ?? ''],
    before: args[paging.before ?? ''],
    last: args[paging.last ?? ''] !== undefined,
  });
}

/** Cursors here are keys; the test maps them to the server's. */
function connection(
  sorted: readonly Row[],
  size: number,
  { after, before, last }: { after?: string; before?: string; last: boolean },
): Value {
  const start = after === undefined ? 0 : sorted.findIndex(({ id }) => String(id) === after) + 1;
  const end =
    before === undefined ? sorted.length : sorted.findIndex(({ id }) => String(id) === before);
  const range = sorted.slice(start, Math.max(end, start));
  const page = last ? range.slice(Math.max(range.length - size, 0)) : range.slice(0, size);
  const more = range.length > size;
  return {
    edges: page.map((node) => ({ node, cursor: String(node['id']) })),
    nodes: page,
    totalCount: sorted.length,
    pageInfo: {
      hasNextPage: last ? before !== undefined : more,
      hasPreviousPage: last ? more : after !== undefined,
      startCursor: page[0] ? String(page[0]['id']) : null,
      endCursor: page.length > 0 ? String(page[page.length - 1]?.['id']) : null,
    },
  };
}

const columnOf = (entity: Entity, field: string) => {
  const found = entity.fields.find(({ name }) => name === field);
  return found?.source.kind === 'column' ? found.source.column : 'id';
};

function compareRows(
  entity: Entity,
  order: readonly { column: string; descending: boolean }[],
  a: Row,
  b: Row,
): number {
  for (const { column, descending } of order) {
    const result = compare(entity, column, a[column], b[column]);
    if (result !== 0) return descending ? -result : result;
  }
  return a['id'] - b['id'];
}

/** Nothing comes last. */
function compare(entity: Entity, column: string, a: any, b: any): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const type = entity.columns.find(({ name }) => name === column)?.type;
  if (type === 'bigint') return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (type === 'decimal') return Number(a) - Number(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

function matches(world: World, entity: Entity, row: Row, where: Args): boolean {
  return Object.entries(where).every(([name, value]) => {
    if (value === undefined) return true;
    if (name === 'and')
      return value === null || value.every((item: Args) => matches(world, entity, row, item));
    if (name === 'or')
      return value === null || value.some((item: Args) => matches(world, entity, row, item));
    if (name === 'not') return value === null || !matches(world, entity, row, value);
    const field = entity.fields.find((candidate) => candidate.name === name) as Field;
    const { source } = field;
    if (source.kind === 'column')
      return value === null
        ? row[source.column] === null
        : Object.entries(value as Args).every(([operator, operand]) =>
            test(entity, source.column, row[source.column], operator, operand),
          );
    if (source.kind === 'one') {
      const other = fieldValue(world, entity, field, row, {}) as Row | null;
      return value === null
        ? other === null
        : other !== null && matches(world, entityOf(world, source.entity), other, value);
    }
    if (source.kind !== 'many' || value === null) return true;
    const others = related(world, source, row);
    const match = (other: Row, filter: Args) =>
      matches(world, entityOf(world, source.entity), other, filter);
    return (
      (!value.some || others.some((other) => match(other, value.some))) &&
      (!value.every || others.every((other) => match(other, value.every))) &&
      (!value.none || !others.some((other) => match(other, value.none)))
    );
  });
}

function test(entity: Entity, column: string, value: any, operator: string, operand: any): boolean {
  if (operator === 'isNull') return (value === null) === operand;
  if (operator === 'in')
    return operand.some(
      (item: any) => value !== null && compare(entity, column, value, item) === 0,
    );
  if (operator === 'ne')
    return operand === null
      ? value !== null
      : value === null || compare(entity, column, value, operand) !== 0;
  if (operator === 'eq' && operand === null) return value === null;
  if (value === null || operand === null) return false;
  if (operator === 'contains') return value.includes(operand);
  if (operator === 'startsWith') return value.startsWith(operand);
  const order = compare(entity, column, value, operand);
  return (
    { eq: order === 0, lt: order < 0, lte: order <= 0, gt: order > 0, gte: order >= 0 }[operator] ??
    false
  );
}
