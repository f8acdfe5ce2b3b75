import type { TestServer } from '../graphql/harness.ts';
import type { Items } from './random-items.ts';
import { USERS } from './random-items.ts';

/** Puts the rows into the tables of a server. */
export async function settleItems({ project, store }: TestServer, { items }: Items): Promise<void> {
  const sqlite = store.dialect === 'sqlite';
  const entity = project.entities.find(({ name }) => name === 'Item')!;
  const stored = (value: unknown, type: string, renamed?: Readonly<Record<string, string>>) => {
    if (value === null || value === undefined) return null;
    if (renamed) return renamed[String(value)] ?? value;
    if (!sqlite) return value;
    if (type === 'bigint') return BigInt(value as string);
    return type === 'boolean' ? Number(value) : value;
  };
  const insert = (table: string, row: object) =>
    store.db
      .insertInto(table as never)
      .values(row as never)
      .execute();
  for (const id of USERS) await insert('users', { id, name: `u${id}`, email: `u${id}@x.test` });
  for (const item of items) {
    const row: Record<string, unknown> = {};
    for (const { name, stored: column = name, type, parts, storedValues } of entity.columns)
      if (!parts)
        row[column] = stored(item[name === 'owner_id' ? 'owner' : name], type, storedValues);
    await insert(entity.table, row);
  }
}

const DECIMAL = /^-?\d+\.\d+$/;

/** The same text for equal decimals: the zeros at the end are no part of the value. */
export function plainDecimals(value: unknown): unknown {
  if (typeof value === 'string') return DECIMAL.test(value) ? value.replace(/\.?0+$/, '') : value;
  if (Array.isArray(value)) return value.map(plainDecimals);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, plainDecimals(inner)]),
  );
}
