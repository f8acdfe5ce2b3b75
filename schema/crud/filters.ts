import type { Built } from '../build/built.ts';
import { fieldFacts, scalarType, type EntityFact, type FieldFact } from '../build/facts.ts';
import type { ClassifiedType } from '../build/classify.ts';
import { block, type CrudItem } from './item.ts';
import { typeName } from './names.ts';
import { isLeftOut } from './operations.ts';
import { isCompared, wordFilterName } from './word-filters.ts';
import { countedFields, isKnown, relationFields, storedFields } from './stored-fields.ts';
import type { StoredField } from './stored-fields.ts';

/**
 * `PostFilter`; undefined if the type has nothing to compare.
 *
 * @example filterItem(built, post)?.text // 'input PostFilter {\n  title: StringFilter …'
 */
export function filterItem(built: Built, entity: EntityFact): CrudItem | undefined {
  if (!isFiltered(built, entity)) return undefined;
  const name = typeName(built, entity, 'Filter');
  const related = new Map(
    relationFields(built, entity)
      .filter(({ target }) => isFiltered(built, target))
      .map(({ field, target, many }) => [
        field,
        typeName(built, target, many ? 'ListFilter' : 'Filter'),
      ]),
  );
  const stored = new Map(storedFields(built, entity).map((each) => [each.field, each]));
  const lines = [...entity.fields.values()].flatMap((field) => {
    const filter = related.get(field) ?? columnFilter(built, stored.get(field), field);
    return filter === undefined ? keyOf(built, entity, field) : [`${field.name}: ${filter}`];
  });
  const words = groups(name, new Set(entity.fields.keys()));
  return { name, keyword: 'input', of: entity, text: block('input', name, [...lines, ...words]) };
}

/** A filter that would only hold `and`, `or` and `not` is of no use. */
export const isFiltered = (built: Built, entity: EntityFact): boolean =>
  storedFields(built, entity).some((stored) => isCompared(stored)) ||
  countedFields(entity).length > 0;

/** A field of the type takes precedence over an operator of that name. */
const groups = (name: string, fields: ReadonlySet<string>): string[] =>
  Object.entries({ and: `[${name}!]`, or: `[${name}!]`, not: name }).flatMap(([word, type]) =>
    fields.has(word) ? [] : [`${word}: ${type}`],
  );

function columnFilter(
  built: Built,
  stored: StoredField | undefined,
  field: FieldFact,
): string | undefined {
  if (field.directives.count) return 'IntFilter';
  if (field.directives.exists) return 'BooleanFilter';
  if (!stored) return undefined;
  if (isObject(built, field)) return field.type.list ? undefined : `${field.named.name}Filter`;
  return isCompared(stored) ? wordFilterName(stored) : undefined;
}

const isObject = ({ facts }: Built, { named }: FieldFact): boolean =>
  facts.types.get(named.name)?.role === 'value';

/** A member of an object that is stored in a column. */
function memberOf(built: Built, field: FieldFact): StoredField | undefined {
  const { type, named, args, directives } = field;
  if (args.length > 0 || directives.computed || !isKnown(built, field)) return undefined;
  if (isObject(built, field)) return { field, type: 'json' };
  const isValue = type.kind === 'scalar' || type.kind === 'enum';
  return isValue ? { field, type: type.list ? 'json' : scalarType(named, built.facts) } : undefined;
}

/** The key of a related type. If `@crud` leaves the type out, only its key can be compared. */
function keyOf({ facts, links }: Built, entity: EntityFact, field: FieldFact): string[] {
  const link = links.byField.get(field);
  const target = link && facts.entities.get(link.entity);
  const isKey = link?.kind === 'own' && !link.key.typeColumn && target && isLeftOut(target);
  return isKey && !entity.fields.has(`${field.name}Id`) ? [`${field.name}Id: IDFilter`] : [];
}

/** `PostListFilter`, for lists of posts in the filters of other types. */
export function listFilterItem(built: Built, entity: EntityFact): CrudItem | undefined {
  if (!isFiltered(built, entity)) return undefined;
  const name = typeName(built, entity, 'ListFilter');
  const words = ['some', 'every', 'none'].map(
    (word) => `${word}: ${typeName(built, entity, 'Filter')}`,
  );
  const lines = [...words, 'count: IntFilter'];
  return { name, keyword: 'input', of: entity, text: block('input', name, lines) };
}

/**
 * The values that have filters of their own: those of entities, and of objects in their columns.
 */
export function comparedFields(built: Built): StoredField[] {
  const stored = [...built.facts.entities.values()].flatMap((each) => storedFields(built, each));
  const members = heldTypes(built).flatMap((held) => membersOf(built, held));
  return [...stored, ...members].filter((each) => isCompared(each));
}

/** The object types without `id` that columns store, with the objects inside them. */
export function heldTypes(built: Built): ClassifiedType[] {
  const { entities, types } = built.facts;
  const found = new Set<ClassifiedType>();
  const open = [...entities.values()].flatMap((entity) => storedFields(built, entity));
  for (let next = open.pop(); next; next = open.pop()) {
    const held = types.get(next.field.named.name);
    if (held?.role !== 'value' || found.has(held)) continue;
    found.add(held);
    open.push(...membersOf(built, held));
  }
  return [...types.values()].filter((each) => found.has(each));
}

const membersOf = (built: Built, { type }: ClassifiedType): StoredField[] =>
  [...fieldFacts(type, built.facts.types).values()].flatMap(
    (field) => memberOf(built, field) ?? [],
  );

/** `AddressFilter`, for an object without `id`. */
export function objectFilterItem(built: Built, { type }: ClassifiedType): CrudItem {
  const name = `${type.name}Filter`;
  const fields = [...fieldFacts(type, built.facts.types).values()];
  const lines = fields.flatMap((field) => {
    const filter = columnFilter(built, memberOf(built, field), field);
    return filter === undefined ? [] : [`${field.name}: ${filter}`];
  });
  const words = groups(name, new Set(Object.keys(type.getFields())));
  const isThere = type.getFields()['isNull'] ? [] : ['isNull: Boolean'];
  const text = block('input', name, [...lines, ...isThere, ...words]);
  return { name, keyword: 'input', of: { name: type.name, node: type.astNode?.name }, text };
}
