import { AppError } from '@twofold/runtime/errors';

/** Error codes of the operating system, SQLite and PostgreSQL. */
const CODES = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100'];
const MESSAGES = /no space left on device|disk quota exceeded|database or disk is full/i;

/**
 * Throws the error again, as 507 when its cause is a full disk: the user has to do the same
 * wherever it happened.
 */
export function asFullDisk(error: unknown): never {
  if (!isFullDisk(error)) throw error;
  throw new AppError(
    507,
    'DISK_FULL',
    'There is no space left on the disk: free some, for example by POST /api/system/prune',
    { cause: error },
  );
}

function isFullDisk(error: unknown): boolean {
  if (error instanceof AppError && error.status === 507) return false;
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if (CODES.includes(String((at as { code?: unknown }).code)) || MESSAGES.test(at.message))
      return true;
  return false;
}
