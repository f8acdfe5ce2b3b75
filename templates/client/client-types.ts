import { ERROR_CODES } from './error-codes.ts';
import type { ServerPaths } from './operation.ts';

/** The types that the file of the client exports. */
export function clientTypes({ delivery }: ServerPaths): string {
  const signsIn = delivery !== null;
  return [
    ERRORS,
    signsIn && SESSIONS,
    OPTIONS.replace('@STORAGE@', signsIn ? STORAGE : '')
      .replace('@ONSIGNOUT@', signsIn ? ON_SIGN_OUT : '')
      .replace('@MEMBERS@', signsIn ? MEMBERS : ''),
  ]
    .filter(Boolean)
    .join('');
}

const ERRORS = String.raw`/** Codes of the server, and of this client: no answer, no answer in time. Yours are texts too. */
export type ErrorCode =
${ERROR_CODES}
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

`;

const SESSIONS = String.raw`/** The login object: the user, and the tokens of the session. */
export interface Session {
  readonly id: string | number;
  readonly email: string;
  readonly accessToken: string;
  /** Unix time in seconds. */
  readonly exp: number;
  readonly refreshToken?: string;
  readonly [key: string]: unknown;
}

/** What is left to do before a sign-in is done; 'continueSignIn' answers it. */
export interface SignInStep {
  readonly next: 'second_factor' | 'enroll_second_factor' | 'change_password' | 'email_code';
  readonly ticket: string;
  readonly methods?: ReadonlyArray<'totp' | 'passkey' | 'recovery_code'>;
  readonly expires_in: number;
}

/** A place for a text of this client. */
export interface Store {
  get(): string | null | undefined | Promise<string | null | undefined>;
  set(text: string): unknown;
  remove(): unknown;
}

`;

const STORAGE = `  /** Where the session is kept. */
  readonly storage?: 'local' | 'memory' | Store | undefined;
`;

const ON_SIGN_OUT = `  /** The session has ended, here or in another tab. */
  readonly onSignOut?: (() => void) | undefined;
`;

const MEMBERS = `  signIn(body: Readonly<Record<string, unknown>>): Promise<Session | SignInStep>;
  /** Answers the step that 'signIn' left: '{ code }', '{ recovery_code }', '{ new_password }' … */
  continueSignIn(body: Readonly<Record<string, unknown>>): Promise<Session | SignInStep>;
  /** Ends the session on the server, and forgets it in every tab. */
  signOut(): Promise<void>;
  /** The login object; null if nobody is signed in. */
  readonly session: Session | null;
`;

const OPTIONS = String.raw`/** The part of a client of 'graphql-ws' that subscriptions use. */
export interface SocketClient {
  iterate(payload: {
    query: string;
    variables?: Record<string, unknown>;
    extensions?: Record<string, unknown>;
  }): AsyncIterableIterator<unknown>;
  on?(
    event: 'connected',
    listener: (socket: unknown, payload: unknown, wasRetry: boolean) => void,
  ): unknown;
}

/** What 'fetch' takes as headers. */
export type GivenHeaders = NonNullable<RequestInit['headers']>;

export interface ClientOptions {
  /** The server's origin: 'https://api.example.com'. */
  readonly url: string;
  /** Headers of each request, or a function that gives them. */
  readonly headers?: GivenHeaders | (() => GivenHeaders | Promise<GivenHeaders>) | undefined;
  readonly fetch?: typeof fetch | undefined;
@STORAGE@  /** A client of 'graphql-ws' for subscriptions, in place of server-sent events. */
  readonly socket?: SocketClient | undefined;
  /** Milliseconds until a request without an answer counts as failed. */
  readonly timeout?: number | undefined;
@ONSIGNOUT@  /** A subscription is connected again; what happened in between was not delivered. */
  readonly onReconnect?: (() => void) | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: GivenHeaders | undefined;
}

/** Variables may be left out when the document requires none. */
type Given<Variables, Options> = {} extends Variables
  ? [variables?: Variables, options?: Options]
  : [variables: Variables, options?: Options];

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

export interface Client {
  /** The data of a document. Throws an 'ApiError' if the answer has errors. */
  request<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...given: Given<Variables, CallOptions>
  ): Promise<Data>;
  /** The same with its errors, and the lists that are cut. Throws only if there was no GraphQL answer. */
  result<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...given: Given<Variables, CallOptions>
  ): Promise<Result<Data>>;
  /** The data of each event, until the server completes or the loop is left. */
  subscribe<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...given: Given<Variables, { readonly signal?: AbortSignal | undefined }>
  ): AsyncIterableIterator<Data>;
  /** As 'fetch', for other routes of the server: with the token, and an 'ApiError' from status 400. */
  fetch(path: string | URL, init?: RequestInit): Promise<Response>;
  /** For TanStack Query. */
  queryOptions<Data, Variables>(
    document: TypedDocument<Data, Variables>,
    ...given: Given<Variables, never>
  ): {
    queryKey: [name: string, variables: Variables | undefined];
    queryFn: (context: { signal: AbortSignal }) => Promise<Data>;
  };
@MEMBERS@}
`;
