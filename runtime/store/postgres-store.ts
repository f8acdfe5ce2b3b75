import { createHash, randomBytes } from 'node:crypto';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Query, Store } from './store.ts';

const POOL = 10;

/** PostgreSQL at `url`. Connections are made on first use and kept for the next. */
export function postgresStore(url: string): Store {
  const pool = new pg.Pool({ connectionString: url, max: POOL, types: { getTypeParser } as pg.CustomTypesConfig });
  // An idle connection that breaks is replaced on the next query; without a listener the process would end.
  pool.on('error', () => {});
  const db = new Kysely<any>({ dialect: new PostgresDialect({ pool }) });
  const names = new Map<string, string>();
  const on = (client: pg.Pool | pg.PoolClient): Query => async (text, values) => (await client.query({ name: statementName(names, text), text, values: [...values] })).rows;
  const query: Query = (text, values) => on(pool)(text, values).catch((error) => again(names, error, text, () => on(pool)(text, values)));
  return {
    dialect: 'postgres',
    db,
    transaction: (work) => db.transaction().execute(work),
    transact: (work) => transact(pool, (client) => work(on(client))),
    structuralTransaction: (work) => db.transaction().execute(work),
    query: query as Store['query'],
    lock: (name, work) => withAdvisoryLock(db, name, work),
    close: () => db.destroy(),
  };
}

async function transact<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken);
  }
}

async function withAdvisoryLock<T>(db: Kysely<any>, name: string, work: () => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(hashtextextended(${name}, 0))`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended(${name}, 0))`.execute(connection);
    }
  });
}

/** A named statement is planned once for each connection. */
function statementName(names: Map<string, string>, text: string): string {
  const known = names.get(text);
  if (known) return known;
  const name = createHash('sha1').update(text).digest('hex');
  if (names.size >= 1000) names.clear();
  names.set(text, name);
  return name;
}

/** A migration may change what a planned statement returns, and the plan is refused from then on: it gets a new name. */
function again<T>(names: Map<string, string>, error: { readonly code?: string; readonly message?: string }, text: string, run: () => Promise<T>): Promise<T> {
  if (error.code !== '0A000' || !error.message?.includes('cached plan')) throw error;
  names.set(text, randomBytes(20).toString('hex'));
  return run();
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

const getTypeParser = (oid: number, format?: 'text' | 'binary') => parsers[oid] ?? pg.types.getTypeParser(oid, format as 'text');
