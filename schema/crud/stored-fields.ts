import { storedAs } from '../build/columns.ts';
import type { Built } from '../build/built.ts';
import type { EntityFact, FieldFact } from '../build/facts.ts';
import { identityFields } from '../build/identity.ts';
import type { Link } from '../build/links.ts';
import { userEntity } from '../build/user.ts';
import type { ColumnType } from '../model.ts';
import { isLeftOut } from './operations.ts';

/** A field that is one column with one value. */
export interface ValueField {
  readonly field: FieldFact;
  readonly type: ColumnType;
}

/**
 * The fields that rows can be compared and sorted by. Those that only the auth endpoints write are
 * in no input.
 *
 * @example valueFields(built, post).map(({ field }) => field.name) // ['id', 'title', 'createdAt']
 */
export function valueFields(built: Built, entity: EntityFact): ValueField[] {
  const kept = keptBySignIn(built, entity);
  return [...entity.fields.values()].flatMap((field) => {
    const isOpen = isKnown(built, field) && !kept.has(field);
    const type = isOpen ? storedAs(field, built.facts) : undefined;
    return type && type !== 'json' && type !== 'bytes' ? [{ field, type }] : [];
  });
}

/** Fields that only the auth endpoints write. */
export function keptBySignIn({ facts }: Built, entity: EntityFact): ReadonlySet<FieldFact> {
  return new Set(userEntity(facts) === entity ? identityFields(entity).keys() : []);
}

/** A field that leads to rows of one other type. */
export interface RelationField {
  readonly field: FieldFact;
  readonly link: Link;
  readonly target: EntityFact;
  readonly many: boolean;
}

/** The relations that filters, orders and connections may follow. */
export function relationFields(built: Built, entity: EntityFact): RelationField[] {
  return [...entity.fields.values()].flatMap((field) => {
    const link = built.links.byField.get(field);
    const target = link && built.facts.entities.get(link.entity);
    if (!link || !target || isLeftOut(target)) return [];
    return [{ field, link, target, many: isList(built, field) }];
  });
}

const isList = ({ facts }: Built, { type, named }: FieldFact): boolean =>
  type.list || facts.types.get(named.name)?.role === 'connection';

/**
 * A type that the schema does not define, because it is one that is written, was read as a scalar.
 */
export const isKnown = ({ facts }: Built, { named }: FieldFact): boolean =>
  !facts.parsed.unknown.has(named.name);
