import { STATUS_CODES } from 'node:http';
import type { Context as KoaContext, Middleware } from 'koa';
import type { Logger } from '../config/log.ts';
import type { RequestContext } from '../context/request-context.ts';
import { AppError, failure } from '../errors.ts';
import { DatabaseLost, endedByLimit } from '../store/unreachable.ts';
import { openedStream } from './sending.ts';

/**
 * Formats an error of a request to a module's own path. False when the path is not the module's.
 */
export type ErrorForm = (ctx: KoaContext, error: AppError) => boolean | Promise<boolean>;

/**
 * The only place that turns an error into an answer: `{"error": "message"}`, or the format of the
 * module that the path belongs to. Errors that the caller may not see are masked and logged with
 * the request id.
 */
export function errorBoundary(log: Logger, forms: readonly ErrorForm[] = []): Middleware {
  return async function errorBoundary(ctx, next) {
    try {
      await next();
      const begun = openedStream(ctx);
      if (begun) await begun;
      assertAnswered(ctx);
    } catch (error) {
      const failed = toFailure(error, ctx, log);
      const { context, refusal } = ctx.state;
      const { method, path } = ctx;
      if (failed.status === 403 && !refusal) logRefusal(log, context, { method, path });
      await answer(ctx, failed, forms);
    }
  };
}

/** Logs what a rule, a scope or an organization refused, and to whom (ASVS 16.3.2). */
export function logRefusal(log: Logger, context: Partial<RequestContext>, what: object): void {
  const { id: requestId, ip, principal } = context ?? {};
  const actor = principal && {
    kind: principal.kind,
    ...('id' in principal && { id: principal.id }),
  };
  log.warn({ requestId, ip, actor, ...what }, 'access was refused');
}

/**
 * @throws AppError when no middleware answered, or when the router has set `Allow` because it has
 * the path with other methods only.
 */
function assertAnswered(ctx: KoaContext): void {
  if (ctx.respond === false || ctx.body != null) return;
  if (ctx.status === 404) throw failure.notFound();
  if (ctx.status === 405 || ctx.status === 501)
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'Method not allowed');
}

/**
 * Returns an `AppError` unchanged, keeps the status of errors that `ctx.throw` and libraries make
 * for the caller, and masks all others.
 */
function toFailure(error: unknown, ctx: KoaContext, log: Logger): AppError {
  if (error instanceof DatabaseLost && ctx.method !== 'GET' && ctx.method !== 'HEAD')
    // A handler may have written more than what failed.
    return error.said(ctx.state['handled'] ? 'unknown' : (error.outcome ?? 'none'));
  if (error instanceof AppError) return error;
  const ended = endedByLimit(error);
  if (ended) return ended;
  const known = isHttpError(error) ? fromHttpError(error) : undefined;
  if (known && known.status < 500) return known;
  // The error object itself is not logged: that of a parser may hold the body, and so a password.
  log.error(
    {
      requestId: ctx.state['context']?.id,
      method: ctx.method,
      path: ctx.path,
      stack: stackOf(error),
    },
    'request failed',
  );
  // The span of the request reads it.
  ctx.state['masked'] = error;
  return (
    known ?? new AppError(500, 'INTERNAL_SERVER_ERROR', 'Internal server error', { cause: error })
  );
}

/**
 * An error of the package http-errors. `ctx.throw` and `ctx.assert` make them, and body parsers
 * make similar ones.
 */
interface HttpError {
  readonly status: number;
  readonly message: string;
  /** Whether the caller may read the message. */
  readonly expose?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The kind of error that the body parser reports. */
  readonly type?: string;
}

function isHttpError(error: unknown): error is HttpError {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' && status >= 400 && status in STATUS_CODES;
}

function fromHttpError({ status, message, expose, headers = {}, type }: HttpError): AppError {
  if (type === 'entity.too.large') return failure.tooLarge();
  if (type !== undefined && status === 415) return failure.unsupportedMediaType();
  const standard = STATUS_CODES[status] ?? '';
  const code = CODES[status] ?? standard.toUpperCase().replaceAll(/\W+/g, '_');
  return new AppError(status, code, textFor(status, expose, message), { headers });
}

/** Statuses whose code differs from the standard text of the status. */
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  413: 'TOO_LARGE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
};

function textFor(status: number, expose: boolean | undefined, message: string): string {
  if (expose) return message;
  if (status === 500) return 'Internal server error';
  // A library threw this error without `expose`, so its message was not written for callers.
  if (status === 400 && expose === undefined) return 'Invalid request';
  return STATUS_CODES[status] ?? '';
}

async function answer(
  ctx: KoaContext,
  error: AppError,
  forms: readonly ErrorForm[],
): Promise<void> {
  if (ctx.res.headersSent || !ctx.writable) return void ctx.res.destroy();
  ctx.status = error.status;
  ctx.set({ ...error.headers });
  for (const form of forms) if (await form(ctx, error)) return;
  const { errors, outcome } = error.extensions;
  ctx.body = {
    error: error.message,
    ...(errors !== undefined && { extensions: { errors } }),
    ...(outcome !== undefined && { code: error.code, outcome }),
  };
}

/**
 * The stack of an error and its causes: the outermost error often only says where it was caught.
 */
function stackOf(error: unknown, deepest = 5): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? String(error);
  if (error.cause === undefined || deepest === 0) return own;
  return `${own}\ncaused by: ${stackOf(error.cause, deepest - 1)}`;
}
