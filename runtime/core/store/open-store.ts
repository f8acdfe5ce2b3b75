import { existsSync } from 'node:fs';
import { ConfigError } from '../errors.ts';
import { databaseAddress } from './address.ts';
import { postgresStore, type PostgresOptions as StoreOptions } from './postgres/postgres-store.ts';
import { sqliteStore } from './sqlite/sqlite-store.ts';
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
  const address = databaseAddress(url, root);
  return address.dialect === 'postgres'
    ? postgresStore(address.url, options)
    : sqliteFile(address.file, options);
}

function sqliteFile(file: string, options: StoreOptions): Store {
  if (options.foreign && file !== ':memory:' && !existsSync(file))
    throw new ConfigError([`DATABASE_URL names ${file}, which is not there (managed: false)`]);
  if (options.readOnly && file !== ':memory:' && !existsSync(file))
    throw new ConfigError([
      `DATABASE_URL names ${file}, which is not there yet: run "npm run dev"`,
    ]);
  return sqliteStore(file, options);
}
