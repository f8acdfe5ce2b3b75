import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '../../errors.ts';
import type { Ledger } from './ledger.ts';

/** Whether commands that may lose rows of a database need `--confirm NAME`. */
export interface Guard {
  /** The database's name in the address; a file's name without its folder. */
  readonly name: string;
  /** The address without the password. */
  readonly address: string;
  /** The reason why the database is guarded; null when it is not. */
  readonly reason: string | null;
}

export interface Guarding {
  /** `DATABASE_URL` */
  readonly url: string;
  /** Folder of the project. */
  readonly root: string;
  /** Whether `NODE_ENV` is `production`. */
  readonly production: boolean;
  readonly ledger: Pick<Ledger, 'production'>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Decides whether a database is guarded. It is not guarded only if it can be nothing but a
 * developer's own database.
 *
 * @example
 * guardOf({ url: 'file:data/app.db', root, production: false, ledger }).reason // null
 */
export function guardOf({ url, root, production, ledger, env = process.env }: Guarding): Guard {
  const place = placeOf(url, root, env);
  const reason = production
    ? 'NODE_ENV is production'
    : !place.local
      ? place.reason
      : ledger.production
        ? 'a server in production mode has served it'
        : null;
  return { name: place.name, address: place.address, reason };
}

interface DatabasePlace {
  readonly name: string;
  readonly address: string;
  readonly local: boolean;
  readonly reason: string;
}

function placeOf(url: string, root: string, env: NonNullable<Guarding['env']>): DatabasePlace {
  if (url === ':memory:') return { name: url, address: url, local: true, reason: '' };
  return url.startsWith('file:') ? filePlace(url, root) : serverPlace(url, env);
}

function filePlace(url: string, root: string): DatabasePlace {
  const path = url.startsWith('file://')
    ? fileURLToPath(url)
    : resolve(root, url.slice('file:'.length));
  const inside = relative(realPath(root), realPath(path));
  const local = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  return { name: basename(path), address: path, local, reason: 'it is not a file of the project' };
}

/** The path without symbolic links, also of a file that is not there yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
  }
}

function serverPlace(url: string, env: NonNullable<Guarding['env']>): DatabasePlace {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const host = parsed?.searchParams.get('host') ?? (parsed?.hostname || env['PGHOST']) ?? '';
  const name = decodeURIComponent(parsed?.pathname.slice(1) ?? '') || (env['PGDATABASE'] ?? '');
  const address = `${host === '' ? 'localhost' : decodeURIComponent(host)}${parsed?.port ? `:${parsed.port}` : ''}/${name}`;
  return { name, address, local: isLoopback(host), reason: 'it is on another machine' };
}

/**
 * Whether a host is this machine: a loopback address, a Unix socket, or none, which is the driver's
 * default.
 */
function isLoopback(host: string): boolean {
  return /^$|^(%2f|\/)|^localhost$|^127(\.\d{1,3}){3}$|^\[?::1\]?$/i.test(host);
}

/**
 * @param lost what the command would take away, in words.
 * @throws AppError `DATABASE_GUARDED` unless `confirm` is the name of a guarded database.
 */
export function assertConfirmed(
  { name, address, reason }: Guard,
  confirm: string | undefined,
  lost: string,
): void {
  if (reason === null || (confirm === name && name !== '')) return;
  const other = confirm === undefined ? '' : ` --confirm ${confirm} names another database.`;
  throw new AppError(
    409,
    'DATABASE_GUARDED',
    `the database ${name} (${address}) is guarded, because ${reason}; nothing was done.${other} ${lost}\n   fix  if that is meant: --confirm ${name}`,
    { extensions: { database: name } },
  );
}
