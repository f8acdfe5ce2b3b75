/** Optional parts of an error besides its message. */
export interface FailureOptions {
  readonly cause?: unknown;
  /** Response headers that belong to it: `Retry-After`, `WWW-Authenticate`, `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of GraphQL's `extensions`; never a secret. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/**
 * An error that the caller may see: its message and code go into the answer. Any other error is
 * masked as `Internal server error` and logged.
 *
 * @example
 * throw new AppError(409, 'CONFLICT', 'User already exists');
 */
export class AppError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Stable, upper snake case: `extensions.code` in GraphQL. */
  readonly code: string;
  readonly expose = true;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

/**
 * The usual failures, by what went wrong.
 *
 * @example
 * throw failure.notFound('Post not found');
 */
export const failure = {
  badRequest: (message: string, options?: FailureOptions) =>
    new AppError(400, 'BAD_REQUEST', message, options),
  invalid: (message: string, options?: FailureOptions) =>
    new AppError(400, 'BAD_USER_INPUT', message, options),
  unauthenticated: (message = 'Unauthorized', options?: FailureOptions) =>
    new AppError(401, 'UNAUTHENTICATED', message, options),
  forbidden: (message = 'Forbidden', options?: FailureOptions) =>
    new AppError(403, 'FORBIDDEN', message, options),
  notFound: (message = 'Not found', options?: FailureOptions) =>
    new AppError(404, 'NOT_FOUND', message, options),
  conflict: (message: string, options?: FailureOptions) =>
    new AppError(409, 'CONFLICT', message, options),
  tooLarge: (message = 'Request body too large', options?: FailureOptions) =>
    new AppError(413, 'TOO_LARGE', message, options),
  unsupportedMediaType: (message = 'Unsupported media type', options?: FailureOptions) =>
    new AppError(415, 'UNSUPPORTED_MEDIA_TYPE', message, options),
  unprocessable: (message: string, options?: FailureOptions) =>
    new AppError(422, 'UNPROCESSABLE', message, options),
  tooMany: (message = 'Rate limit exceeded', options?: FailureOptions) =>
    new AppError(429, 'RATE_LIMITED', message, options),
  unavailable: (message = 'Service unavailable', options?: FailureOptions) =>
    new AppError(503, 'UNAVAILABLE', message, options),
} as const;

/**
 * An invalid setting or option, found at the start and never during a request. `problems` has one
 * line for each.
 */
export class ConfigError extends Error {
  readonly code = 'CONFIG_INVALID';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A bug in Twofold. Only the error boundary catches it. */
export class InternalError extends Error {
  readonly code = 'INTERNAL';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InternalError';
  }
}
