import { AppError } from '../../errors.ts';

export const OPENED = 'the transaction was opened here';

export const timedOut = (timeout: number, opened: string | Error | undefined) =>
  new AppError(
    503,
    'TIMEOUT',
    `The transaction was rolled back: it was open for longer than ${timeout / 1000} s`,
    { cause: typeof opened === 'string' ? new Error(`${OPENED}: ${opened}`) : opened },
  );

export const closedFailure = () =>
  new AppError(
    500,
    'TRANSACTION_CLOSED',
    'The transaction is over: await each statement inside its callback',
  );

/**
 * The error when SQLite has rolled back by itself, because the disk is full or the file is damaged.
 */
export const lostFailure = () =>
  new AppError(
    500,
    'TRANSACTION_CLOSED',
    'The database has rolled the transaction back after an error: let that error end the callback',
  );

/** `serialization_failure` and `deadlock_detected`, see PostgreSQL's appendix "Error Codes". */
const CODES: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/** Whether the same work may succeed when it is run again. */
export function isSerializationFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, severity, cause } = error as { code?: unknown; severity?: string; cause?: unknown };
  return (severity !== undefined && CODES.has(code)) || isSerializationFailure(cause);
}

/** What a caller sees of a transaction that is not run again: a failure of the database has a reason. */
export const withReason = (error: unknown) =>
  error instanceof AppError || !isSerializationFailure(error)
    ? error
    : new AppError(409, 'CONFLICT', 'Other changes were made at the same time: try again', {
        cause: error,
        extensions: { reason: 'SERIALIZATION' },
      });
