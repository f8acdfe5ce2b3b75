/** Codes of the server, and of this client: no answer, no answer in time. Yours are texts too. */
export type ErrorCode =
  | 'ACCOUNT_LOCKED'
  | 'BAD_REQUEST'
  | 'BAD_USER_INPUT'
  | 'BATCHING_DISABLED'
  | 'BATCH_TOO_LARGE'
  | 'CANCELLED'
  | 'CONFLICT'
  | 'CSRF_REFUSED'
  | 'DATABASE_UNAVAILABLE'
  | 'DOCUMENT_NOT_TRUSTED'
  | 'FORBIDDEN'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'HOST_REFUSED'
  | 'INSUFFICIENT_SCOPE'
  | 'INTERNAL_SERVER_ERROR'
  | 'INVALID_JSON'
  | 'LOCK_LOST'
  | 'METHOD_NOT_ALLOWED'
  | 'NETWORK'
  | 'NOT_ACCEPTABLE'
  | 'NOT_FOUND'
  | 'NOT_IMPLEMENTED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'ORIGIN_REFUSED'
  | 'OUT_OF_RANGE'
  | 'PERSISTED_QUERY_HASH_MISMATCH'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMITED'
  | 'RESULT_TOO_LARGE'
  | 'SLOW_READER'
  | 'TIMEOUT'
  | 'TOO_COSTLY'
  | 'TOO_DEEP'
  | 'TOO_LARGE'
  | 'TOO_MANY_ALIASES'
  | 'TOO_MANY_DIRECTIVES'
  | 'TOO_MANY_ROOT_FIELDS'
  | 'TOO_MANY_TOKENS'
  | 'TRANSACTION_CLOSED'
  | 'TRANSACTION_ISOLATION'
  | 'TRANSACTION_REQUIRED'
  | 'UNAUTHENTICATED'
  | 'UNAVAILABLE'
  | 'UNPROCESSABLE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'WAITING_FOR_LOCK'
  | (string & {});

/** What an error of a GraphQL answer says. */
export interface GraphQLProblem {
  readonly message: string;
  readonly path?: ReadonlyArray<string | number>;
  readonly extensions?: { readonly [key: string]: unknown };
}

/** A request that did not give what was asked for. */
export class ApiError extends Error {
  /** Why: one of the server's codes, 'NETWORK' or 'TIMEOUT'. */
  readonly code: ErrorCode;
  /** The status of the answer; 0 without one. */
  readonly status: number;
  readonly errors: ReadonlyArray<GraphQLProblem>;
  /** What the server could answer in spite of the errors. */
  readonly data: unknown;
  /** The name of the request in the server's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, details: Partial<ApiError> = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = details.status ?? 0;
    this.errors = details.errors ?? [];
    this.data = details.data;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}

/** Lists that have more rows than the answer shows, because the document asks for no page of them. */
export interface CutList {
  /** The keys that lead to it, without the places in the lists around it. */
  readonly path: ReadonlyArray<string>;
  /** The rows that the answer shows. */
  readonly size: number;
  /** How many lists of this path are cut. */
  readonly lists: number;
}

/** The answer to a GraphQL request. */
export interface Result<Data> {
  readonly data: Data | null;
  readonly errors: ReadonlyArray<GraphQLProblem>;
  readonly cut: ReadonlyArray<CutList>;
}

/** Codes of answers that have only a status. */
export const CODES: { readonly [status: number]: ErrorCode } = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE',
  423: 'ACCOUNT_LOCKED',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_SERVER_ERROR',
  501: 'NOT_IMPLEMENTED',
  503: 'UNAVAILABLE',
};

/** The text of an answer that a broken connection may cut off. */
export const bodyOf = (response: Response): Promise<string> =>
  response.text().catch((error: unknown) => {
    throw error instanceof TypeError
      ? new ApiError('NETWORK', 'The answer was cut off', detailsOf(response))
      : error;
  });

/** A JSON object; null for any other text. */
export function jsonOf(text: string): { readonly [key: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as { [key: string]: unknown } | null) : null;
  } catch {
    return null;
  }
}

export type Answer<Data> = Partial<Result<Data>> & { readonly extensions?: Partial<Result<Data>> };

export async function answerOf<Data>(response: Response): Promise<Answer<Data>> {
  const body = jsonOf(await bodyOf(response));
  if (body && ('data' in body || 'errors' in body)) return body as Answer<Data>;
  throw failureOf(response, body);
}

/** The error of an answer that is none of GraphQL. A text that is not JSON may be a proxy's page. */
export function failureOf(
  response: Response,
  body?: { readonly [key: string]: unknown } | null,
): ApiError {
  const { status } = response;
  const other = status < 500 ? 'BAD_REQUEST' : undefined;
  const code = body ? (CODES[status] ?? other) : status === 401 ? CODES[401] : undefined;
  const message = body?.['error'];
  return new ApiError(
    code ?? 'NETWORK',
    typeof message === 'string' ? message : 'The server answered with status ' + status,
    detailsOf(response),
  );
}

export const detailsOf = (response: Response) => ({
  status: response.status,
  requestId: response.headers.get('x-request-id') ?? undefined,
  retryAfter: Number(response.headers.get('retry-after')) || undefined,
});

export function dataOf<Data>({
  data = null,
  errors = [],
  response,
}: Partial<Result<Data>> & { response?: Response }): Data {
  const [first] = errors;
  if (!first) return data as Data;
  const code = (first.extensions?.['code'] ?? 'INTERNAL_SERVER_ERROR') as string;
  throw new ApiError(code, first.message, { ...(response && detailsOf(response)), errors, data });
}

/** Whether another attempt can succeed: no answer, too many requests, or a server that is away. */
export const isPassing = (error: unknown) =>
  error instanceof ApiError &&
  (error.status === 429 || error.status >= 500 || ['NETWORK', 'TIMEOUT'].includes(error.code));
