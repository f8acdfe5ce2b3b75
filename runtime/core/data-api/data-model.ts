import type {
  Filter,
  FilterShape,
  OrderMember,
  OrderShape,
  RowKey,
  Write,
  WriteShape,
} from '@twofold/schema';
import { propertyOf, type EntityModel, type Model } from '../data/model.ts';
import { versionColumn } from '../data/write/kept-columns.ts';
import {
  columnMembers,
  COUNT,
  EXISTENCE,
  operatorsOf,
  relationsOf,
  talliesOf,
  uniqueKeys,
} from './members.ts';

/**
 * Names of the inputs of an entity. They contain spaces, so that no type of a schema can have them.
 */
export const createShape = (entity: string) => `data create:${entity}`;
export const updateShape = (entity: string) => `data update:${entity}`;
export const filterShape = (entity: string) => `data where:${entity}`;
export const orderShape = (entity: string) => `data orderBy:${entity}`;

/** Larger than any list, but both databases can bind it as an integer. */
export const UNLIMITED = 2 ** 31 - 1;

/**
 * The model with an input for everything that an entity has. The limits of the API do not hold, as
 * they are for callers, but that of time: a statement is of no use after its request has ended, and
 * in the thread of the server only the clock can end it.
 */
export function dataModel(model: Model): Model {
  const { project } = model;
  const entities = [...model.entities.values()];
  const named = <T extends { readonly id: string }>(known: ReadonlyMap<string, T>, made: T[]) =>
    new Map([...known, ...made.map((shape) => [shape.id, shape] as const)]);
  const limits = {
    ...project.api.limits,
    result: UNLIMITED,
    memory: Infinity,
    many: UNLIMITED,
  };
  return {
    ...model,
    project: { ...project, api: { ...project.api, limits } },
    writes: named(
      model.writes,
      entities.flatMap((entity) => [createOf(model, entity), updateOf(model, entity)]),
    ),
    filters: named(
      model.filters,
      entities.map((entity) => filterOf(model, entity)),
    ),
    orders: named(
      model.orders,
      entities.map((entity) => orderOf(model, entity)),
    ),
  };
}

const createOf = (model: Model, entity: EntityModel): WriteShape => ({
  id: createShape(entity.entity.name),
  entity: entity.entity.name,
  writes: writesOf(model, entity).filter(({ name }) => name !== versionColumn(entity)?.field),
});

/** An update does not write `id`: only a create may choose the key of a row. */
const updateOf = (model: Model, entity: EntityModel): WriteShape => ({
  id: updateShape(entity.entity.name),
  entity: entity.entity.name,
  writes: writesOf(model, entity).filter(({ name }) => name !== 'id'),
});

function writesOf(model: Model, entity: EntityModel): Write[] {
  const keys = new Map<string, string>();
  for (const { field, source } of relationsOf(entity, model))
    if (source.kind === 'one' && source.key === 'own') keys.set(source.column, field.name);
  const columns = columnMembers(entity).map(({ name, column }): Write => {
    const field = keys.get(column.name);
    if (field !== undefined) return { kind: 'key', name, field };
    const { constraint } = column;
    return { kind: 'column', name, column: column.name, ...(constraint && { constraint }) };
  });
  const nested = relationsOf(entity, model)
    .filter(isWritten)
    .map(({ field, source }) =>
      nestedWrite(field.name, model.entity(source.entity), source.kind === 'many'),
    );
  return [...columns, ...nested];
}

/** The list of an organization's members is not: its routes know the ranks and the last owner. */
const isWritten = ({ source }: ReturnType<typeof relationsOf>[number]) =>
  !(source.kind === 'many' && source.via.kind === 'table' && source.via.managed);

/** Everything that an input of the API may declare for a relation. */
function nestedWrite(field: string, to: EntityModel, many: boolean): Write {
  const { name } = to.entity;
  const create = { name: 'create', shape: createShape(name) };
  const [by, byWhere] = [keysAt(to, ''), keysAt(to, 'where.')];
  const rows = { where: 'where', data: 'data', by: byWhere };
  return {
    kind: 'nested',
    name: field,
    field,
    create,
    connect: 'connect',
    connectBy: by,
    connectOrCreate: { name: 'connectOrCreate', by: byWhere, create },
    disconnect: 'disconnect',
    update: { name: 'update', shape: updateShape(name), ...(many && rows) },
    delete: 'delete',
    ...(many && { set: 'set', setBy: by, disconnectBy: by, deleteBy: by }),
  };
}

/** The unique keys of an entity by their paths in an argument. */
const keysAt = (entity: EntityModel, prefix: string): RowKey =>
  uniqueKeys(entity).map((columns) =>
    Object.fromEntries(
      columns.map((column) => [`${prefix}${propertyOf(entity, entity.column(column))}`, column]),
    ),
  );

function filterOf(model: Model, entity: EntityModel): FilterShape {
  const objects = new Set(model.project.objects.map(({ name }) => name));
  const columns = columnMembers(entity).map(({ name, column }): Filter => ({
    kind: 'operators',
    name,
    column: column.name,
    operators: operatorsOf(column, objects.has(column.scalar)),
  }));
  const related = relationsOf(entity, model).map(({ field: { name }, source }): Filter => {
    const of = { name, field: name, shape: filterShape(source.entity) };
    return source.kind === 'one'
      ? { kind: 'one', ...of }
      : { kind: 'many', ...of, quantifiers: ['some', 'every', 'none'], count: COUNT };
  });
  const tallies = talliesOf(entity).map(({ name, of }): Filter => ({
    kind: 'tally',
    name,
    field: name,
    operators: of === 'count' ? COUNT : EXISTENCE,
  }));
  return {
    id: filterShape(entity.entity.name),
    entity: entity.entity.name,
    filters: [
      ...columns,
      ...related,
      ...tallies,
      { kind: 'and', name: 'and' },
      { kind: 'or', name: 'or' },
      { kind: 'not', name: 'not' },
    ],
  };
}

function orderOf(model: Model, entity: EntityModel): OrderShape {
  const columns = columnMembers(entity).map(({ name, column }) => ({ name, column: column.name }));
  const related = relationsOf(entity, model).map(({ field: { name }, source }): OrderMember =>
    source.kind === 'one'
      ? { name, one: name, shape: orderShape(source.entity) }
      : { name, many: name },
  );
  const tallies = talliesOf(entity).map(({ name }) => ({ name, tally: name }));
  return {
    id: orderShape(entity.entity.name),
    entity: entity.entity.name,
    form: { kind: 'fields', fields: [...columns, ...related, ...tallies] },
  };
}
