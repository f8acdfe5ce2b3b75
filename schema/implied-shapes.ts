import { lookUp } from './present.ts';
import type {
  Column,
  Entity,
  Filter,
  FilterShape,
  FilterWord,
  OrderMember,
  OrderShape,
  Write,
  WriteShape,
} from './model.ts';

/**
 * The meaning of an input whose members are named after the fields of its entity, as `api.crud`
 * writes them. A project does not list it: its server makes it from the entity.
 */

/** The shapes of a table of inputs: a name alone stands for what is made from that entity. */
export function shapesOf<Words extends object, Shape>(
  table: Readonly<Record<string, Words | string>> = {},
  entities: readonly Entity[],
  implied: (id: string, entity: Entity) => Shape,
  read: (id: string, words: Words) => Shape,
): Shape[] {
  const byName = new Map(entities.map((entity) => [entity.name, entity]));
  return Object.entries(table).map(([id, words]) =>
    typeof words === 'string' ? implied(id, lookUp(byName, words)) : read(id, words),
  );
}

const VALUES = new Set<Column['type']>(['text', 'integer', 'bigint', 'real', 'decimal', 'boolean']);
const TIMES = new Set<Column['type']>(['timestamp', 'date', 'time']);

const EQUAL: readonly FilterWord[] = ['eq', 'ne', 'in', 'notIn'];
const ORDERED: readonly FilterWord[] = [...EQUAL, 'lt', 'lte', 'gt', 'gte'];
const TEXT: readonly FilterWord[] = [...ORDERED, 'contains', 'startsWith', 'endsWith', 'mode'];

function wordsOf({ type, scalar, values }: Column): readonly FilterWord[] {
  if (values || scalar === 'ID' || type === 'boolean') return [...EQUAL, 'isNull'];
  return [...(type === 'text' ? TEXT : ORDERED), 'isNull'];
}

const columnOf = ({ columns }: Entity, field: string): Column | undefined =>
  columns.find(
    (column) =>
      column.field === field &&
      !column.list &&
      (column.scalar === 'ID' || VALUES.has(column.type) || TIMES.has(column.type)),
  );

/** @example impliedFilter('PostFilter', post).filters[0] // { kind: 'operators', name: 'id', column: 'id', … } */
export function impliedFilter(id: string, entity: Entity): FilterShape {
  const filters = entity.fields.flatMap(({ name, source }): Filter[] => {
    const column = columnOf(entity, name);
    if (column)
      return [{ kind: 'operators', name, column: column.name, operators: wordsOf(column) }];
    if (source.kind === 'one')
      return [{ kind: 'one', name, field: name, shape: `${source.entity}Filter` }];
    if (source.kind !== 'many' || source.list.connection) return [];
    const quantifiers = ['some', 'every', 'none'] as const;
    const [shape, count] = [`${source.entity}Filter`, [...ORDERED, 'isNull' as const]];
    return [{ kind: 'many', name, field: name, quantifiers, shape, count }];
  });
  const groups = (['and', 'or', 'not'] as const).map((kind) => ({ kind, name: kind }));
  return { id, entity: entity.name, filters: [...filters, ...groups] };
}

/** @example impliedOrder('PostOrder', post) // { id: 'PostOrder', entity: 'Post', form: { kind: 'fields', … } } */
export function impliedOrder(id: string, entity: Entity): OrderShape {
  const fields = entity.fields.flatMap(({ name, source }): OrderMember[] => {
    const column = columnOf(entity, name);
    if (column) return [{ name, column: column.name }];
    if (source.kind === 'one') return [{ name, one: name, shape: `${source.entity}Order` }];
    return source.kind === 'many' && !source.list.connection ? [{ name, many: name }] : [];
  });
  return { id, entity: entity.name, form: { kind: 'fields', fields } };
}

/** The input of a create or an update. The database makes the key and the times of a row. */
export function impliedWrite(id: string, entity: Entity): WriteShape {
  const writes = entity.fields.flatMap(({ name, source }): Write[] => {
    const column = entity.columns.find(({ field }) => field === name);
    if (column && name !== 'id' && !column.stamp)
      return [{ kind: 'column', name, column: column.name }];
    return source.kind === 'one' && source.key === 'own'
      ? [{ kind: 'key', name: `${name}Id`, field: name }]
      : [];
  });
  return { id, entity: entity.name, writes };
}
