import type pg from 'pg';
import { ConfigError } from '../../errors.ts';
import type { DatabaseFacts } from '../store.ts';
import { DatabaseLost, isNotYet } from '../unreachable.ts';
import { addressOf } from './address.ts';
import { clientOf, type ReachingClient, type ReachOptions } from './connecting.ts';
import { LOOK, Presence } from './presence.ts';
import { makeSchema } from './search-path.ts';
import { driver, type Wire } from './wire.ts';

/** Whether the address leads to a pooler in transaction mode. `auto`: what a connection shows. */
export type PoolerMode = 'auto' | 'on' | 'off';

export interface PoolOptions extends ReachOptions {
  readonly max: number;
  /** Whether the time limits of the role and the database do not hold, as for migrations. */
  readonly unlimited?: boolean | undefined;
  /** Whether the schema of the address is made when it is absent. */
  readonly makesSchema?: boolean | undefined;
  readonly pooler?: PoolerMode | undefined;
}

/** The connections for statements, and what they have shown of the way to PostgreSQL. */
export interface StatementPool {
  readonly pool: pg.Pool;
  readonly presence: Presence;
  /** Whether a pooler stands between, as far as is known. */
  readonly pooled: boolean;
  /** The same, for which a connection is made if there was none. */
  isPooled(): Promise<boolean>;
  /** Takes the way for one through a pooler from now on. @returns false when a setting denies it. */
  loseNames(): boolean;
}

type Take = Parameters<pg.Pool['connect']>[0];

/** Codes and texts of a database or pooler that gives no further connection. */
const isFull = (error: { readonly code?: unknown; readonly message?: string } | undefined) =>
  error?.code === '53300' || /no more connections allowed/.test(error?.message ?? '');

/** How long fewer connections are used after one was refused, and a first one is waited for. */
const FEWER_FOR = 5_000;
const FIRST_AGAIN = 200;

/**
 * Goes on with the connections that there are when the database gives no further one, and waits for
 * the database while it gives none.
 */
function bePatient(pool: pg.Pool, connect: (taken: Take) => void, presence: Presence): void {
  const { options } = pool;
  const { max } = options;
  const useFewer = (count: number) => {
    if (count < options.max) setTimeout(() => (options.max = max), FEWER_FOR).unref();
    options.max = Math.min(count, options.max);
  };
  const take = (taken: Take, since = performance.now()): void => {
    const again = () => take(taken, since);
    connect((error, client, release) => {
      if ((client as ReachingClient | undefined)?.isStale) return (release(true), again());
      if (isFull(error)) {
        if (pool.totalCount > 0) return (useFewer(pool.totalCount), again());
        if (performance.now() - since < FEWER_FOR) return void setTimeout(again, FIRST_AGAIN);
      }
      if (!error || isFull(error) || !presence.lose(error))
        return taken(lasting(error), client, release);
      presence.await((gone) => (gone ? taken(gone, undefined, release) : again()));
    });
  };
  const takeNow = (taken: Take) => {
    if (!presence.lost) return take(taken);
    presence.await((gone) => (gone ? taken(gone, undefined, () => {}) : take(taken)));
  };
  const taking = () => promised(takeNow);
  Object.assign(pool, { connect: (taken?: Take) => (taken ? takeNow(taken) : taking()) });
}

const lasting = (error: Error | undefined) =>
  error && isNotYet(error) ? new DatabaseLost(undefined, error) : error;

const promised = (connect: (taken: Take) => void) =>
  new Promise<pg.PoolClient>((resolve, reject) =>
    connect((error, client) => (client ? resolve(client) : reject(error))),
  );

/** Connections are made on first use and then reused. */
export function openPool(url: string, options: PoolOptions): StatementPool {
  const { max, pooler = 'auto', readOnly = false, log } = options;
  const { Pool, types } = driver();
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? types.getTypeParser(oid, format as 'text');
  const enter = enteringSchema(url, options);
  let pooled = pooler === 'auto' ? undefined : pooler === 'on';
  const pool = new Pool({
    Client: clientOf(url, options),
    max,
    types: { getTypeParser } as pg.CustomTypesConfig,
    onConnect: async (client) => {
      const [shown] = (await client.query(LOOK)).rows;
      // A pooler gives each client a process id of its own making.
      if (pooler === 'auto')
        pooled = pooled === true || shown.id !== (client as { processID?: number }).processID;
      presence.made(shown.closed);
      await prepare(client, pooled === true, options);
      await enter(client as ReachingClient, pooled === true);
    },
  });
  const connect = pool.connect.bind(pool) as (taken: Take) => void;
  const presence = new Presence({ url, readOnly, log, connect: () => promised(connect) });
  bePatient(pool, connect, presence);
  // A broken connection is replaced on the next query.
  pool.on('error', () => presence.suspect());
  return {
    pool,
    presence,
    get pooled() {
      return pooled === true;
    },
    isPooled: async () => {
      if (pooled === undefined) (await pool.connect()).release();
      return pooled === true;
    },
    loseNames: () => pooler === 'auto' && (pooled = true),
  };
}

/** Gives each connection the schema of the address, which the first one makes. */
function enteringSchema(url: string, { makesSchema, readOnly }: PoolOptions) {
  const { schema } = addressOf(url);
  let made = schema === undefined;
  return async (client: ReachingClient, isPooled: boolean) => {
    if (!made) await makeSchema(client, schema!, makesSchema ?? !readOnly);
    made = true;
    await client.enterSchema(isPooled);
  };
}

/**
 * Switches off JIT compilation: PostgreSQL compiles each expression of a statement that it
 * estimates as costly, and one that makes JSON of forty types takes seconds to compile and
 * milliseconds to run. PostgreSQL notices within seconds that this process has ended (14 and later,
 * on Linux). A connection of a pooler is everybody's, so it stays as it is.
 */
async function prepare(
  client: pg.ClientBase,
  pooled: boolean,
  { readOnly, unlimited }: PoolOptions,
): Promise<void> {
  if (pooled && readOnly)
    throw new ConfigError([
      'DATABASE_URL leads to a pooler, which cannot refuse writes: set DATABASE_DIRECT_URL to the address of PostgreSQL itself',
    ]);
  if (pooled) return;
  if (readOnly) await client.query('set default_transaction_read_only = on');
  if (unlimited)
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0');
  await client
    .query(`set jit = off; set client_connection_check_interval = '5s'`)
    .catch(() => client.query('set jit = off').catch(() => {}));
}

/** Type ids of PostgreSQL's catalogue (`pg_type.oid`). */
const INT8 = 20;
const TIMESTAMPTZ = 1184;
const DATE = 1082;

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [INT8]: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  [TIMESTAMPTZ]: (text) => new Date(text).toISOString(),
  [DATE]: (text) => text,
};

const FACTS = `select current_setting('server_version') as version,
  current_setting('max_connections')::int as max_connections,
  current_setting('max_connections')::int - (
    select sum(setting::int)::int from pg_settings
    where name in ('superuser_reserved_connections', 'reserved_connections')
  ) - (select count(*)::int - 1 from pg_stat_activity where backend_type = 'client backend') as room,
  current_database() || coalesce('/' || nullif(current_schema(), 'public'), '') as identity`;

/** The loopback, or no address at all: a Unix socket. */
const HERE = /^(::ffff:)?127\.|^::1$|^$/;

/** See `Store.describe`. */
export async function describePool({ pool, isPooled }: StatementPool): Promise<DatabaseFacts> {
  const pooler = await isPooled();
  const client = await pool.connect();
  try {
    const [facts] = (await client.query(FACTS)).rows;
    const system = await client
      .query('select system_identifier as id from pg_control_system()')
      .catch(() => undefined);
    const { stream } = (client as unknown as { connection: Wire }).connection;
    const tls = stream.encrypted === true;
    return {
      ...facts,
      pooler,
      tls,
      exposed: !tls && !HERE.test(stream.remoteAddress ?? ''),
      connections: pool.options.max + 1,
      identity: `${facts.identity}${system ? ` of ${system.rows[0].id}` : ''}`,
    };
  } finally {
    client.release();
  }
}
