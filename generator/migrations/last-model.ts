import { readLiteral } from './read-literal.ts';

/** Types of the last run by their table, with their columns. */
export type LastModel = ReadonlyMap<
  string,
  { readonly type: string; readonly columns: ReadonlySet<string> }
>;

/**
 * Reads the tables and columns of the previous run from `src/generated/model.ts`. They show what
 * has gone only since then, and what a type was called; nothing is decided by them alone.
 *
 * @returns null when there was no run before, or its file cannot be read.
 */
export function readLastModel(text: string | null): LastModel | null {
  const at = text === null ? null : /^ {2}entities: /m.exec(text);
  const entities =
    at && readLiteral<Record<string, Partial<LastEntity>>>(at.input, at.index + at[0].length);
  if (!entities) return null;
  return new Map(
    Object.entries(entities.value).flatMap(([type, { table, columns }]) =>
      table !== undefined && columns
        ? [[table, { type, columns: new Set(Object.keys(columns)) }] as const]
        : [],
    ),
  );
}

interface LastEntity {
  readonly table: string;
  readonly columns: object;
}
