import type { Column, ColumnType, IdKind } from '@twofold/schema';
import type { Dialect } from '../store/store.ts';

/** The type of a stored value: enough to write, compare and show it. */
export interface Stored {
  readonly type: ColumnType;
  /** A list of such values: `in (…)`, or the keys of a batch. */
  readonly many?: boolean;
  /** The entity that the key belongs to, when that entity has global ids: `Post:7`. */
  readonly global?: string;
}

/** How the values of a column are kept. */
export function storedAs(column: Column, globalEntity?: string): Stored {
  return { type: column.type, ...(globalEntity && { global: globalEntity }) };
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
  if (as.many) return toList(value as readonly unknown[], as, ids, dialect);
  if (value === null || value === undefined) return null;
  switch (as.type) {
    case 'id':
      return toKey(value, as, ids);
    case 'uuid':
      return UUID.test(String(value)) ? String(value).toLowerCase() : null;
    case 'bigint':
      return dialect === 'sqlite' ? toInteger(String(value)) : String(value);
    case 'json':
      return JSON.stringify(value);
    case 'bytes':
      return value instanceof Uint8Array ? value : Buffer.from(String(value), 'hex');
    case 'boolean':
      return dialect === 'sqlite' ? Number(value) : value;
    default:
      return value;
  }
}

function toKey(value: unknown, { global }: Stored, ids: IdKind): unknown {
  const text = String(value);
  const local = global && text.startsWith(`${global}:`) ? text.slice(global.length + 1) : text;
  if (ids === 'uuid') return UUID.test(local) ? local.toLowerCase() : null;
  return INTEGER_KEY.test(local) ? toInteger(local) : null;
}

/** A number where it is exact, a BigInt where it is not. */
function toInteger(text: string): number | bigint | null {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  return /^-?\d{1,19}$/.test(text) ? BigInt.asIntN(64, BigInt(text)) : null;
}

/** SQLite takes a list as a JSON text for `json_each`, PostgreSQL as an array. */
function toList(values: readonly unknown[], as: Stored, ids: IdKind, dialect: Dialect): unknown {
  const one: Stored = { ...as, many: false };
  const items = values.map((value) => toStored(value, one, ids, dialect));
  if (dialect === 'postgres')
    return items.map((item) => (typeof item === 'bigint' ? String(item) : item));
  return `[${items.map((item) => (typeof item === 'bigint' ? String(item) : JSON.stringify(item))).join(',')}]`;
}

/** PostgreSQL's name of the type, for casts of arrays. */
export function postgresType(type: ColumnType, ids: IdKind): string {
  if (type === 'id') return ids === 'uuid' ? 'uuid' : 'bigint';
  const names: Partial<Record<ColumnType, string>> = {
    real: 'double precision',
    decimal: 'numeric',
    timestamp: 'timestamptz',
    json: 'jsonb',
    bytes: 'bytea',
  };
  return names[type] ?? type;
}
