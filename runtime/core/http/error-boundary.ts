import { STATUS_CODES } from 'node:http';
import type { Context as KoaContext, Middleware } from 'koa';
import type { Logger } from '../config/log.ts';
import { AppError, failure } from '../errors.ts';

/** Answers an error of a request to a module's own path in the module's own form. False when the path is not the module's. */
export type ErrorForm = (ctx: KoaContext, error: AppError) => boolean;

/**
 * The one place that turns an error into an answer: `{"error": "message"}`, or the form of the module that the path belongs
 * to. What the caller may not know is masked and logged with the request id.
 */
export function errorBoundary(log: Logger, forms: readonly ErrorForm[] = []): Middleware {
  return async function errorBoundary(ctx, next) {
    try {
      await next();
      assertAnswered(ctx);
    } catch (error) {
      answer(ctx, toFailure(error, ctx, log), forms);
    }
  };
}

/** @throws AppError when no layer took the request, or the router has its path with other methods only, and has set `Allow`. */
function assertAnswered(ctx: KoaContext): void {
  if (ctx.respond === false || ctx.body != null) return;
  if (ctx.status === 404) throw failure.notFound();
  if (ctx.status === 405 || ctx.status === 501)
    throw new AppError(405, 'METHOD_NOT_ALLOWED', 'Method not allowed');
}

/** An `AppError` as it is; what `ctx.throw` and libraries throw for the caller with its status; anything else masked. */
function toFailure(error: unknown, ctx: KoaContext, log: Logger): AppError {
  if (error instanceof AppError) return error;
  const known = isHttpError(error) ? fromHttpError(error) : undefined;
  if (known && known.status < 500) return known;
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
  return known ?? new AppError(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
}

/** An error of the package http-errors, which `ctx.throw` and `ctx.assert` make, and of parsers that follow it. */
interface HttpError {
  readonly status: number;
  readonly message: string;
  /** Whether the caller may read the message. */
  readonly expose?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the parser of bodies found. */
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

/** Where our code for a status is not the status's standard text. */
const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  413: 'TOO_LARGE',
  429: 'RATE_LIMITED',
  503: 'UNAVAILABLE',
};

function textFor(status: number, expose: boolean | undefined, message: string): string {
  if (expose) return message;
  if (status === 500) return 'Internal server error';
  // An error that only has a status is a library's, and its message was not written for callers.
  if (status === 400 && expose === undefined) return 'Invalid request';
  return STATUS_CODES[status] ?? '';
}

function answer(ctx: KoaContext, error: AppError, forms: readonly ErrorForm[]): void {
  if (ctx.res.headersSent || !ctx.writable) return void ctx.res.destroy();
  ctx.status = error.status;
  ctx.set({ ...error.headers });
  if (forms.some((form) => form(ctx, error))) return;
  ctx.body = { error: error.message };
}

/** With those of its causes: the outermost error often only says where it was caught. */
function stackOf(error: unknown, deepest = 5): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? String(error);
  if (error.cause === undefined || deepest === 0) return own;
  return `${own}\ncaused by: ${stackOf(error.cause, deepest - 1)}`;
}
