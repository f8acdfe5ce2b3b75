import { databaseAddress } from './address.ts';
import { postgresStore, type PostgresOptions as StoreOptions } from './postgres-store.ts';
import { sqliteStore } from './sqlite-store.ts';
import { notingStore } from './statement-log.ts';
import type { Store } from './store.ts';

/**
 * Opens the database that `DATABASE_URL` names: `file:data/app.db` (relative to `root`), `:memory:`
 * or `postgres://…`.
 *
 * @throws ConfigError when the text is none of these.
 * @example const store = openStore('file:data/app.db', process.cwd());
 */
export function openStore(url: string, root: string, options: StoreOptions = {}): Store {
  const { note } = options;
  const store = open(url, root, options);
  return note ? notingStore(store, note) : store;
}

function open(url: string, root: string, options: StoreOptions): Store {
  const { timeout, note } = options;
  const address = databaseAddress(url, root);
  return address.dialect === 'postgres'
    ? postgresStore(address.url, options)
    : sqliteStore(address.file, timeout, note);
}
