import { AppError } from '@twofold/runtime/errors';

export type EngineFailure =
  | 'unavailable'
  | 'not_found'
  | 'conflict'
  | 'invalid'
  | 'denied'
  | 'foreign'
  | 'disk'
  | 'unsupported'
  | 'failed';

/**
 * The HTTP status of our response for each kind of failure. A 404 of the engine does not become a
 * 404, because it is not about the resource that our caller requested.
 */
const STATUS: Readonly<Record<EngineFailure, number>> = {
  unavailable: 503,
  not_found: 502,
  conflict: 502,
  foreign: 409,
  invalid: 400,
  denied: 422,
  disk: 507,
  unsupported: 501,
  failed: 502,
};

/** The engine refused a call, failed or did not answer. All engines share the values of `kind`. */
export class EngineError extends AppError {
  readonly kind: EngineFailure;

  constructor(kind: EngineFailure, message: string, cause?: unknown) {
    super(
      STATUS[kind],
      `ENGINE_${kind.toUpperCase()}`,
      message,
      cause === undefined ? {} : { cause },
    );
    this.name = 'EngineError';
    this.kind = kind;
  }
}

/**
 * Turns an error of dockerode into an `EngineError`. Podman answers 500 to nearly every failure, so
 * the text is checked before the status. dockerode's own `reason` is not used, because it is often
 * wrong ("no such container" for an image).
 *
 * @example
 * toEngineError({ statusCode: 500, json: { message: 'the container name "a" is already in use' } }).kind // 'conflict'
 */
export function toEngineError(thrown: unknown): EngineError {
  if (thrown instanceof EngineError) return thrown;
  const { statusCode, message } = describe(thrown);
  if (statusCode === undefined)
    return new EngineError(
      'unavailable',
      `The container engine does not answer: ${message}`,
      thrown,
    );
  return new EngineError(classify(statusCode, message), message, thrown);
}

/** The kind of a failure inside a stream, for which the engine has already answered 200. */
export function classifyText(message: string): EngineFailure {
  return BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? 'failed';
}

/** The same failure as `denied`, if its message says that a registry wants a user or another one. */
export function asDenied(error: EngineError): EngineError {
  return DENIED.test(error.message) ? new EngineError('denied', error.message, error) : error;
}

const DENIED =
  /no basic auth credentials|unauthori[sz]ed|authentication required|access denied|incorrect username|invalid username|requested access to the resource is denied|insufficient_scope|403 \(?forbidden/i;

/** The engine answers 304 when nothing had to change. */
export function isUnchanged(thrown: unknown): boolean {
  return describe(thrown).statusCode === 304;
}

const BY_TEXT: readonly (readonly [RegExp, EngineFailure])[] = [
  [/no space left on device|disk quota exceeded/i, 'disk'],
  [
    /already in use|already exists|is already used|has active endpoints|has associated containers|in use by|being used by|cannot remove .*running/i,
    'conflict',
  ],
  [
    /no such (container|image|network|volume|exec|object)|not found|does not exist|unable to find|manifest unknown|not known/i,
    'not_found',
  ],
  [
    /invalid (reference|name|container name|argument|port)|names must match|parse error/i,
    'invalid',
  ],
];

const BY_STATUS: Readonly<Record<number, EngineFailure>> = {
  400: 'invalid',
  404: 'not_found',
  409: 'conflict',
  503: 'unavailable',
  507: 'disk',
};

function classify(status: number, message: string): EngineFailure {
  const byText = classifyText(message);
  return byText === 'failed' ? (BY_STATUS[status] ?? 'failed') : byText;
}

function describe(thrown: unknown): { statusCode: number | undefined; message: string } {
  const error = thrown as {
    statusCode?: number;
    message?: string;
    code?: string;
    json?: { message?: string; cause?: string };
  };
  const text = error?.json?.message ?? error?.json?.cause ?? error?.message ?? String(thrown);
  return {
    statusCode: error?.statusCode,
    message:
      String(text)
        .replace(/^\(HTTP code \d+\) .*? - /, '')
        .trim() ||
      (error?.code ?? 'no reason given'),
  };
}

/**
 * Refuses something that has our name but not our labels, because it belongs to another program.
 * @throws EngineError `foreign`
 */
export function assertOurs(
  what: string,
  found: Readonly<Record<string, string>> | null | undefined,
  labels: Readonly<Record<string, string>>,
): void {
  if (Object.entries(labels).every(([key, value]) => found?.[key] === value)) return;
  throw new EngineError(
    'foreign',
    `${what} was not made by this server, and is left alone: rename or remove it`,
  );
}

/** Whether what was asked for is at fault, and not the engine or its disk. */
export const isRefusal = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.kind !== 'unavailable' && error.kind !== 'disk';
