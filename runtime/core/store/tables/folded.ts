import { type RawBuilder, sql } from 'kysely';
import type { Fold } from '@twofold/schema';
import type { Dialect } from '../store.ts';

/** A unique index over the folded values of a column. */
export interface FoldedIndex {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly fold: Fold;
}

/**
 * The SQL of a column in the form that is compared. Only ASCII letters are folded, so that the
 * locale of the database does not matter.
 */
export function folded(dialect: Dialect, fold: Fold, column: string): RawBuilder<string> {
  const text = sql.ref(column);
  if (fold === 'digits') {
    const bare = [' ', '(', ')', '-'].reduce<RawBuilder<unknown>>(
      (value, sign) => sql`replace(${value}, ${sql.lit(sign)}, '')`,
      text,
    );
    return sql`nullif(${bare}, '')`;
  }
  return dialect === 'postgres'
    ? sql`nullif(lower(${text} collate "C"), '')`
    : sql`nullif(lower(${text}), '')`;
}
