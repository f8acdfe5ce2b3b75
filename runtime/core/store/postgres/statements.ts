import type pg from 'pg';
import { type Asker, type Bounds, unwanted } from '../bounds.ts';
import type { JsonText } from '../large-text.ts';
import type { Query } from '../store.ts';
import { DatabaseLost, type LostOutcome } from '../unreachable.ts';
import { type Abandoned, abandonedStatements } from './abandoned.ts';
import { isRead, lossOf, reached } from './losses.ts';
import { createPipelines, isBroken, type Pipelines } from './pipelines.ts';
import type { StatementPool } from './pool.ts';
import { createStatementNames, type StatementNames } from './statement-names.ts';
import { type Settle, ValueQuery } from './value-query.ts';
import { driver, wireClass } from './wire.ts';

/** The most connections on which short statements follow each other: two do the work of eight. */
const PIPELINES = 2;

/** A pool, and what runs single statements on its connections. */
export interface Parts extends Connected {
  readonly query: ReturnType<typeof statementsOf>['query'];
  readonly textOf: ReturnType<typeof statementsOf>['textOf'];
}

/** The parts that all statements of a pool share. */
export interface Connected {
  readonly pool: pg.Pool;
  readonly statements: StatementPool;
  readonly names: StatementNames;
  readonly abandoned: Abandoned;
  readonly isSpent: (client: pg.PoolClient) => boolean;
  readonly pipelines: Pipelines;
}

export interface StatementCall {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly asker: Asker | undefined;
  readonly large?: boolean | undefined;
  readonly withoutJit?: boolean;
}

/** What runs statements on the connections of a pool. */
export function partsOf(statements: StatementPool, max: number): Parts {
  const { pool } = statements;
  const names = createStatementNames(undefined, () => statements.pooled);
  const abandoned = abandonedStatements(wireClass());
  const isSpent = (client: pg.PoolClient) => names.isWorn(client) || abandoned.isTold(client);
  const pipelines = createPipelines({ pool, names, abandoned, isSpent }, max < 4 ? 1 : PIPELINES);
  const parts = { pool, statements, names, abandoned, isSpent, pipelines };
  return { ...parts, ...statementsOf(parts) };
}

/** Single statements: their rows, or the first column of the first row as text. */
function statementsOf(parts: Connected) {
  const { utils } = driver();
  const { presence } = parts.statements;
  const query = (text: string, values: readonly unknown[], asker?: Asker) =>
    reached(() => ask(parts, { text, values, asker }, isRead(text) ? undefined : 'unknown'), asker);
  const textOf = (text: string, values: readonly unknown[], bounds?: Bounds, long = false) => {
    const asked = {
      text,
      withoutJit: long && parts.statements.pooled,
      values: values.map((value) => utils.prepareValue(value)),
      asker: bounds?.asker,
      large: bounds?.large,
    };
    const run = () => (long ? askText : askBesideOthers)(parts, asked);
    const fail = async (error: unknown) => {
      throw await lossOf(presence, error, undefined);
    };
    return run().catch((error: unknown) => {
      // The first attempt has no more promises than it needs.
      let first: Promise<JsonText | null> | undefined = Promise.reject(error);
      return reached(() => {
        const attempt = first ?? run();
        first = undefined;
        return attempt.catch(fail);
      }, bounds?.asker);
    });
  };
  return { query, textOf };
}

/** @param outcome what is known when the connection is lost. */
export async function ask(
  parts: Connected,
  asked: StatementCall,
  outcome: LostOutcome | undefined,
) {
  const { presence } = parts.statements;
  let client: pg.PoolClient | undefined;
  let broken = false;
  try {
    client = await parts.pool.connect();
    return await run(parts, client, asked);
  } catch (error) {
    broken = isBroken(error);
    throw await lossOf(presence, error, outcome);
  } finally {
    client?.release(broken || parts.isSpent(client));
  }
}

/** Like `ask`, with one promise in place of five: five would cost as much as a small statement. */
function askText(parts: Connected, asked: StatementCall): Promise<JsonText | null> {
  const { text, values, asker, large, withoutJit } = asked;
  const { pool, names, abandoned, pipelines } = parts;
  return new Promise((resolve, reject) => {
    pool.connect((refused, client, release) => {
      if (!client) return reject(refused);
      if (asker?.cancelled) return reject((release(), unwanted()));
      const since = performance.now();
      const running = abandoned.began(client, asker);
      client.query(
        new ValueQuery(
          { name: names.nameOn(client, text), text, large, withoutJit },
          values,
          (error, value) => {
            abandoned.ended(running);
            pipelines.took(text, performance.now() - since);
            release((error !== undefined && isBroken(error)) || parts.isSpent(client));
            if (!error) resolve(value);
            else reject(isStale(parts, error, text) ? stale(error) : error);
          },
        ),
      );
    });
  });
}

/** Like `askText`, on a connection that statements of other requests use as well. */
function askBesideOthers(parts: Connected, asked: StatementCall): Promise<JsonText | null> {
  return new Promise((resolve, reject) => {
    const alone = () => resolve(askText(parts, asked));
    const settle: Settle = (error, value) => {
      if (!error) resolve(value);
      else reject(isStale(parts, error, asked.text) ? stale(error) : error);
    };
    if (!parts.pipelines.send({ ...asked, settle, alone })) alone();
  });
}

async function run(
  parts: Connected,
  client: pg.PoolClient,
  { text, values, asker }: StatementCall,
): Promise<readonly Record<string, unknown>[]> {
  const { names, abandoned } = parts;
  if (asker?.cancelled) throw unwanted();
  const name = names.nameOn(client, text);
  const running = abandoned.began(client, asker);
  try {
    return (
      await client.query({ ...(name !== undefined && { name }), text, values: values as unknown[] })
    ).rows;
  } catch (error) {
    throw isStale(parts, error, text) ? stale(error) : error;
  } finally {
    abandoned.ended(running);
  }
}

/** The statement was not run: only its plan is lost. */
const stale = (error: unknown) => new DatabaseLost('none', error, true);

export async function transact<T>(
  parts: Connected,
  work: (query: Query) => Promise<T>,
  bounds: Bounds | undefined,
): Promise<T> {
  const { presence } = parts.statements;
  const failed = async (error: unknown, outcome: LostOutcome) => {
    throw await lossOf(presence, error, outcome);
  };
  const client = await parts.pool.connect().catch((error: unknown) => failed(error, 'none'));
  let broken = false;
  try {
    await client.query('begin');
    const result = await work((text, values) =>
      run(parts, client, { text, values, asker: bounds?.asker }),
    );
    await client.query('commit').catch((error: unknown) => failed(error, 'unknown'));
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => (broken = true));
    return await failed(error, 'none');
  } finally {
    client.release(broken || parts.isSpent(client));
  }
}

/** PostgreSQL's codes of a name that it does not know, or that another one has. */
const OTHER_NAMES: ReadonlySet<unknown> = new Set(['26000', '42P05']);

/**
 * Whether a statement may be repeated under a new name: a migration changed its result type, and
 * PostgreSQL refuses the old plan. A name that is lost or taken shows a pooler that looks like
 * PostgreSQL.
 */
function isStale({ names, statements }: Connected, error: unknown, text: string): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (OTHER_NAMES.has(code)) return statements.loseNames();
  if (code !== '0A000' || !message?.includes('cached plan')) return false;
  names.rename(text);
  return true;
}
