import { fileURLToPath } from 'node:url';
import { resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { postgresStore } from './postgres-store.ts';
import { sqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';

/**
 * Opens the database that `DATABASE_URL` names: `file:data/app.db` (relative to `root`), `:memory:`
 * or `postgres://…`.
 *
 * @throws ConfigError when the text is none of these.
 * @example const store = openStore('file:data/app.db', process.cwd());
 */
export function openStore(url: string, root: string): Store {
  if (url === ':memory:') return sqliteStore(url);
  if (/^postgres(ql)?:\/\//.test(url)) return postgresStore(url);
  if (url.startsWith('file://')) return sqliteStore(fileURLToPath(url));
  if (url.startsWith('file:')) return sqliteStore(resolve(root, url.slice('file:'.length)));
  throw new ConfigError([
    'DATABASE_URL must be file:<path>, :memory: or postgres://user:password@host/database',
  ]);
}
