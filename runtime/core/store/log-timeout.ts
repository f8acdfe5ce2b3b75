import type { Logger } from '../config/log.ts';
import { AppError } from '../errors.ts';

/** The log says where a transaction was opened that took too long. */
export function logTimeout(error: unknown, log: Logger | undefined): never {
  if (error instanceof AppError && error.code === 'TIMEOUT' && error.cause instanceof Error)
    log?.warn({ stack: error.cause.stack }, error.message);
  throw error;
}
