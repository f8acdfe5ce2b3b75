/** What a code in an answer means, and what the caller or the owner of the server can do. */
export interface ErrorCode {
  readonly code: string;
  readonly status: number;
  readonly cause: string;
  readonly cure: string;
}

const row = (code: string, status: number, cause: string, cure: string): ErrorCode => ({
  code,
  status,
  cause,
  cure,
});

/** Every code of an error that a server answers a request with. */
export const errorCodes: readonly ErrorCode[] = [
  row(
    'BAD_REQUEST',
    400,
    'the request is not what the endpoint reads',
    'correct what the message names',
  ),
  row(
    'BAD_USER_INPUT',
    400,
    'a value breaks a rule of its field: too long, not an e-mail address, not in the list',
    'correct the value; the message names it',
  ),
  row(
    'BATCHING_DISABLED',
    400,
    'the body is a list of operations',
    'send one operation a request, or set `api.limits.batch`',
  ),
  row(
    'BATCH_TOO_LARGE',
    400,
    'the list has more operations than the server takes',
    'send fewer, or raise `api.limits.batch`',
  ),
  row(
    'DOCUMENT_NOT_TRUSTED',
    400,
    'the server answers only the documents of its list, and this one is not on it',
    'run `npm run generate` where the front end is, and deploy the list',
  ),
  row(
    'INVALID_JSON',
    400,
    'the body is not JSON',
    'correct it at the place that the message names',
  ),
  row(
    'OUT_OF_RANGE',
    400,
    'a number does not fit into its column',
    'send a number in the range of the type',
  ),
  row(
    'PERSISTED_QUERY_NOT_FOUND',
    400,
    'the server does not know the hash of an automatic persisted query',
    'send the query with its hash once; clients do this themselves',
  ),
  row(
    'TOO_COSTLY',
    400,
    'the operation could read more rows than the limit',
    'ask for smaller pages, or raise the limit: [limits](/graphql/limits)',
  ),
  row(
    'TOO_DEEP',
    400,
    'the operation or the JSON nests deeper than the limit',
    'ask for fewer levels, or raise the limit: [limits](/graphql/limits)',
  ),
  row(
    'UNAUTHENTICATED',
    401,
    'there is no credential, or it is wrong or has expired',
    'sign in again, or refresh the access token',
  ),
  row(
    'FORBIDDEN',
    403,
    'the caller is known and may not do this',
    'use an account with the right to it, or change the rule: [access](/graphql/access)',
  ),
  row(
    'INSUFFICIENT_SCOPE',
    403,
    'the token or the API key lacks the scope',
    'ask for the scope that the answer names',
  ),
  row(
    'NOT_FOUND',
    404,
    'there is no such route or row, or the caller may not see the row',
    'check the address and the id, and who is signed in',
  ),
  row('METHOD_NOT_ALLOWED', 405, 'the path takes other methods', 'use one of the header `Allow`'),
  row(
    'NOT_ACCEPTABLE',
    406,
    'the server has no answer of the type in `Accept`',
    'accept `application/json` or `application/graphql-response+json`',
  ),
  row(
    'CANCELLED',
    409,
    'another call ended the work that this one waited for',
    'look at the state, then start again if it is still wanted',
  ),
  row(
    'CONFLICT',
    409,
    'the row exists already, or it changed meanwhile, or other rows refer to it',
    'read the row again, then decide',
  ),
  row(
    'PRECONDITION_FAILED',
    412,
    'the row is not in the version that `If-Match` names',
    'read it again and send its new version',
  ),
  row(
    'TOO_LARGE',
    413,
    'the body has more bytes than the limit',
    'send less, or raise `server.body_limit`',
  ),
  row(
    'UNSUPPORTED_MEDIA_TYPE',
    415,
    'the body has another type than the endpoint reads',
    'send `Content-Type: application/json`',
  ),
  row('BUILD_FAILED', 422, 'the image of an app could not be built', 'read the log of the build'),
  row(
    'IMAGE_UNAVAILABLE',
    422,
    'the image of an app could not be pulled',
    'check its name, and the password of its registry',
  ),
  row(
    'UNPROCESSABLE',
    422,
    'the request can be read and cannot be done',
    'do what the message says',
  ),
  row(
    'ACCOUNT_LOCKED',
    423,
    'too many wrong passwords',
    'wait for the time in `Retry-After`, or reset the password',
  ),
  row(
    'RATE_LIMITED',
    429,
    'too many requests in a short time',
    'wait for the time in `Retry-After`',
  ),
  row(
    'INTERNAL_SERVER_ERROR',
    500,
    'a fault in the server or in your code; the caller sees no detail',
    'find the id of the request in the log',
  ),
  row(
    'MIGRATION_FAILED',
    500,
    'a statement of a migration failed; it was rolled back',
    'mend the migration: the message has the statement',
  ),
  row(
    'MODEL_FAILED',
    502,
    'a language model did not start, or ended',
    'read the log of the model: it is often memory',
  ),
  row(
    'NOT_READY',
    502,
    'the new version of an app does not answer its probe',
    'read the log of the app; the old version still runs',
  ),
  row(
    'OAUTH_PROVIDER_ERROR',
    502,
    'the provider of the sign-in gave no usable answer',
    'check its settings, then try again',
  ),
  row(
    'SLOW_READER',
    503,
    'the client reads events more slowly than they come',
    'connect again and read on',
  ),
  row('STOPPED', 503, 'the server is stopping', 'try again: another process answers'),
  row(
    'UNAVAILABLE',
    503,
    'something that the answer needs cannot be reached, as the database',
    'wait for the time in `Retry-After`; `/health` says what is missing',
  ),
  row('DISK_FULL', 507, 'there is too little free disk space', 'make room, then try again'),
];
