import type { ColumnType, KeyKind, OnDelete } from '../model.ts';
import { scalarType, type EntityFact, type Facts, type FieldFact } from './facts.ts';

/** One column of a key. */
export interface KeyPart {
  /** Its name in the model. */
  readonly column: string;
  readonly type: ColumnType;
  readonly scalar: string;
  readonly key?: KeyKind;
  readonly databaseType?: string;
}

/** The foreign keys that relations have, by entity. */
type Keys = ReadonlyMap<string, readonly ForeignKey[]>;

/**
 * The columns of an entity's key: `id` alone, those of the fields in `@table(key:)`, or none. For a
 * field that is a relation, these are the columns of its foreign key.
 *
 * @example keyParts(region, facts, keys).map(({ column }) => column) // ['country', 'code']
 */
export function keyParts(
  entity: EntityFact,
  facts: Facts,
  keys: Keys,
  seen: ReadonlySet<string> = new Set(),
): readonly KeyPart[] {
  if (!entity.key) return [idPart(entity)];
  if (seen.has(entity.name)) return [];
  const known = new Set([...seen, entity.name]);
  return entity.key.flatMap((name) => {
    const field = entity.fields.get(name);
    const key = keys.get(entity.name)?.find((each) => each.field === field);
    if (key) return foreignParts(key, facts, keys, known);
    return field ? [partOf(field, facts)] : [];
  });
}

/**
 * The columns of a foreign key with the types of those that it refers to.
 *
 * @example foreignParts(key, facts, keys) // [{ column: 'country', type: 'text', … }, …]
 */
export function foreignParts(
  key: ForeignKey,
  facts: Facts,
  keys: Keys,
  seen?: ReadonlySet<string>,
): readonly KeyPart[] {
  const target = facts.entities.get(key.target);
  const named = key.references?.flatMap((name) => target?.fields.get(name) ?? []);
  const theirs = named
    ? named.map((field) => partOf(field, facts))
    : target
      ? keyParts(target, facts, keys, seen)
      : [{ column: 'id', type: 'id' as const, scalar: 'ID' }];
  const names = key.columns ?? [key.column];
  if (theirs.length <= 1)
    return theirs.map((part) => ({ ...part, column: names[0] ?? key.column }));
  return theirs.map((part, index) => ({
    ...part,
    column: key.columns?.[index] ?? `${key.column.replace(/_id$/, '')}_${part.column}`,
  }));
}

function idPart(entity: EntityFact): KeyPart {
  const field = entity.fields.get('id');
  const type = field?.directives.column?.type;
  return {
    column: 'id',
    type: 'id',
    scalar: field?.named.name ?? 'ID',
    ...(type !== undefined && { key: kindOfType(type), databaseType: type }),
  };
}

function partOf(field: FieldFact, facts: Facts): KeyPart {
  const type = scalarType(field.named, facts);
  const written = field.directives.column?.type;
  const key = kindOf(type, facts);
  return {
    column: field.snakeName,
    type,
    scalar: field.named.name,
    ...(key && { key }),
    ...(written !== undefined && { databaseType: written }),
  };
}

const KINDS: Partial<Record<ColumnType, KeyKind>> = {
  integer: 'integer',
  bigint: 'integer',
  uuid: 'uuid',
  text: 'text',
};

const kindOf = (type: ColumnType, { manifest }: Facts): KeyKind | undefined =>
  type === 'id' ? manifest.values.database.ids : KINDS[type];

/** @example kindOfType('bigint') // 'integer' */
function kindOfType(type: string): KeyKind {
  if (/^(?:small|big)?(?:int(?:eger)?|serial)\d?$|^numeric/i.test(type.trim())) return 'integer';
  return /^uuid$/i.test(type.trim()) ? 'uuid' : 'text';
}

/** A column that holds the key of another entity's row. */
export interface ForeignKey {
  readonly owner: string;
  readonly column: string;
  /** The columns of the key, when it is composite or `@relation(columns:)` names them. */
  readonly columns?: readonly string[];
  /** Fields of the other entity, when they are not its key. */
  readonly references?: readonly string[];
  /** Names in the database that differ from those in the model, by the latter. */
  readonly stored?: ReadonlyMap<string, string>;
  /** The column with the type's name, if the row may be of several types. */
  readonly typeColumn?: string;
  /** The entity that the key references; for several types, the name of the interface or union. */
  readonly target: string;
  readonly required: boolean;
  readonly unique: boolean;
  readonly onDelete: OnDelete;
  /** The relation or `ID` field that the key was made for; undefined for hidden keys. */
  readonly field?: FieldFact;
}
