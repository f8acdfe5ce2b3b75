import { createRequire } from 'node:module';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type pg from 'pg';
import { createStatementNames, type StatementNames } from './statement-names.ts';
import type { Query, Store } from './store.ts';
import { ValueQuery } from './value-query.ts';

const POOL = 10;

/** The driver, for a server that uses it: the others start without. */
const driver = () => createRequire(import.meta.url)('pg') as typeof pg & { readonly utils: { prepareValue(value: unknown): unknown } };

/** PostgreSQL at `url`. Connections are made on first use and kept for the next. */
export function postgresStore(url: string): Store {
  const { Pool, types, utils } = driver();
  const getTypeParser = (oid: number, format?: 'text' | 'binary') => parsers[oid] ?? types.getTypeParser(oid, format as 'text');
  const pool = new Pool({ connectionString: url, max: POOL, types: { getTypeParser } as pg.CustomTypesConfig, onConnect: withoutJit });
  // A connection that breaks is replaced on the next query; without listeners the process would end.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  const db = new Kysely<any>({ dialect: new PostgresDialect({ pool }) });
  const names = createStatementNames();
  const query: Query = (text, values) => ask(pool, names, text, values).catch((error) => again(names, error, text, () => ask(pool, names, text, values)));
  const text: Store['text'] = (sql, values) => {
    const prepared = values.map((value) => utils.prepareValue(value));
    return askText(pool, names, sql, prepared).catch((error) => again(names, error, sql, () => askText(pool, names, sql, prepared)));
  };
  return {
    dialect: 'postgres',
    db,
    transaction: (work) => db.transaction().execute(work),
    transact: (work) => transact(pool, names, work),
    structuralTransaction: (work) => db.transaction().execute(work),
    query: query as Store['query'],
    text,
    lock: (name, work) => withAdvisoryLock(db, name, work),
    close: () => db.destroy(),
  };
}

/**
 * PostgreSQL compiles what it takes for a costly statement, each expression of it: one that makes JSON of forty types takes
 * seconds to compile and milliseconds to run. It is said in a statement, because poolers refuse it among the connection's options.
 */
const withoutJit = async (client: pg.ClientBase) => void (await client.query('set jit = off').catch(() => {}));

async function ask(pool: pg.Pool, names: StatementNames, text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
  const client = await pool.connect();
  let broken = false;
  try {
    return await run(client, names, text, values);
  } catch (error) {
    broken = isBroken(error);
    throw error;
  } finally {
    client.release(broken || names.isWorn(client));
  }
}

/** What the database refuses, it refuses with an error of its own, and the connection is as good as before. */
const isBroken = (error: unknown) => (error as { severity?: string }).severity !== 'ERROR';

/** As `ask`, with one promise where that has five: with a small statement they cost as much as it does. */
function askText(pool: pg.Pool, names: StatementNames, text: string, values: readonly unknown[]): Promise<string | null> {
  return new Promise((resolve, reject) => {
    pool.connect((refused, client, release) => {
      if (!client) return reject(refused);
      client.query(
        new ValueQuery({ name: names.nameOn(client, text), text }, values, (error, value) => {
          release((error !== undefined && isBroken(error)) || names.isWorn(client));
          if (error) reject(error);
          else resolve(value);
        }),
      );
    });
  });
}

async function run(client: pg.PoolClient, names: StatementNames, text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
  const name = names.nameOn(client, text);
  return (await client.query({ ...(name !== undefined && { name }), text, values: values as unknown[] })).rows;
}

async function transact<T>(pool: pg.Pool, names: StatementNames, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = false;
  try {
    await client.query('begin');
    const result = await work((text, values) => run(client, names, text, values));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (broken = true));
    throw error;
  } finally {
    client.release(broken || names.isWorn(client));
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

/** A migration may change what a planned statement returns, and the plan is refused from then on: it gets a new name. */
function again<T>(names: StatementNames, error: { readonly code?: string; readonly message?: string }, text: string, run: () => Promise<T>): Promise<T> {
  if (error.code !== '0A000' || !error.message?.includes('cached plan')) throw error;
  names.rename(text);
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
