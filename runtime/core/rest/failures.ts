import { AppError, failure } from '../errors.ts';
import { DatabaseRefusal, toFailure } from '../data/write/database-failure.ts';
import { isGraphqlError, rootCause } from '../graphql/errors.ts';

/** Statuses for codes that user code sets on its own errors. */
const STATUSES: Readonly<Record<string, number>> = {
  BAD_USER_INPUT: 400,
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  NOT_IMPLEMENTED: 501,
  INTERNAL_SERVER_ERROR: 500,
};

/**
 * Converts an error of an operation for REST: to a failure with a status, or to the original error,
 * which the boundary masks.
 */
export function failureOf(error: unknown): unknown {
  const cause = rootCause(error);
  const known = toFailure(cause);
  if (known) return known;
  if (!isGraphqlError(cause)) return cause;
  const given = cause.extensions['code'];
  // An error with a path and without a code was thrown by a resolver of the project, and not for
  // the caller.
  if (typeof given !== 'string' && isGraphqlError(error) && error.path) return cause;
  const code = typeof given === 'string' ? given : 'BAD_USER_INPUT';
  return new AppError(STATUSES[code] ?? 400, code, cause.message, { cause });
}

/**
 * The error of a failed request. Generated routes answer `{"error": message}` and nothing else, so
 * the list of all wrong fields, which routes of the project and GraphQL show, is left out.
 */
export function restFailure(error: unknown, method: string): unknown {
  const known = statusOfRelation(error, method);
  if (!(known instanceof AppError) || known.extensions['errors'] === undefined) return known;
  const { status, code, message, headers } = known;
  return new AppError(status, code, message, { headers, cause: known });
}

/**
 * The error of a foreign key: on DELETE the row is still referred to, else the row that it refers
 * to does not exist.
 */
function statusOfRelation(error: unknown, method: string): unknown {
  const known = failureOf(error);
  if (known instanceof DatabaseRefusal && method !== 'GET')
    return failure.unprocessable(known.message, { cause: known });
  if (!(known instanceof AppError) || known.extensions['reason'] !== 'RELATION') return known;
  if (method === 'DELETE') return failure.conflict('a related row is still in use');
  return failure.unprocessable(
    known.extensions['field'] === undefined ? 'a related row does not exist' : known.message,
  );
}
