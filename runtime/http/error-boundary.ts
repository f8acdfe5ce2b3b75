import type { Context as KoaContext, Middleware } from 'koa';
import type { Logger } from 'pino';
import { AppError, failure } from '../errors.ts';

/**
 * The one place that turns an error into a REST answer, `{"error": "message"}`. What the caller may not know is masked
 * and logged with the request id.
 */
export function errorBoundary(log: Logger): Middleware {
  return async function errorBoundary(ctx, next) {
    try {
      await next();
      assertAnswered(ctx);
    } catch (error) {
      answer(ctx, toFailure(error, ctx, log));
    }
  };
}

/** Nobody took the request, or the router knew its path with other methods only (then it has set `Allow`). */
function assertAnswered(ctx: KoaContext): void {
  if (ctx.respond === false || ctx.body != null) return;
  if (ctx.status === 404) throw failure.notFound();
  if (ctx.status === 405 || ctx.status === 501)
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'Method not allowed');
}

/** An `AppError` as it is; a client's mistake that a library found, in our words; anything else masked. */
function toFailure(error: unknown, ctx: KoaContext, log: Logger): AppError {
  if (error instanceof AppError) return error;
  const status = statusOf(error);
  if (status === 413) return failure.tooLarge();
  if (status === 415) return failure.unsupportedMediaType();
  if (status !== undefined && status >= 400 && status < 500)
    return failure.badRequest('Invalid request');
  // The error object itself stays out of the log: a parser's may hold the body, and with it a password.
  log.error(
    {
      requestId: ctx.state['context']?.id,
      method: ctx.method,
      path: ctx.path,
      stack: stackOf(error),
    },
    'request failed',
  );
  return new AppError(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
}

function answer(ctx: KoaContext, error: AppError): void {
  if (ctx.res.headersSent || !ctx.writable) return void ctx.res.destroy();
  ctx.status = error.status;
  ctx.set({ ...error.headers });
  ctx.body = { error: error.message };
}

const statusOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'status' in error
    ? Number(error.status)
    : undefined;

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));
