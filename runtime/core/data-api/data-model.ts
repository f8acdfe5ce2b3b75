import type { Filter, FilterShape, OrderShape, Write, WriteShape } from '@twofold/schema';
import type { EntityModel, Model } from '../data/model.ts';
import { columnMembers, COUNT, operatorsOf, relationsOf } from './members.ts';

/** The names of the inputs of an entity, which no type of a schema can have. */
export const createShape = (entity: string) => `data create:${entity}`;
export const updateShape = (entity: string) => `data update:${entity}`;
export const filterShape = (entity: string) => `data where:${entity}`;
export const orderShape = (entity: string) => `data orderBy:${entity}`;

/** Numbers of this size are no limit for a database, and each can be bound as an integer. */
export const UNLIMITED = 2 ** 31 - 1;

/**
 * The model with an input for everything that an entity has. The limits of the API do not hold:
 * they are for callers.
 */
export function dataModel(model: Model): Model {
  const { project } = model;
  const entities = [...model.entities.values()];
  const named = <T extends { readonly id: string }>(known: ReadonlyMap<string, T>, made: T[]) =>
    new Map([...known, ...made.map((shape) => [shape.id, shape] as const)]);
  const limits = {
    ...project.api.limits,
    time: UNLIMITED,
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
    orders: named(model.orders, entities.map(orderOf)),
  };
}

const createOf = (model: Model, entity: EntityModel): WriteShape => ({
  id: createShape(entity.entity.name),
  entity: entity.entity.name,
  writes: writesOf(model, entity),
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
  const nested = relationsOf(entity, model).map(({ field, source }): Write => ({
    kind: 'nested',
    name: field.name,
    field: field.name,
    connect: 'connect',
    ...(source.kind === 'many' && { disconnect: 'disconnect' }),
    create: { name: 'create', shape: createShape(source.entity) },
  }));
  return [...columns, ...nested];
}

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
  return {
    id: filterShape(entity.entity.name),
    entity: entity.entity.name,
    filters: [
      ...columns,
      ...related,
      { kind: 'and', name: 'and' },
      { kind: 'or', name: 'or' },
      { kind: 'not', name: 'not' },
    ],
  };
}

const orderOf = (entity: EntityModel): OrderShape => ({
  id: orderShape(entity.entity.name),
  entity: entity.entity.name,
  form: {
    kind: 'fields',
    fields: columnMembers(entity).map(({ name, column }) => ({ name, column: column.name })),
  },
});
