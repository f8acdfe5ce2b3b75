import { tallyUse } from '../build/tallies.ts';
import { storedAs } from '../build/columns.ts';
import { isListEnd } from '../build/shapes.ts';
import type { Built } from '../build/built.ts';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import { identityFields } from '../build/identity.ts';
import type { Link } from '../build/links.ts';
import { userEntity } from '../build/user.ts';
import type { ColumnType } from '../model.ts';
import { isLeftOut } from './operations.ts';

/** A field that is stored in one column. */
export interface StoredField {
  readonly field: FieldFact;
  readonly type: ColumnType;
}

/**
 * The fields that are columns, without those that only the auth endpoints write, because no input
 * has them.
 */
export function storedFields(built: Built, entity: EntityFact): StoredField[] {
  const kept = keptBySignIn(built, entity);
  return [...entity.fields.values()].flatMap((field) => {
    const isOpen = isKnown(built, field) && !kept.has(field);
    const type = isOpen ? storedAs(field, built.facts) : undefined;
    return type ? [{ field, type }] : [];
  });
}

/**
 * The fields with one value that rows can be sorted by.
 *
 * @example valueFields(built, post).map(({ field }) => field.name) // ['id', 'title', 'createdAt']
 */
export const valueFields = (built: Built, entity: EntityFact): StoredField[] =>
  storedFields(built, entity).filter(({ type }) => type !== 'json' && type !== 'bytes');

/** Fields with `@count` or `@exists`. */
export const countedFields = ({ fields }: EntityFact): FieldFact[] =>
  [...fields.values()].filter((field) => tallyUse(field) !== undefined);

/** Fields that only the auth endpoints write. */
export function keptBySignIn({ facts }: Built, entity: EntityFact): ReadonlySet<FieldFact> {
  return new Set(userEntity(facts) === entity ? identityFields(entity).keys() : []);
}

/** A field that refers to rows of one other type. */
export interface RelationField {
  readonly field: FieldFact;
  readonly link: Link;
  readonly target: EntityFact;
  readonly many: boolean;
}

/**
 * The relations that filters, orders and connections may follow. Further lists of a relation, as
 * `@list(where:)` makes them, lead to the same rows.
 */
export function relationFields(built: Built, entity: EntityFact): RelationField[] {
  const { links, facts } = built;
  return [...entity.fields.values()].flatMap((field) => {
    const link = links.byField.get(field);
    const target = link && facts.entities.get(link.entity);
    if (!link || !target || isLeftOut(target) || links.views.of.has(field)) return [];
    return [{ field, link, target, many: isListEnd(built, field) }];
  });
}

/**
 * Whether the type of a field is defined. A type that is still to be added was read as a scalar.
 */
export const isKnown = ({ facts }: Built, { named }: FieldFact): boolean =>
  !facts.parsed.unknown.has(named.name);
