import type { Logger } from './config/log.ts';

/** Milliseconds in which running requests may finish after an exception. */
const TIME_LIMIT = 10_000;

/**
 * Logs every error that no code handles (ASVS 16.5.4), and returns the function that ends it.
 *
 * A rejected promise that nothing awaits belongs to no request: the server goes on. After an
 * uncaught exception no state can be trusted (https://nodejs.org/api/process.html), so the server
 * finishes its running requests and exits with 1; with `WORKERS` another process takes its place.
 */
export function catchUnhandled(log: Logger, close: () => Promise<void>): () => void {
  const onRejection = (reason: unknown) =>
    log.error(described(reason), 'a promise was rejected and nothing awaited it');
  const onException = (error: unknown) => {
    log.fatal(described(error), 'an exception was not caught: the server stops');
    setTimeout(() => process.exit(1), TIME_LIMIT).unref();
    void close().finally(() => process.exit(1));
  };
  process.on('unhandledRejection', onRejection);
  process.on('uncaughtException', onException);
  return () => {
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}

function described(error: unknown): object {
  if (!(error instanceof Error)) return { reason: String(error) };
  return { stack: error.stack, ...(error.cause !== undefined && { cause: String(error.cause) }) };
}
