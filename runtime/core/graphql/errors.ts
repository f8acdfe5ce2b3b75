import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Logger } from '../config/log.ts';
import { AppError, InternalError } from '../errors.ts';
import { toFailure } from '../data/write/database-failure.ts';

/** The request that an error belongs to, and the log for details that the caller may not see. */
export interface Audience {
  readonly requestId: string;
  readonly log: Logger;
}

const MASKED = 'Internal server error';

/**
 * An error in the form of the answer: message, location, path and `extensions.code`. Details that
 * the caller may not see are masked and logged with the request id.
 */
export function formatError(error: GraphQLError, audience: Audience): GraphQLFormattedError {
  const { message, extensions } = expose(error, audience);
  return {
    message,
    ...(error.locations && { locations: error.locations }),
    ...(error.path && { path: error.path }),
    extensions,
  };
}

interface Exposed {
  readonly message: string;
  readonly extensions: Record<string, unknown>;
}

function expose(error: GraphQLError, audience: Audience): Exposed {
  const cause = rootCause(error);
  const failure = toFailure(cause);
  if (failure)
    return { message: failure.message, extensions: { code: failure.code, ...failure.extensions } };
  if (cause instanceof WrongResult) return maskWrong(cause, error, audience);
  if (isGraphqlError(cause) && (hasCode(cause) || !(error.path || THROWN.has(cause))))
    return {
      message: cause.message,
      extensions: { code: requestCode(cause), ...cause.extensions },
    };
  if (isNullError(cause)) {
    audience.log.warn({ requestId: audience.requestId, path: error.path }, cause.message);
    return { message: cause.message, extensions: { code: 'INTERNAL_SERVER_ERROR' } };
  }
  return mask(cause, error, audience);
}

/** Errors of plugin hooks. Like the errors of a document they have no path. */
const THROWN = new WeakSet<object>();

/**
 * Marks an error that a plugin's hook threw: a GraphQLError without a code is then masked and logged,
 * as that of a resolver is.
 */
export function thrownByHook(error: unknown): unknown {
  const cause = rootCause(error);
  if (isGraphqlError(cause)) THROWN.add(cause);
  return error;
}

function mask(cause: unknown, error: GraphQLError, { requestId, log }: Audience): Exposed {
  log.error(
    { requestId, path: error.path, stack: cause instanceof Error ? cause.stack : String(cause) },
    'resolver failed',
  );
  return { message: MASKED, extensions: { code: 'INTERNAL_SERVER_ERROR', requestId } };
}

/**
 * A resolver of the project returned a value that does not fit its type: an error of the server,
 * whatever the request was.
 */
export class WrongResult extends InternalError {
  /** `Query.search`. */
  readonly coordinate: string;

  constructor(coordinate: string, what: string, options?: ErrorOptions) {
    super(`${coordinate} returned what its type is not: ${what}`, options);
    this.coordinate = coordinate;
  }
}

function maskWrong(
  wrong: WrongResult,
  { path }: GraphQLError,
  { requestId, log }: Audience,
): Exposed {
  log.error(
    { requestId, path, coordinate: wrong.coordinate, reason: wrong.message },
    'wrong result',
  );
  return { message: MASKED, extensions: { code: 'INTERNAL_SERVER_ERROR', requestId } };
}

/**
 * The error that was thrown originally, which graphql-js wraps once for each level. An error with
 * its own code is meant for the caller and is returned as it is.
 */
export function rootCause(error: unknown): unknown {
  let cause: unknown = error;
  while (isGraphqlError(cause) && cause.originalError) {
    const { originalError } = cause;
    if (hasCode(cause) && cause.extensions !== extensionsOf(originalError)) return cause;
    cause = originalError;
  }
  return cause;
}

/** A wrapper of graphql-js has the same `extensions` object as the error inside it. */
const extensionsOf = (error: object) => ('extensions' in error ? error.extensions : undefined);

const hasCode = ({ extensions }: GraphQLError) => typeof extensions['code'] === 'string';

/** This message of the executor contains only the name of a field, so the caller may see it. */
const isNullError = (cause: unknown): cause is Error =>
  cause instanceof Error && /^Cannot return null for non-nullable field /.test(cause.message);

/** The code of an error about the document or its variables, which has no path. */
const requestCode = ({ message }: GraphQLError): string =>
  message.startsWith('Syntax Error') ? 'GRAPHQL_PARSE_FAILED' : 'BAD_USER_INPUT';

/** A project may throw a GraphQLError of its own copy of `graphql`, a different class than ours. */
export const isGraphqlError = (value: unknown): value is GraphQLError =>
  value instanceof Error && (value as Partial<GraphQLError>)[Symbol.toStringTag] === 'GraphQLError';

/** Converts any thrown value to a GraphQL error. */
export function toGraphqlError(thrown: unknown): GraphQLError {
  if (isGraphqlError(thrown)) return thrown;
  const original =
    thrown instanceof Error ? thrown : new AppError(500, 'INTERNAL_SERVER_ERROR', String(thrown));
  return new GraphQLError(original.message, { originalError: original });
}

/** A field that the project has not written yet. */
export const notImplemented = (coordinate: string) =>
  new AppError(
    501,
    'NOT_IMPLEMENTED',
    `${coordinate} is not implemented yet: write it in src/resolvers/${coordinate.split('.')[0]}.ts and run npm run generate`,
    { extensions: { coordinate } },
  );
