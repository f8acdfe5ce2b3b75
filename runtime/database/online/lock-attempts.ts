import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '@twofold/runtime/errors';

const TRIES = 5;

/** PostgreSQL's code of a statement that waited for a lock for longer than `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

export function isLockTimeout(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return code === LOCK_NOT_AVAILABLE || isLockTimeout(cause);
}

/**
 * Tries again when a lock was not free in time. Between two tries, everything that waited for the
 * same lock runs.
 *
 * @throws AppError `MIGRATION_LOCKED` after five tries.
 */
export async function withLock<T>(object: string, attempt: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (left <= 1) throw locked(object, error);
      await wait(200 * (TRIES - left + 1));
    }
  }
}

function locked(object: string, cause: unknown): AppError {
  return new AppError(
    503,
    'MIGRATION_LOCKED',
    `${object} could not be locked in ${TRIES} tries, because other statements hold it; nothing was changed\n   fix  run it again; pg_stat_activity shows what holds it; database.migrations.lock_timeout is how long a try waits`,
    { cause },
  );
}
