import { setTimeout as pause } from 'node:timers/promises';
import { oddParameters } from '@twofold/schema';
import type { Logger } from '../config/log.ts';
import type { Settings } from '../config/settings.ts';
import { AppError } from '../errors.ts';
import { databaseSettings, databaseUrl } from './database-settings.ts';
import { addressOf } from './postgres/address.ts';
import type { Store } from './store.ts';
import { isNotYet, unreachable } from './unreachable.ts';

const FIRST_WORD = 1_000;
const NEXT_WORD = 10_000;
const PATIENCE = 30_000;

/**
 * Waits for a database that does not answer yet, so that it and the server may be started together.
 *
 * @throws the reason after half a minute, and at once when waiting would not help.
 */
export async function awaitDatabase(store: Store, url: string, log: Logger): Promise<void> {
  const since = performance.now();
  let word = FIRST_WORD;
  for (;;) {
    try {
      return void (await store.query('select 1', []));
    } catch (error) {
      const waited = performance.now() - since;
      if (!isNotYet(error) || waited > PATIENCE) throw error;
      if (waited > word) {
        const reason = unreachable(error, url)?.problems[0] ?? String(error);
        log.warn({ reason }, `WAITING_FOR_DATABASE  ${reason}`);
        word = waited + NEXT_WORD;
      }
      await pause(Math.min(500, 50 + waited / 10));
    }
  }
}

/** What a server finds of its PostgreSQL, and what of it is not as it should be. */
export interface DatabaseReport {
  readonly database: object;
  readonly text: string;
  readonly warnings: readonly string[];
}

/** @returns undefined for a database that is no server. */
export async function examineDatabase(
  store: Store,
  settings: Settings,
): Promise<DatabaseReport | undefined> {
  const facts = await store.describe?.();
  if (!facts) return undefined;
  const { direct } = databaseSettings(settings);
  const { identity: _identity, room, exposed, ...shown } = facts;
  const { version, pooler, connections, max_connections } = shown;
  const warnings = [databaseUrl(settings), ...(direct ? [direct] : [])].flatMap((url) =>
    oddParameters(addressOf(url)),
  );
  if (exposed && settings.production)
    warnings.push(
      'DATABASE_UNENCRYPTED  what is sent to the database leaves this machine without encryption: add sslmode=verify-full, or sslmode=require, to DATABASE_URL',
    );
  if (!pooler && room < connections)
    warnings.push(
      `CONNECTIONS_TIGHT  this process may use ${connections} connections (DATABASE_CONNECTIONS), and PostgreSQL has room for ${room} of its ${max_connections} (max_connections): it works on with those that it gets`,
    );
  if (pooler && !direct)
    warnings.push(
      'POOLER_WITHOUT_DIRECT  DATABASE_URL leads to a pooler, and DATABASE_DIRECT_URL is not set: what other servers change and send is seen within two seconds and not at once, and locks of a server that was killed are free after 25 seconds',
    );
  return {
    database: {
      dialect: store.dialect,
      direct: direct !== undefined,
      read: store.replicas?.size ?? 0,
      ...shown,
    },
    text: `PostgreSQL ${version}${pooler ? ' behind a pooler' : ''}`,
    warnings,
  };
}

/** Says which database a server uses, and what of it is not as it should be. */
export async function reportDatabase({
  store,
  settings,
  log,
}: {
  readonly store: Store;
  readonly settings: Settings;
  readonly log: Logger;
}): Promise<void> {
  const report = await examineDatabase(store, settings);
  if (!report) return;
  await store.replicas?.start();
  const { database, text, warnings } = report;
  log.info({ database }, `database: ${text}`);
  for (const warning of warnings) log.warn(warning);
}

/** @throws AppError `DATABASE_URL_MISMATCH` when two addresses do not lead to one database. */
export async function assertSame(store: Store, direct: Store): Promise<void> {
  const [one, other] = [await store.describe?.(), await direct.describe?.()];
  if (one?.identity === other?.identity) return;
  throw new AppError(
    500,
    'DATABASE_URL_MISMATCH',
    `DATABASE_URL leads to the database ${one?.identity}, and DATABASE_DIRECT_URL to ${other?.identity}: both must be addresses of one database`,
  );
}
