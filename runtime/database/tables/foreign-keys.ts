import { type Kysely, sql } from 'kysely';
import { InternalError } from '@twofold/runtime/errors';
import { quotedName } from '@twofold/runtime/store';
import type { ForeignKey } from './alteration.ts';
import { recorded, reportRows } from './migration-run.ts';
import { isReady, readyName } from '../online/ready.ts';
import { findLost, tableRows } from './row-checks.ts';

/** The name of a foreign key of several columns, as migrations give it when they make its table. */
export const foreignKeyName = (table: string, columns: readonly string[]): string =>
  `${table}_${columns.join('_')}_fkey`;

/** The constraint as SQL that both databases take. */
export function foreignKeySql(table: string, key: ForeignKey): string {
  const name = quotedName(foreignKeyName(table, key.columns));
  return `constraint ${name} ${referenceSql(key)}`;
}

/** The definition of a foreign key without its name. */
export function referenceSql({ columns, table, references, onDelete }: ForeignKey) {
  const names = (list: readonly string[]) => list.map(quotedName).join(', ');
  return `foreign key (${names(columns)}) references ${quotedName(table)} (${names(references)}) on delete ${onDelete}`;
}

/** What tells two foreign keys of the same columns apart: `authors.id restrict`. */
export const targetOf = ({ table, references, onDelete }: ForeignKey): string =>
  `${table}.${references.join()} ${onDelete}`;

/** The name of a foreign key that was made before the transaction of its migration. */
export const readyKeyName = (table: string, key: ForeignKey): string =>
  readyName({
    table,
    column: key.columns.join(),
    does: 'reference',
    definition: targetOf(key),
  });

/**
 * Looks for rows whose referenced row does not exist, before the foreign key is made, and reports
 * them.
 *
 * @returns whether it can be made.
 */
export async function checkForeignKey(
  db: Kysely<any>,
  table: string,
  key: ForeignKey,
): Promise<boolean> {
  if (recorded()) return true;
  const found = await findLost(await tableRows(db, table), key);
  found.forEach(reportRows);
  return found.length === 0;
}

/** Adds a foreign key, or renames the prepared one. All rows were checked before. */
export async function addForeignKeyOnPostgres(
  db: Kysely<any>,
  table: string,
  key: ForeignKey,
): Promise<void> {
  const ready = readyKeyName(table, key);
  const name = sql.ref(foreignKeyName(table, key.columns));
  const alter = sql`alter table ${sql.table(table)}`;
  const made = !recorded() && (await isReady(db, table, ready));
  await (
    made
      ? sql`${alter} rename constraint ${sql.ref(ready)} to ${name}`
      : sql`${alter} add ${sql.raw(foreignKeySql(table, key))}`
  ).execute(db);
}

/** The error of a step that would drop a foreign key of which there is none. */
export const noForeignKey = (table: string, columns: readonly string[]): InternalError =>
  new InternalError(`there is no foreign key ${table} (${columns.join(', ')}) to drop`);

/** Drops the foreign keys of exactly these columns, whatever their names are. */
export async function dropForeignKeyOnPostgres(
  db: Kysely<any>,
  table: string,
  columns: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ conname: string }>`
    select c.conname from pg_constraint c
    where c.conrelid = to_regclass(${quotedName(table)}) and c.contype = 'f'
      and (select array_agg(a.attname::text order by k.place) from unnest(c.conkey) with ordinality as k(number, place)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number) = ${columns}::text[]`.execute(
    db,
  );
  const names = new Set(rows.map(({ conname }) => conname));
  // An earlier statement that is only recorded may have made it, which the catalog does not show.
  if (recorded()) names.add(foreignKeyName(table, columns));
  if (names.size === 0) throw noForeignKey(table, columns);
  for (const name of names)
    await sql`alter table ${sql.table(table)} drop constraint if exists ${sql.ref(name)}`.execute(
      db,
    );
}

/** Whether a constraint in the text of a SQLite table is the foreign key of these columns. */
export function isForeignKeyOf(constraint: string, columns: readonly string[]): boolean {
  const listed = /\bforeign\s+key\s*\(([^)]*)\)/i.exec(constraint)?.[1];
  return listed?.split(',').map(nameOf).join() === columns.join();
}

const nameOf = (text: string): string => text.trim().replace(/^["`[](.*)["`\]]$/, '$1');
