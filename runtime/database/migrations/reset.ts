import { type Kysely, sql, type Transaction } from 'kysely';
import {
  forgetApplied,
  isOfSearch,
  type Ledger,
  type Migration,
  readLedger,
  type Store,
} from '@twofold/runtime/store';
import { applyAll } from './apply-migrations.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import { SEEDS } from '../seed/ledger.ts';
import { madeBefore, migrate, type MigrationNote } from './migrate.ts';
import { createRescue, type Rescue } from './rescue.ts';
import { catalogAfter } from './scratch.ts';

export interface ResetOptions {
  /** Folder of the project: all rows are written to files there first. */
  readonly root: string;
  readonly note?: MigrationNote;
}

/**
 * Drops every table that a migration of the project or of a module makes or has made, and applies
 * all migrations. Tables that others made stay. A failure changes nothing.
 *
 * @returns the names of the applied migrations.
 */
export async function reset(
  store: Store,
  [own, ...modules]: readonly (readonly Migration[])[],
  { root, note }: ResetOptions,
): Promise<string[]> {
  const made = await catalogAfter(store, [own ?? [], ...modules].flat());
  const rescue = createRescue(root);
  const applied = await store.lock('migrations', async () => {
    const ledger = await readLedger(store.db);
    const before = (trx: Transaction<any>) => dropAll(trx, { made, ledger, rescue });
    const waiting = own ?? [];
    try {
      await applyAll(store, waiting, { allowLoss: [], keep: true, before });
    } catch (error) {
      rescue.discard();
      throw error;
    }
    return waiting.map(({ name }) => name);
  });
  rescue.files.forEach((file) => note?.('rescued', file));
  for (const list of modules) applied.push(...(await migrate(store, list)));
  return applied;
}

/** The tables with their rows that a reset would drop. */
export async function tablesToReset(
  store: Store,
  lists: readonly (readonly Migration[])[],
): Promise<string[]> {
  const made = await catalogAfter(store, lists.flat());
  return ownTables(store.db, made, await readLedger(store.db));
}

interface Dropping {
  readonly made: Catalog;
  readonly ledger: Ledger;
  readonly rescue: Rescue;
}

async function dropAll(trx: Transaction<any>, { made, ledger, rescue }: Dropping): Promise<void> {
  const tables = await ownTables(trx, made, ledger);
  for (const table of tables.filter((name) => !isOfSearch(name))) await rescue.save(trx, { table });
  const cascade = made.dialect === 'postgres' ? sql` cascade` : sql``;
  for (const table of [...tables, SEEDS])
    await sql`drop table if exists ${sql.table(table)}${cascade}`.execute(trx);
  for (const { name, parameters } of made.functions)
    await sql`drop function if exists ${sql.id(name)}(${sql.raw(parameters)}) cascade`.execute(trx);
  for (const { name } of made.enums)
    await sql`drop type if exists ${sql.id(name)} cascade`.execute(trx);
  await forgetApplied(trx);
}

/** Existing tables that migrations made: the present migrations, or those in the ledger. */
async function ownTables(db: Kysely<any>, made: Catalog, ledger: Ledger): Promise<string[]> {
  const names = new Set([...tablesOf(made), ...madeBefore(ledger)]);
  const present = await readCatalog(catalogSource(db));
  return tablesOf(present).filter((name) => names.has(name));
}

/**
 * The names of tables that migrations make. On SQLite they include virtual tables, because the index of a search is one.
 */
export const tablesOf = ({ tables }: Catalog) =>
  tables
    .filter(({ kind, name }) => kind === 'table' || (kind === 'virtual table' && isOfSearch(name)))
    .map(({ name }) => name);
