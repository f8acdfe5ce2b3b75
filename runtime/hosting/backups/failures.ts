import { AppError } from '@twofold/runtime/errors';

/** The bytes of a backup are not those that were written. */
export const damaged = (why: string): AppError =>
  new AppError(422, 'BACKUP_DAMAGED', `The backup is damaged: ${why}. Use another one`);

/** The key is missing, or not the one that the backup was encrypted with. */
export const wrongKey = (why: string): AppError =>
  new AppError(422, 'BACKUP_KEY_WRONG', `The backup cannot be decrypted: ${why}`);

/** A target does not do what is asked of it. */
export const targetFailed = (why: string, cause?: unknown): AppError =>
  new AppError(422, 'BACKUP_TARGET_FAILED', why, cause === undefined ? {} : { cause });
