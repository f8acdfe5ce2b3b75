import type { AuthModel } from '@twofold/schema';
import { SYSTEM } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import { type AnyDb, type Db, isOperators } from '../base/tables.ts';
import { purgeAccounts } from '../account/purge.ts';
import { DAY, HOUR } from '../base/time.ts';

const BATCH_SIZE = 1000;

/** Rows to delete: the table, its key, the time column, and the time before which rows are old. */
const expiredRows = (now: number, retention: number, leeway: number) =>
  [
    ['auth_login_attempts', 'id', 'ts', now - retention],
    ['auth_security_events', 'id', 'ts', now - retention],
    ['auth_sessions', 'id', 'absolute_expires_at', now - retention],
    ['auth_revoked_tokens', 'jti', 'exp', now - leeway],
    ['auth_one_time_tokens', 'hash', 'expires_at', now],
    ['auth_oauth_used_states', 'hash', 'exp', now],
    ['auth_email_sign_ins', 'hash', 'expires_at', now],
    ['auth_remembered_devices', 'id', 'expires_at', now],
    ['auth_limit_windows', 'key', 'expires_at', now],
    ['auth_webhook_deliveries', 'id', 'created_at', now - 7 * DAY],
  ] as const;

/**
 * Deletes old rows, and accounts whose grace is over, now and every hour, a thousand at a time.
 * @returns a function to stop it.
 */
export function startRetention(auth: AuthState): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const run = () => {
    running = purge(auth)
      .then(() => (auth.config.users ? purgeAccounts(auth) : undefined))
      .then(() => (auth.config.users ? enableDue(auth) : undefined))
      .catch((error: unknown) =>
        auth.log.error(
          { reason: error instanceof Error ? error.message : 'unknown' },
          'old rows could not be removed',
        ),
      );
  };
  const timer = setInterval(run, HOUR);
  timer.unref();
  run();
  return () => {
    clearInterval(timer);
    return running;
  };
}

/** Deletes the old rows now. The log of permission changes is kept forever. */
export async function purge(
  auth: Pick<AuthState, 'db' | 'now' | 'model'> & { readonly config: { readonly users: boolean } },
): Promise<void> {
  await forgetOldLocks(auth.db, auth.model, auth.now());
  const expired = expiredRows(auth.now(), auth.model.events.retention, auth.model.jwt.leeway);
  for (const [table, key, column, before] of expired) {
    if (!auth.config.users && !isOperators(table)) continue;
    while ((await removeBatch(auth.db, table, key, column, before)) === BATCH_SIZE);
  }
}

/**
 * Deletes lockout rows after a month without a failure, unless they are locked until an unlock.
 * Guesses at addresses without an account leave rows too.
 */
async function forgetOldLocks(db: Db, { lockout }: AuthModel, now: number): Promise<void> {
  await db
    .deleteFrom('auth_identifier_locks')
    .where('last_failure_at', '<', now - 30 * DAY)
    .where('locked_until', '<', now)
    .where('total_since_success', '<', lockout.hardAfter)
    .execute();
}

async function removeBatch(
  db: AnyDb,
  table: string,
  key: string,
  column: string,
  before: number,
): Promise<number> {
  const old = db.selectFrom(table).select(key).where(column, '<', before).limit(BATCH_SIZE);
  return Number(
    (await db.deleteFrom(table).where(key, 'in', old).executeTakeFirst()).numDeletedRows,
  );
}

/**
 * Enables the users again whose time is over. Sign-ins do not wait for this: they compare the time
 * themselves. It makes the event, and the user counts as an enabled owner again.
 */
export async function enableDue(auth: Pick<AuthState, 'now' | 'events'>): Promise<void> {
  await auth.events.transact(SYSTEM, async ({ trx, emit }) => {
    const rows = await trx
      .updateTable('auth_users')
      .set({ disabled_at: null, disabled_until: null, disabled_reason: null })
      .where('disabled_until', '<=', auth.now())
      .returning('user_id')
      .execute();
    for (const row of rows) emit('user.enabled', row.user_id, { reason: 'the time is over' });
  });
}
