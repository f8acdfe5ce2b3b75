import type { Column, Entity, Field } from '../model.ts';

/** One member of an entity's object in REST. */
export interface RestMember {
  readonly name: string;
  readonly field: Field;
  readonly kind:
    /** The value of a column, the number of related rows, or a result of a search. */
    | 'value'
    /** The key of a to-one relation: `authorId`. */
    | 'key'
    /** The result of the user's own function. */
    | 'computed'
    /** Other objects, embedded when `include` names them. */
    | 'relation';
  readonly column?: Column;
}

/**
 * The members of an entity's object, by name and in the schema's order. A to-one relation has its
 * key beside it, unless a field has that name.
 *
 * @example [...restMembers(post).keys()] // ['id', 'title', 'authorId', 'author', 'comments']
 */
export function restMembers(entity: Entity): ReadonlyMap<string, RestMember> {
  const members = new Map<string, RestMember>();
  const columns = new Map(entity.columns.map((column) => [column.name, column]));
  for (const field of entity.fields) {
    const { name, source } = field;
    if (source.kind === 'column')
      members.set(name, {
        name,
        field,
        kind: 'value',
        ...one('column', columns.get(source.column)),
      });
    else if (source.kind === 'tally' || source.kind === 'search')
      members.set(name, { name, field, kind: 'value' });
    else if (source.kind === 'custom') addCustom(members, field);
    else if (source.kind === 'aggregated') continue;
    else {
      const key = keyOf(entity, field);
      if (key)
        members.set(key.name, {
          name: key.name,
          field,
          kind: 'key',
          ...one('column', columns.get(key.column)),
        });
      members.set(name, { name, field, kind: 'relation' });
    }
  }
  return members;
}

const one = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });

/** REST cannot pass arguments, so a function with required ones is left out. */
function addCustom(members: Map<string, RestMember>, field: Field): void {
  if (field.args.some(({ type }) => type.required)) return;
  const { kind } = field.type;
  members.set(field.name, {
    name: field.name,
    field,
    kind: kind === 'scalar' || kind === 'enum' || kind === 'object' ? 'computed' : 'relation',
  });
}

function keyOf(
  { fields }: Entity,
  { name, source }: Field,
): { readonly name: string; readonly column: string } | undefined {
  if (source.kind !== 'one' || source.key !== 'own' || source.typeColumn !== undefined)
    return undefined;
  return fields.some((field) => field.name === `${name}Id`)
    ? undefined
    : { name: `${name}Id`, column: source.column };
}

/** Whether both databases order and compare the column in the same way. */
export function isComparable({ kind, column }: RestMember): boolean {
  return (
    (kind === 'value' || kind === 'key') &&
    column !== undefined &&
    !column.list &&
    column.type !== 'json' &&
    column.type !== 'bytes'
  );
}
