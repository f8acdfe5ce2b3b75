import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../errors.ts';

export type DatabaseAddress =
  | { readonly dialect: 'sqlite'; readonly file: string }
  | { readonly dialect: 'postgres'; readonly url: string };

/**
 * The location of the database of a URL. A relative file is inside `root`.
 *
 * @throws ConfigError when the text is no address.
 * @example databaseAddress('file:data/app.db', '/srv/shop') // { dialect: 'sqlite', file: '/srv/shop/data/app.db' }
 */
export function databaseAddress(url: string, root: string): DatabaseAddress {
  if (url === ':memory:') return { dialect: 'sqlite', file: url };
  if (/^postgres(ql)?:\/\//.test(url)) return { dialect: 'postgres', url };
  if (url.startsWith('file://')) return { dialect: 'sqlite', file: fileURLToPath(url) };
  if (url.startsWith('file:'))
    return { dialect: 'sqlite', file: resolve(root, url.slice('file:'.length)) };
  throw new ConfigError([
    'DATABASE_URL must be file:<path>, :memory: or postgres://user:password@host/database',
  ]);
}
