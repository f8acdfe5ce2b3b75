import type { Kysely, Transaction } from 'kysely';
import {
  hashOf,
  type Ledger,
  type Migration,
  noteApplied,
  noteUndone,
  ownerOf,
  prepareLedger,
  readLedger,
  type Store,
} from '@twofold/runtime/store';
import { catalogSource, readCatalog } from '../catalog/read-catalog.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { compareCatalogs, type Drift } from './drift.ts';
import type { MigrationLists } from './migrated.ts';
import { catalogAfter, undosOf } from './scratch.ts';

/** The result of `migrate baseline`. If there is drift, nothing is recorded. */
export interface Baseline {
  readonly recorded: readonly string[];
  readonly drift: readonly Drift[];
}

/** The differences between the database and what its applied migrations make. */
export const driftOf = (store: Store, lists: MigrationLists): Promise<Drift[]> =>
  createDriftReader(store)(lists);

/**
 * A `driftOf` that runs the migrations only when other ones are applied than at the last call: on
 * PostgreSQL they make a schema, which is then dropped. The tables are read at each call.
 */
export function createDriftReader(store: Store): (lists: MigrationLists) => Promise<Drift[]> {
  let last: { readonly key: string; readonly expected: Promise<Catalog> } | undefined;
  const expectedOf = (applied: readonly Migration[]): Promise<Catalog> => {
    const key = JSON.stringify(applied.map((each) => [each.name, hashOf(each)]));
    if (last?.key === key) return last.expected;
    const expected = catalogAfter(store, applied);
    const made = (last = { key, expected });
    // A failure may pass, so the next call tries again.
    expected.catch(() => void (last === made && (last = undefined)));
    return expected;
  };
  return async (lists) => {
    const ledger = await readLedger(store.db);
    const expected = await expectedOf(lists.flat().filter(isApplied(ledger)));
    return compareCatalogs(expected, await readCatalog(catalogSource(store.db)));
  };
}

/**
 * Records pending migrations as applied, but only if the catalog is equal to what they would make.
 * Applied migrations whose files are gone were replaced by the pending ones, so they are removed
 * from the ledger.
 */
export function baseline(store: Store, lists: MigrationLists): Promise<Baseline> {
  return store.lock('migrations', async () => {
    const ledger = await readLedger(store.db);
    const [own, ...modules] = lists;
    const kept = modules.flat().filter(isApplied(ledger));
    const drift = await differences(store, [...own, ...kept]);
    if (drift.length > 0) return { recorded: [], drift };
    const present = await presentModules(store, { own, kept, modules, ledger });
    const pending = [...own.filter((each) => !isSame(ledger)(each)), ...present];
    const undos = await undosOf(store, own);
    await store.transaction((trx) => record(trx, { own, pending, ledger, undos }));
    return { recorded: pending.map(({ name }) => name), drift: [] };
  });
}

/** The differences between the catalog and what all files make; empty when there are none. */
export async function differences(
  store: Store,
  migrations: readonly Migration[],
  db: Kysely<any> = store.db,
): Promise<Drift[]> {
  const expected = await catalogAfter(store, migrations);
  return compareCatalogs(expected, await readCatalog(catalogSource(db)));
}

const isApplied =
  ({ applied }: Ledger) =>
  ({ name }: Migration): boolean =>
    applied.some((row) => row.name === name);

/** Whether a migration is applied with the text that its file has now. */
const isSame =
  ({ applied }: Ledger) =>
  (migration: Migration): boolean =>
    applied.some(({ name, hash }) => name === migration.name && hash === hashOf(migration));

interface Modules {
  readonly own: readonly Migration[];
  readonly kept: readonly Migration[];
  readonly modules: readonly (readonly Migration[])[];
  readonly ledger: Ledger;
}

/** Pending migrations of modules whose tables exist. Those of other modules stay pending. */
async function presentModules(
  store: Store,
  { own, kept, modules, ledger }: Modules,
): Promise<Migration[]> {
  const present: Migration[] = [];
  for (const all of modules) {
    if (all.some(isApplied(ledger))) continue;
    const list = all.filter(({ unused }) => !unused);
    const base = [...own, ...kept.filter((each) => !list.includes(each))];
    if ((await differences(store, [...base, ...list])).length === 0) present.push(...list);
  }
  return present;
}

interface Recording {
  readonly own: readonly Migration[];
  readonly pending: readonly Migration[];
  readonly ledger: Ledger;
  readonly undos: Awaited<ReturnType<typeof undosOf>>;
}

/** Writes the ledger: adds the migrations of the files, and removes those without a file. */
export async function record(
  trx: Transaction<any>,
  { own, pending, ledger, undos }: Recording,
): Promise<void> {
  await prepareLedger(trx);
  const files = new Map(own.map((each) => [each.name, hashOf(each)]));
  for (const { name, hash } of ledger.applied)
    if (ownerOf(name) === '' && files.get(name) !== hash) await noteUndone(trx, name);
  for (const migration of pending)
    await noteApplied(trx, migration, undos.get(migration.name) ?? null);
}
