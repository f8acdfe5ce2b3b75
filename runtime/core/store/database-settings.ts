import type { Environment, Settings } from '../config/settings.ts';
import { grantAccess } from './postgres/address.ts';
import type { PoolerMode } from './postgres/pool.ts';

const DATABASE = 'file:data/app.db';
const MODES: readonly PoolerMode[] = ['auto', 'on', 'off'];

/** The path or URL of the database, from the settings. */
export const databaseUrl = (settings: Settings): string => settings.text('DATABASE_URL', DATABASE);

/** What the settings say of PostgreSQL beside its address. Beside another database it is an error. */
export interface DatabaseSettings {
  /** The same database without a pooler. */
  readonly direct: string | undefined;
  readonly pooler: PoolerMode;
  /** Addresses of read replicas. */
  readonly replicas: readonly string[];
  /** The most connections of this process. */
  readonly connections: number;
}

const CONNECTIONS = 6;
/** One that listens and holds locks, one for a transaction, and one for what is asked meanwhile. */
const LEAST = 3;

/** @param workers the processes that share the connections of the setting. */
export function databaseSettings(settings: Settings, workers = 1): DatabaseSettings {
  const url = databaseUrl(settings);
  const isPostgres = /^postgres/.test(url);
  // An address that the environment names is not that of `.env`, which the others are about.
  const replaced = settings.sourceOf('DATABASE_URL') === 'environment';
  const read = (name: string) => {
    const text = settings.text(name);
    if (text === undefined || (replaced && settings.sourceOf(name) === '.env')) return undefined;
    if (isPostgres) return text;
    settings.problem(`${name} is about PostgreSQL, and DATABASE_URL is ${url}: remove it`);
    return undefined;
  };
  const pooler = read('DATABASE_POOLER') ?? 'auto';
  const mode = MODES.find((each) => each === pooler);
  if (!mode) settings.problem(`DATABASE_POOLER must be ${MODES.slice(0, 2).join(', ')} or off`);
  const direct = inSchemaOf(url, read('DATABASE_DIRECT_URL'));
  if (direct !== undefined && !/^postgres(ql)?:\/\//.test(direct))
    settings.problem('DATABASE_DIRECT_URL must be postgres://user:password@host/database');
  const replicas = (read('DATABASE_READ_URL') ?? '')
    .split(/,\s*(?=postgres)/)
    .filter((each) => each !== '');
  if (replicas.some((each) => !/^postgres(ql)?:\/\//.test(each)))
    settings.problem(
      'DATABASE_READ_URL must be postgres://user:password@host/database, or several between commas',
    );
  const access = { ca: read('DATABASE_CA'), passwordCommand: read('DATABASE_PASSWORD_COMMAND') };
  for (const each of [url, direct, ...replicas]) if (each !== undefined) grantAccess(each, access);
  const all = Number(read('DATABASE_CONNECTIONS') ?? CONNECTIONS * workers);
  if (!Number.isInteger(all) || all < LEAST * workers)
    settings.problem(
      `DATABASE_CONNECTIONS must be ${LEAST * workers} or more${workers > 1 ? ` for ${workers} WORKERS` : ''}`,
    );
  return {
    direct: direct === url ? undefined : direct,
    pooler: mode ?? 'auto',
    replicas,
    connections: Math.max(LEAST, Math.floor(all / workers) || 0),
  };
}

/** Whether a server applies what is pending: in production only where that is said. */
export const migratesAtStart = (settings: Settings): boolean =>
  settings.flag('MIGRATE', !settings.production);

/** A direct address that names no schema has that of the other one. */
function inSchemaOf(url: string, direct: string | undefined): string | undefined {
  const schema = /[?&](schema=[^&]+)/;
  const [, named] = schema.exec(url) ?? [];
  if (!named || direct === undefined || schema.test(direct)) return direct;
  return `${direct}${direct.includes('?') ? '&' : '?'}${named}`;
}

/** The address for commands, which need no pooler. */
export const commandUrl = (settings: Settings): string =>
  databaseSettings(settings).direct ?? databaseUrl(settings);

/** The environment with another database in the place of its own. */
export const withDatabase = (env: Environment, url: string): Environment => ({
  ...env,
  DATABASE_URL: url,
  DATABASE_DIRECT_URL: undefined,
  DATABASE_READ_URL: undefined,
  DATABASE_POOLER: undefined,
  DATABASE_CONNECTIONS: undefined,
  DATABASE_CA: undefined,
  DATABASE_PASSWORD_COMMAND: undefined,
});
