import { AppError, ConfigError } from '../errors.ts';
import { addressOf } from './postgres/address.ts';

/** Reasons why a database cannot be used, by the code of the system or of PostgreSQL (SQLSTATE). */
const POSTGRES: Readonly<Record<string, (place: ServerAddress) => string>> = {
  ECONNREFUSED: ({ at }) => `nothing listens at ${at}: start PostgreSQL, or correct the address`,
  ENOTFOUND: ({ host }) => `there is no host ${host}: correct the address`,
  EAI_AGAIN: ({ host }) => `the host ${host} could not be looked up: is the network there?`,
  ETIMEDOUT: ({ at }) => `${at} does not answer: is the address right, and open to this machine?`,
  EHOSTUNREACH: ({ at }) => `${at} cannot be reached from this machine`,
  ECONNRESET: ({ at }) => `${at} closed the connection: is it PostgreSQL that listens there?`,
  '28P01': ({ user, at }) => `the password of ${user} at ${at} is wrong`,
  '25006': ({ at }) =>
    `${at} takes no writes: it is a replica, or being changed for another server`,
  '28000': ({ user, at, mode }) =>
    `${at} does not let ${user} in (sslmode=${mode}): see its pg_hba.conf`,
  '3D000': ({ name, at }) => `there is no database ${name} at ${at}: createdb ${name}`,
  '53300': ({ at }) => `${at} has no free connection: raise max_connections, or run fewer servers`,
  '57P03': ({ at }) => `${at} is starting up or shutting down: try again in a moment`,
};

/** Failures of TLS, by the code of Node or of ours. Waiting does not change them. */
const TLS: readonly (readonly [RegExp, string])[] = [
  [/ALTNAME/, 'the certificate is for another name than the host of the address'],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, 'the certificate is out of date'],
  [/^TLS_NOT_OFFERED$/, 'TLS is refused: the server offers none'],
  [
    /VERIFY|SELF_SIGNED|ISSUER|^CERT_|INVALID_CA/,
    'the certificate is by no CA that is trusted: set DATABASE_CA or sslrootcert',
  ],
  [/^(ERR_SSL|ERR_TLS|EPROTO|ERR_OSSL)/, 'TLS is refused'],
];
/** PostgreSQL's code of a server that takes no writes. */
export const READ_ONLY = '25006';

export const refusesWrites = () =>
  Object.assign(new Error('the server takes no writes'), { code: READ_ONLY });

/** `errcode` of `node:sqlite`, see "Result and Error Codes" of SQLite. */
const SQLITE_REASONS: Readonly<Record<number, string>> = {
  8: 'the file can be read and not written',
  14: 'the file cannot be opened',
  26: 'the file is no SQLite database',
};

const FILE_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system can only be read',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a part of its path is a file',
};

/** The parts of an address that may be shown. The password is never one of them. */
interface ServerAddress {
  readonly host: string;
  readonly at: string;
  readonly user: string;
  readonly name: string;
  readonly mode: string;
}

/**
 * Explains in one line why the database at `url` cannot be used; undefined for any other error.
 *
 * @example
 * unreachable(error, 'postgres://app:…@db:5432/shop');
 * // ConfigError: DATABASE_URL: nothing listens at db:5432: start PostgreSQL, or correct the address
 */
export function unreachable(error: unknown, url: string): ConfigError | undefined {
  const problem = url.startsWith('postgres') ? postgresProblem(error, url) : fileProblem(error);
  if (problem === undefined) return undefined;
  const place = url.startsWith('postgres') ? '' : ` (${url})`;
  return new ConfigError([`DATABASE_URL${place}: ${problem}`]);
}

/** What is known of a write: not done, or on its way when the connection was lost. */
export type LostOutcome = 'none' | 'unknown';

/**
 * The database does not answer. Without an outcome, only the caller knows what else it has done.
 */
export class DatabaseLost extends AppError {
  readonly outcome: LostOutcome | undefined;
  /** Whether the same work may succeed at once, because only a connection was lost. */
  readonly again: boolean;

  constructor(outcome: LostOutcome | undefined, cause: unknown, again = false) {
    super(503, 'DATABASE_UNAVAILABLE', 'The database does not answer: try again', {
      cause,
      headers: { 'Retry-After': '1' },
      ...(outcome && { extensions: { outcome } }),
    });
    this.outcome = outcome;
    this.again = again;
  }

  /** The same loss, with what is known of all the work that it ended. */
  said(outcome: LostOutcome): DatabaseLost {
    return new DatabaseLost(outcome, this.cause);
  }
}

const LOST =
  /is not queryable|^timeout expired$|Connection terminated|terminating connection|write EPIPE/;

/** The explanation of a connection that ended while rows were moved; undefined for other errors. */
export const lostConnection = (error: unknown): ConfigError | undefined =>
  error instanceof Error && LOST.test(String(error.cause ?? error.message))
    ? new ConfigError([
        'a database closed the connection in the middle, so no rows were written: run it again when the database answers',
      ])
    : undefined;

/** Codes that waiting does not change: a wrong password, rule or name. */
const LASTING: ReadonlySet<string> = new Set(['28P01', '28000', '3D000']);

/** A pooler answers before its database does. */
const POOLER_WAITS = /login has been failing|server conn crashed|connect failed|query_wait_timeout/;

/** Whether a database may answer in a moment that does not answer now. */
export function isNotYet(error: unknown): boolean {
  const cause = error instanceof DatabaseLost ? error.cause : error;
  return (
    (codeOf(cause) in POSTGRES && !LASTING.has(codeOf(cause))) ||
    (cause instanceof Error && (LOST.test(cause.message) || POOLER_WAITS.test(cause.message)))
  );
}

function postgresProblem(error: unknown, url: string): string | undefined {
  const code = codeOf(error);
  const place = placeOf(url);
  const refused = TLS.find(([codes]) => codes.test(code))?.[1];
  if (refused === undefined) return POSTGRES[code]?.(place);
  return `${place.at}: ${refused} (${code}, sslmode=${place.mode})`;
}

/** The code of an error. When several addresses were tried together, the code of the first one. */
function codeOf(error: unknown): string {
  if (error instanceof DatabaseLost) return codeOf(error.cause);
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  return String(code ?? (errors?.[0] as { code?: unknown } | undefined)?.code ?? '');
}

function placeOf(url: string): ServerAddress {
  const { places, user = 'the user', database = '?', mode } = addressOf(url);
  const at = places.map(({ host, port }) => `${host}:${port}`).join(', ');
  return { host: places.map(({ host }) => host).join(', '), at, user, name: database, mode };
}

function fileProblem(error: unknown): string | undefined {
  const { errcode } = error as { errcode?: number };
  // The low byte is the primary result code.
  if (errcode !== undefined) return SQLITE_REASONS[errcode & 0xff];
  return FILE_REASONS[codeOf(error)];
}

/** PostgreSQL's codes of what its own limits for statements, locks and idle transactions have ended. */
const OUT_OF_TIME: ReadonlySet<unknown> = new Set(['57014', '55P03', '25P03']);

/** The answer to a statement that a time limit of PostgreSQL has ended; undefined for other errors. */
export function endedByLimit(error: unknown): AppError | undefined {
  const { code, severity } = (error ?? {}) as {
    readonly code?: unknown;
    readonly severity?: unknown;
  };
  if (severity === undefined || !OUT_OF_TIME.has(code)) return undefined;
  return new AppError(503, 'TIMEOUT', 'The database ended what took too long', { cause: error });
}
