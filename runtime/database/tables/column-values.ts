import { type Kysely, type RawBuilder, sql } from 'kysely';
import {
  convertOnPostgres,
  type DataType,
  dialectOf,
  namedType,
  quotedName,
  type StoredType,
  storedType,
  type TypeChange,
} from '@twofold/runtime/store';
import type { ColumnDescription } from './alteration.ts';

/** The bounds of a type of PostgreSQL. SQLite has none. */
export type ColumnSize =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'digits'; readonly digits: number; readonly places: number };

/** The text of a type in a definition: `numeric(10,2)`. */
export function typeText(db: Kysely<any>, type: DataType): string {
  return typeof type === 'string' ? type : sql`${type}`.compile(db).sql;
}

/** The bounds that `varchar(20)` or `numeric(10,2)` set; null for a type without any. */
export function sizeOf(text: string): ColumnSize | null {
  const length = /^(?:character varying|varchar|character|char)\s*\((\d+)\)$/i.exec(text);
  if (length) return { kind: 'length', length: Number(length[1]) };
  const digits = /^(?:numeric|decimal)\s*\((\d+)\s*(?:,\s*(\d+)\s*)?\)$/i.exec(text);
  return digits
    ? { kind: 'digits', digits: Number(digits[1]), places: Number(digits[2] ?? 0) }
    : null;
}

/** Two conditions: of values that do not fit, and of values that would be rounded. */
export function outside(
  size: ColumnSize,
  value: RawBuilder<unknown>,
): { readonly impossible: RawBuilder<unknown>; readonly lossy: RawBuilder<unknown> | null } {
  if (size.kind === 'length')
    return { impossible: sql`char_length(${value}::text) > ${sql.lit(size.length)}`, lossy: null };
  const rounded = sql`round(${value}::numeric, ${sql.lit(size.places)})`;
  const bound = sql.lit(size.digits - size.places);
  return {
    impossible: sql`abs(${rounded}) >= 10::numeric ^ ${bound}`,
    lossy: sql`${value}::numeric <> ${rounded}`,
  };
}

/**
 * The change of type that a definition causes; null when there is none, or when one of the types is
 * unknown.
 */
export async function typeChange(
  db: Kysely<any>,
  table: string,
  column: ColumnDescription,
): Promise<TypeChange | null> {
  return changeOfType(db, await catalogType(db, table, column.name), column);
}

/** The change of type, when the type in the catalog is known. */
export function changeOfType(
  db: Kysely<any>,
  known: StoredType | undefined,
  column: ColumnDescription,
): TypeChange | null {
  // SQLite's catalog lists decimals and times as text; PostgreSQL's catalog is exact.
  const given = column.from === undefined ? undefined : storedType(column.from);
  const declared = namedType(typeText(db, column.type));
  const from = dialectOf(db) === 'sqlite' ? (given ?? known) : known;
  const to = storedType(column.type) ?? declared;
  // A definition that names no former type, and is stored as the column is, keeps its type.
  if (given === undefined && declared === known && dialectOf(db) === 'sqlite') return null;
  return from === undefined || to === undefined || from === to ? null : { from, to };
}

/** The type that a column has now. */
export async function catalogType(
  db: Kysely<any>,
  table: string,
  column: string,
): Promise<StoredType | undefined> {
  const { rows } = await (
    dialectOf(db) === 'sqlite'
      ? sql<{ type: string }>`select type from pragma_table_info(${table}) where name = ${column}`
      : sql<{ type: string }>`
        select format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = to_regclass(${quotedName(table)}) and attname = ${column}`
  ).execute(db);
  return rows[0] && namedType(rows[0].type);
}

/** SQL for the column's value after the change. `old` is its value before. */
export function newValue(
  db: Kysely<any>,
  column: ColumnDescription,
  change: TypeChange | null,
  old: RawBuilder<unknown> = sql`${sql.ref(column.name)}`,
): RawBuilder<unknown> {
  const converted = change ? convertedValue(db, change, old) : old;
  return column.required && 'default' in column
    ? sql`coalesce(${converted}, ${defaultSql(db, column.default)})`
    : converted;
}

export function convertedValue(
  db: Kysely<any>,
  { from, to }: TypeChange,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return dialectOf(db) === 'sqlite'
    ? sql`twofold_convert(${value}, ${sql.lit(from)}, ${sql.lit(to)})`
    : convertOnPostgres(from, to, value);
}

export function defaultSql(db: Kysely<any>, value: unknown): RawBuilder<unknown> {
  if (typeof value === 'object' && value !== null) return sql`${value}`;
  const literal = typeof value === 'boolean' && dialectOf(db) === 'sqlite' ? Number(value) : value;
  return sql`${sql.lit(literal)}`;
}

/** The condition of a column's check as SQL; empty without one. */
export function checkText(db: Kysely<any>, { check }: ColumnDescription): string {
  return check ? sql`${check}`.compile(db).sql : '';
}
