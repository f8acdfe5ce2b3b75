import { isEnumType } from 'graphql';
import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import type { ColumnType } from '../model.ts';
import { block } from './item.ts';
import type { CrudItem } from './item.ts';
import { isLeftOut } from './operations.ts';
import { relationFields, valueFields } from './stored-fields.ts';
import type { ValueField } from './stored-fields.ts';

/** Words that are not the names of fields in a filter. */
const LOGIC = ['and', 'or', 'not'];

/**
 * `PostFilter`, if the type has anything to compare.
 *
 * @example filterItem(built, post)?.text // 'input PostFilter {\n  title: StringFilter …'
 */
export function filterItem(built: Built, entity: EntityFact): CrudItem | undefined {
  if (!isFiltered(built, entity)) return undefined;
  const name = `${entity.name}Filter`;
  const lines = [...entity.fields.keys()].flatMap((field) => comparisonOf(built, entity, field));
  const logic = [`and: [${name}!]`, `or: [${name}!]`, `not: ${name}`];
  return { name, keyword: 'input', of: entity, text: block('input', name, [...lines, ...logic]) };
}

/** A filter that would only hold `and`, `or` and `not` is of no use. */
export const isFiltered = (built: Built, entity: EntityFact): boolean =>
  valueFields(built, entity).some(({ field }) => !LOGIC.includes(field.name));

function comparisonOf(built: Built, entity: EntityFact, name: string): string[] {
  if (LOGIC.includes(name)) return [];
  const value = valueFields(built, entity).find(({ field }) => field.name === name);
  if (value) return [`${name}: ${scalarFilterName(value)}`];
  const relation = relationFields(built, entity).find(({ field }) => field.name === name);
  if (!relation) return keyOf(built, entity, name);
  const { target, many } = relation;
  return isFiltered(built, target) ? [`${name}: ${target.name}${many ? 'List' : ''}Filter`] : [];
}

/** A type that is left out is compared by its key alone. */
function keyOf({ facts, links }: Built, entity: EntityFact, name: string): string[] {
  const field = entity.fields.get(name);
  const link = field && links.byField.get(field);
  const target = link && facts.entities.get(link.entity);
  const isKey = link?.kind === 'own' && !link.key.typeColumn && target && isLeftOut(target);
  return isKey && !entity.fields.has(`${name}Id`) ? [`${name}Id: IDFilter`] : [];
}

/** `PostListFilter`, for lists of posts in the filters of other types. */
export function listFilterItem(built: Built, entity: EntityFact): CrudItem | undefined {
  if (!isFiltered(built, entity)) return undefined;
  const name = `${entity.name}ListFilter`;
  const lines = ['some', 'every', 'none'].map((word) => `${word}: ${entity.name}Filter`);
  return { name, keyword: 'input', of: entity, text: block('input', name, lines) };
}

const scalarFilterName = ({ field }: ValueField): string => `${field.named.name}Filter`;

const ORDERED: ReadonlySet<ColumnType> = new Set([
  'text',
  'integer',
  'bigint',
  'real',
  'decimal',
  'timestamp',
  'date',
  'time',
]);

/** `StringFilter`, `StatusFilter`: the words for values of one scalar or enum. */
export function scalarFilterItem({ field, type }: ValueField): CrudItem {
  const name = `${field.named.name}Filter`;
  const scalar = field.named.name;
  const isText = type === 'text' && !isEnumType(field.named) && scalar !== 'ID';
  const one = (words: string[]) => words.map((word) => `${word}: ${scalar}`);
  const lines = [
    ...one(['eq', 'ne']),
    ...['in', 'notIn'].map((word) => `${word}: [${scalar}!]`),
    ...(ORDERED.has(type) && !isEnumType(field.named) && scalar !== 'ID'
      ? one(['lt', 'lte', 'gt', 'gte'])
      : []),
    ...(isText ? ['contains', 'startsWith', 'endsWith'].map((word) => `${word}: String`) : []),
    'isNull: Boolean',
  ];
  return { name, keyword: 'input', text: block('input', name, lines) };
}
