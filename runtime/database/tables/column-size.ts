import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DataType } from '@twofold/runtime/store';

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
