import { inForm } from './time-form.ts';
import type { Column, ColumnType, IdKind, KeyKind, TimeForm } from '@twofold/schema';
import type { Dialect } from '../../store/store.ts';
import type { Target } from '../plan.ts';

/** The type of a stored value: enough to write, compare and show it. */
export interface Stored {
  readonly type: ColumnType;
  /** A list of such values: `in (…)`, or the keys of a batch. */
  readonly many?: boolean;
  /** The entity that the key belongs to, when that entity has global ids: `Post:7`. */
  readonly global?: string;
  /** The type of the key, when it is not that of `Project.ids`. */
  readonly key?: KeyKind;
  /** The columns of a composite key, in their order. */
  readonly parts?: readonly Stored[];
  /** Set for a column that is a part of a composite key: its position, and the number of parts. */
  readonly part?: { readonly index: number; readonly of: number };
  /** The keys of the types that a list of global ids may name. */
  readonly keys?: ReadonlyMap<string, Stored>;
  /** The stored texts of enum values that are stored under another name. */
  readonly storedValues?: Readonly<Record<string, string>>;
  /**
   * The column's type in PostgreSQL, when it is not the usual one. An array is passed as an array,
   * and not as JSON.
   */
  readonly databaseType?: string;
  /** The form of times in a SQLite table that another program made. */
  readonly timeForm?: TimeForm;
}

/** How the values of a column are kept. */
export function storedAs(column: Column, globalEntity?: string): Stored {
  const { key, storedValues, databaseType, timeForm } = column;
  return {
    type: key ? 'id' : column.type,
    ...(globalEntity && { global: globalEntity }),
    ...(key && { key }),
    ...(storedValues && { storedValues }),
    ...(databaseType !== undefined && { databaseType }),
    ...(timeForm && { timeForm }),
  };
}

const INTEGER_KEY = /^-?\d{1,18}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Converts an argument's value to what the driver takes. A text that cannot be a key becomes null,
 * which equals no row.
 *
 * @example toStored('7', { type: 'id' }, 'integer', 'sqlite') // 7
 */
export function toStored(value: unknown, as: Stored, ids: IdKind, dialect: Dialect): unknown {
  if (as.keys) return toTargets(value as readonly Target[], as.keys, ids, dialect);
  if (as.many) return toList(value as readonly unknown[], as, ids, dialect);
  if (value === null || value === undefined) return null;
  if (as.parts) return toWholeKey(value, as, ids, dialect);
  if (as.part) return toStored(partOfKey(value, as), one(as), ids, dialect);
  if (as.storedValues) return as.storedValues[String(value)] ?? value;
  if (as.timeForm) return inForm(value, as.timeForm);
  switch (as.type) {
    case 'id':
      return toKey(value, as, ids);
    case 'uuid':
      return UUID.test(String(value)) ? String(value).toLowerCase() : null;
    case 'bigint':
      return dialect === 'sqlite' ? toInteger(String(value)) : String(value);
    case 'json':
      return isArray(as) && dialect === 'postgres' ? value : JSON.stringify(value);
    case 'bytes':
      return value instanceof Uint8Array ? value : Buffer.from(String(value), 'hex');
    case 'boolean':
      return dialect === 'sqlite' ? Number(value) : value;
    default:
      return value;
  }
}

const isArray = ({ databaseType }: Stored) => databaseType?.endsWith('[]') ?? false;

const localKey = (value: unknown, { global }: Stored): string => {
  const text = String(value);
  return global && text.startsWith(`${global}:`) ? text.slice(global.length + 1) : text;
};

/** The same column as if it were no part of a key: the whole value belongs to it. */
function one({ part: _part, global: _global, ...as }: Stored): Stored {
  return as;
}

/**
 * One part of a composite key such as `DE:BY`. Parts are percent-encoded, so that they may contain
 * a colon. Null when the text is no such key.
 */
function partOfKey(value: unknown, as: Stored): string | null {
  const local = localKey(value, as);
  const { index, of } = as.part!;
  if (of === 1) return local;
  const parts = local.split(':');
  return parts.length === of ? decoded(parts[index]!) : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The text of a composite key as it is stored; null when one of its parts is invalid. */
function toWholeKey(value: unknown, as: Stored, ids: IdKind, dialect: Dialect): string | null {
  const parts = as.parts!.map((part) => toStored(value, part, ids, dialect));
  return parts.includes(null)
    ? null
    : parts.map((part) => encodeURIComponent(String(part))).join(':');
}

function toKey(value: unknown, as: Stored, project: IdKind): unknown {
  const local = localKey(value, as);
  const ids = as.key ?? project;
  if (ids === 'text') return local;
  if (ids === 'uuid') return UUID.test(local) ? local.toLowerCase() : null;
  return INTEGER_KEY.test(local) ? toInteger(local) : null;
}

const KEY_TYPES = { integer: 'bigint', uuid: 'uuid', text: 'text' } as const;

/** A number if JavaScript can hold it exactly, else a BigInt. */
function toInteger(text: string): number | bigint | null {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  return /^-?\d{1,19}$/.test(text) ? BigInt.asIntN(64, BigInt(text)) : null;
}

/** SQLite takes a list as a JSON text for `json_each`, PostgreSQL as an array. */
function toList(values: readonly unknown[], as: Stored, ids: IdKind, dialect: Dialect): unknown {
  const single: Stored = { ...as, many: false };
  const { parts } = as;
  if (parts && dialect === 'sqlite')
    return jsonRows(
      values.map((value) => parts.map((part) => toStored(value, part, ids, dialect))),
    );
  const items = values.map((value) => toStored(value, single, ids, dialect));
  if (dialect === 'postgres')
    return items.map((item) => (typeof item === 'bigint' ? String(item) : item));
  return jsonList(items);
}

/** A list as JSON. Whole numbers beyond 2^53 keep their digits. */
const jsonList = (items: readonly unknown[]): string =>
  `[${items.map((item) => (typeof item === 'bigint' ? String(item) : JSON.stringify(item))).join(',')}]`;

const jsonRows = (rows: readonly (readonly unknown[])[]): string =>
  `[${rows.map(jsonList).join(',')}]`;

/** Global ids as a JSON array: for each its type and the parts of its key. */
function toTargets(
  targets: readonly Target[],
  keys: ReadonlyMap<string, Stored>,
  ids: IdKind,
  dialect: Dialect,
): string {
  const partsOf = (as?: Stored) => as?.parts ?? (as ? [as] : []);
  const keyOf = (id: string, part: Stored) => {
    const key = toStored(id, part, ids, dialect);
    // A text of PostgreSQL cannot hold the character, so no row has the key.
    return dialect === 'postgres' && String(key).includes('\0') ? null : key;
  };
  return jsonRows(
    targets.map(({ type, id }) => [
      type,
      ...partsOf(keys.get(type)).map((part) => keyOf(id, part)),
    ]),
  );
}

/** PostgreSQL's name of the type, for casts of arrays. */
export function postgresType({ type, key }: Stored, ids: IdKind): string {
  if (type === 'id') return KEY_TYPES[key ?? ids];
  const names: Partial<Record<ColumnType, string>> = {
    real: 'double precision',
    decimal: 'numeric',
    timestamp: 'timestamptz',
    json: 'jsonb',
    bytes: 'bytea',
  };
  return names[type] ?? type;
}

/**
 * The type in PostgreSQL to which the text of a key is cast. A cast to a type with a length, such as
 * `varchar(3)`, would cut the text.
 */
export const castType = (as: Stored, ids: IdKind): string =>
  as.key === 'integer' || !as.databaseType || as.databaseType.includes('(')
    ? postgresType(as, ids)
    : as.databaseType;
