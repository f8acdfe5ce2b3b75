/**
 * The codes of errors that a server sends, by `extensions.code` or by their status: the union
 * `ErrorCode` of the client. A code of the runtime that is missing here fails a test.
 */
export const SERVER_CODES: readonly string[] = [
  'ACCOUNT_LOCKED',
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'BATCHING_DISABLED',
  'BATCH_TOO_LARGE',
  'CANCELLED',
  'CONFLICT',
  'CSRF_REFUSED',
  'DATABASE_UNAVAILABLE',
  'DOCUMENT_NOT_TRUSTED',
  'FORBIDDEN',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'HOST_REFUSED',
  'INSUFFICIENT_SCOPE',
  'INTERNAL_SERVER_ERROR',
  'INVALID_JSON',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'NOT_FOUND',
  'NOT_IMPLEMENTED',
  'OPERATION_RESOLUTION_FAILURE',
  'ORIGIN_REFUSED',
  'OUT_OF_RANGE',
  'PERSISTED_QUERY_HASH_MISMATCH',
  'PERSISTED_QUERY_NOT_FOUND',
  'PRECONDITION_FAILED',
  'RATE_LIMITED',
  'RESULT_TOO_LARGE',
  'SLOW_READER',
  'TIMEOUT',
  'TOO_COSTLY',
  'TOO_DEEP',
  'TOO_LARGE',
  'TOO_MANY_ALIASES',
  'TOO_MANY_DIRECTIVES',
  'TOO_MANY_ROOT_FIELDS',
  'TOO_MANY_TOKENS',
  'TRANSACTION_CLOSED',
  'TRANSACTION_ISOLATION',
  'UNAUTHENTICATED',
  'UNAVAILABLE',
  'UNPROCESSABLE',
  'UNSUPPORTED_MEDIA_TYPE',
  'WAITING_FOR_LOCK',
];

/** The codes that the client itself adds: no answer, and none in time. */
const CLIENT_CODES = ['NETWORK', 'TIMEOUT'];

/** The members of the union, one a line. */
export const ERROR_CODES = [...new Set([...SERVER_CODES, ...CLIENT_CODES])]
  .toSorted()
  .map((code) => `  | '${code}'`)
  .join('\n');
