import { createDriftReader } from './store/migrations/baseline.ts';
import type { Drift } from './store/migrations/drift.ts';
import { type MigrationStatus, migrationStatus } from './store/migrations/migrate.ts';
import type { Migration } from './store/migrations/migration.ts';
import type { Store } from './store/store.ts';

/** The project's migrations, then those of each module. */
export type MigrationLists = readonly [
  own: readonly Migration[],
  ...modules: (readonly Migration[])[],
];

/** What a server reports about its migrations. It applies and writes nothing. */
export interface MigrationReport {
  status(): Promise<MigrationStatus>;
  /** Where the catalog differs from what the applied migrations make. */
  drift(): Promise<Drift[]>;
}

/** @param read reads the lists, anew each time: files may have been added meanwhile */
export function createMigrationReport(
  store: Store,
  read: () => Promise<MigrationLists>,
): MigrationReport {
  const driftOf = createDriftReader(store);
  return {
    status: async () => statusOf(store, await read()),
    drift: async () => driftOf(await read()),
  };
}

/** Names of migrations by their state, those of the project first. */
export async function statusOf(store: Store, lists: MigrationLists): Promise<MigrationStatus> {
  const parts: MigrationStatus[] = [];
  for (const list of lists) parts.push(await migrationStatus(store, list));
  const all = (kind: keyof MigrationStatus) => parts.flatMap((part) => part[kind]);
  return {
    applied: all('applied'),
    pending: all('pending'),
    draft: all('draft'),
    empty: all('empty'),
    changed: all('changed'),
    missing: all('missing'),
    partial: all('partial'),
    oneWay: all('oneWay'),
  };
}
