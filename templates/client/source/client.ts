import { answerOf, dataOf, failureOf, jsonOf, bodyOf, type Result } from './answers.ts';
import { type Call, type CallSettings, createCall, type GivenHeaders, inTime } from './calls.ts';
import { keptOpen, socketEvents } from './events.ts';
import { payloadOf, postDocument } from './send-hash.ts';
import { createSession, type SessionMembers, type SessionOptions } from './session.ts';
import { nameOf, type TypedDocument } from './typed-document.ts';

/** The part of a client of 'graphql-ws' that subscriptions use. */
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

export interface ClientOptions extends CallSettings, SessionOptions {
  /** A client of 'graphql-ws' for subscriptions, in place of server-sent events. */
  readonly socket?: SocketClient | undefined;
  /** A subscription is connected again; what happened in between was not delivered. */
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

export interface Client extends SessionMembers {
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
}

/**
 * Makes a client of the server.
 *
 *     const api = createClient({ url: 'https://api.example.com' });
 *     const { posts } = await api.request(PostsDocument, { limit: 20 });
 */
export function createClient(options: ClientOptions): Client {
  const { origin } = new URL(options.url);
  const { send, members } = createSession(origin, options, createCall(origin, options));
  const ask = createAsk(origin, send);
  options.socket?.on?.('connected', (_socket, _payload, wasRetry) => {
    if (wasRetry) options.onReconnect?.();
  });

  async function answered<Data>(
    document: TypedDocument<Data, never>,
    variables?: unknown,
    given?: CallOptions,
  ): Promise<Result<Data> & { response: Response }> {
    const accept = 'application/graphql-response+json, application/json';
    return inTime(options, given?.signal, async (signal) => {
      const response = await ask(document, variables, { ...given, accept, signal });
      const { data = null, errors = [], extensions } = await answerOf<Data>(response);
      return { data, errors, cut: extensions?.cut ?? [], response };
    });
  }

  const request = async (...given: Parameters<typeof answered>) => dataOf(await answered(...given));
  return Object.assign(members, {
    request,
    async result(...given: Parameters<typeof answered>) {
      const { response: _response, ...answer } = await answered(...given);
      return answer;
    },
    subscribe: createSubscribe(options, ask),
    async fetch(path: string | URL, init: RequestInit = {}) {
      const url = new URL(path, origin);
      if (url.origin !== origin)
        throw new TypeError(url.origin + ' is not the server of this client');
      return inTime(options, init.signal, async (signal) => {
        const response = await send(url, { ...init, signal });
        if (response.status < 400) return response;
        throw failureOf(response, jsonOf(await bodyOf(response)));
      });
    },
    queryOptions: (document: TypedDocument<unknown, never>, variables?: unknown) => ({
      queryKey: [nameOf(document), variables] as [string, never],
      queryFn: ({ signal }: { signal: AbortSignal }) => request(document, variables, { signal }),
    }),
  }) as Client;
}

type Ask = (
  document: TypedDocument<unknown, never>,
  variables: unknown,
  given: CallOptions & { readonly accept: string },
) => Promise<Response>;

const createAsk =
  (origin: string, send: Call): Ask =>
  (document, variables, { accept, ...given }) => {
    const headers = new Headers(given.headers);
    headers.set('accept', accept);
    headers.set('content-type', 'application/json');
    return postDocument(document, (body) =>
      send(new URL('/graphql', origin), {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...body, variables }),
        signal: given.signal ?? null,
      }),
    );
  };

const createSubscribe = ({ socket, onReconnect }: ClientOptions, ask: Ask) =>
  async function* subscribe<Data>(
    document: TypedDocument<Data, never>,
    variables?: unknown,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Data> {
    if (socket) {
      signal?.throwIfAborted();
      const given = variables as Record<string, unknown>;
      const events = socket.iterate({ ...payloadOf(document), variables: given });
      for await (const event of socketEvents(events, signal)) yield dataOf(event as Result<Data>);
      return signal?.throwIfAborted();
    }
    /** One connection. A hash that the server does not know is refused as JSON. */
    async function open(ended: AbortSignal): Promise<Response> {
      const accept = 'text/event-stream';
      const response = await ask(document, variables, { accept, signal: ended });
      if (response.headers.get('content-type')?.startsWith(accept)) return response;
      dataOf({ ...(await answerOf(response)), response });
      throw failureOf(response);
    }
    const read = (data: string) => dataOf(JSON.parse(data) as Result<Data>);
    yield* keptOpen(open, read, signal, onReconnect);
  };
