import type { FrontEnd } from './operation.ts';

/** The functions of the client that send requests and read answers. */
export function clientRequests({ send, server }: Pick<FrontEnd, 'send' | 'server'>): string {
  const signsIn = server.delivery !== null;
  const { about, post } = SENDING[send];
  const asking = ASK.replace('@ABOUT@', about)
    .replace('@PATH@', JSON.stringify(server.graphql).replaceAll('"', "'"))
    .replace('@POST@', post);
  return REQUESTS.replace('@RENEW@', signsIn ? RENEW_BEFORE : '')
    .replace('@SEND@', signsIn ? SEND_WITH_TOKEN : SEND)
    .replace('@ASK@', asking)
    .replace('@SIGNIN@', signsIn ? MEMBERS : '')
    .replace('@EXTENSIONS@', send === 'text' ? '' : EXTENSIONS);
}

/** The parts of a request that name a document, for each way of sending it. */
const SENDING: Readonly<
  Record<FrontEnd['send'], { readonly about: string; readonly post: string }>
> = {
  text: {
    about: 'Asks for a document by its text.',
    post: String.raw`    return post({ query: textOf(document) });
`,
  },
  'hash-only': {
    about: 'Asks for a document by its hash.',
    post: String.raw`    return post({ documentId: 'sha256:' + hashIn(document) });
`,
  },
  hash: {
    about:
      'Asks for a document by its hash, and with its text if the server does not know the hash.',
    post: String.raw`    const documentId = 'sha256:' + hashIn(document);
    const response = await post({ documentId });
    if (response.status !== 400) return response;
    const isUnknown = (await bodyOf(response.clone())).includes('PERSISTED_QUERY_NOT_FOUND');
    return isUnknown ? post({ documentId, query: textOf(document) }) : response;
`,
  },
};

const RENEW_BEFORE = String.raw`/** The login is renewed when its token has less than this left, in milliseconds. */
const RENEW_BEFORE = 10_000;
`;

const SEND = String.raw`  const send = call;

`;

const SEND_WITH_TOKEN = String.raw`  const sessions = createSessions(origin, options, call);

  /** Sends a request with the token, and once more with a new token if the answer is a 401. */
  async function send(url: URL, init: RequestInit): Promise<Response> {
    const token = await sessions.token();
    const response = await call(url, init, token);
    if (response.status !== 401 || init.body instanceof ReadableStream) return response;
    const session = await sessions.renew(token);
    if (!session) return response;
    await response.body?.cancel();
    return call(url, init, session.accessToken);
  }

`;

const ASK = String.raw`  /** @ABOUT@ */
  async function ask(
    document: TypedDocument<unknown, never>,
    variables: unknown,
    { accept, ...given }: CallOptions & { accept: string },
  ): Promise<Response> {
    const headers = new Headers(given.headers);
    headers.set('accept', accept);
    headers.set('content-type', 'application/json');
    const post = (body: object) =>
      send(new URL(@PATH@, origin), {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...body, variables }),
        signal: given.signal ?? null,
      });
@POST@  }
`;

const MEMBERS = String.raw`    signIn: sessions.signIn,
    continueSignIn: sessions.continueSignIn,
    signOut: sessions.signOut,
    get session() {
      return sessions.current();
    },
`;

const EXTENSIONS = String.raw`  extensions: { persistedQuery: { version: 1, sha256Hash: hashIn(document) } },
`;

const REQUESTS = String.raw`@RENEW@/** Milliseconds without a sign of life after which a stream of events counts as dead. */
const SILENCE = 30_000;
/** The longest pause between two attempts to connect again, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** Codes of answers that have only a status. */
const CODES: { readonly [status: number]: ErrorCode } = {
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

/**
 * Makes a client of the server.
 *
 *     const api = createClient({ url: 'https://api.example.com' });
 *     const { posts } = await api.request(PostsDocument, { limit: 20 });
 */
export function createClient(options: ClientOptions): Client {
  const { origin } = new URL(options.url);
  const call = createCall(origin, options);
  options.socket?.on?.('connected', (_socket, _payload, wasRetry) => {
    if (wasRetry) options.onReconnect?.();
  });
@SEND@@ASK@  async function result<Data>(
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

  async function request<Data>(
    document: TypedDocument<Data, never>,
    variables?: unknown,
    given?: CallOptions,
  ): Promise<Data> {
    return dataOf(await result(document, variables, given));
  }

  /** One connection for events. A hash that the server does not know is refused as JSON. */
  async function open(
    document: TypedDocument<unknown, never>,
    variables: unknown,
    signal: AbortSignal,
  ): Promise<Response> {
    const accept = 'text/event-stream';
    const response = await ask(document, variables, { accept, signal });
    if (response.headers.get('content-type')?.startsWith(accept)) return response;
    dataOf({ ...(await answerOf(response)), response });
    throw failureOf(response);
  }

  async function* subscribe<Data>(
    document: TypedDocument<Data, never>,
    variables?: unknown,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Data> {
    if (options.socket) {
      signal?.throwIfAborted();
      const events = options.socket.iterate(payloadOf(document, variables));
      for await (const event of socketEvents(events, signal)) yield dataOf(event as Result<Data>);
      return signal?.throwIfAborted();
    }
    const left = new AbortController();
    const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
    let wasOpen = false;
    try {
      for (let attempt = 0; ; attempt++) {
        try {
          const response = await open(document, variables, ended);
          if (wasOpen) options.onReconnect?.();
          wasOpen = true;
          attempt = 0;
          for await (const { event, data } of eventsOf(response)) {
            if (event === 'complete') return;
            if (event === 'next') yield dataOf(JSON.parse(data) as Result<Data>);
          }
        } catch (error) {
          if (ended.aborted || !isPassing(error)) throw error;
        }
        await pause(attempt, ended);
      }
    } finally {
      left.abort();
    }
  }

  async function fetchRoute(path: string | URL, init: RequestInit = {}): Promise<Response> {
    const url = new URL(path, origin);
    if (url.origin !== origin) throw new TypeError(url.origin + ' is not the server of this client');
    return inTime(options, init.signal, async (signal) => {
      const response = await send(url, { ...init, signal });
      if (response.status < 400) return response;
      throw failureOf(response, jsonOf(await bodyOf(response)));
    });
  }

  return {
    request,
    result: async (...given: Parameters<typeof result>) => {
      const { response: _response, ...answer } = await result(...given);
      return answer;
    },
    subscribe,
    fetch: fetchRoute,
    queryOptions: (document: TypedDocument<unknown, never>, variables?: unknown) => ({
      queryKey: [nameOf(document), variables],
      queryFn: ({ signal }: { signal: AbortSignal }) => request(document, variables, { signal }),
    }),
@SIGNIN@  } as Client;
}

/** Sends one request, and nothing to any other place: a redirect is an error. */
type Call = (url: URL | string, init: RequestInit, token?: string) => Promise<Response>;

function createCall(origin: string, options: ClientOptions): Call {
  return async (path, init, token) => {
    const given = options.headers;
    const headers = new Headers(typeof given === 'function' ? await given() : given);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    if (token && !headers.has('authorization')) headers.set('authorization', 'Bearer ' + token);
    const fetcher = options.fetch ?? fetch;
    try {
      return await fetcher(new URL(path, origin), { redirect: 'error', ...init, headers });
    } catch (error) {
      throw init.signal?.aborted ? error : new ApiError('NETWORK', 'The server cannot be reached');
    }
  };
}

/** Ends what takes too long: an answer may stop half-way, after its headers. */
async function inTime<Done>(
  { timeout = 30_000 }: ClientOptions,
  given: AbortSignal | null | undefined,
  run: (signal: AbortSignal) => Promise<Done>,
): Promise<Done> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeout);
  try {
    return await run(given ? AbortSignal.any([given, late.signal]) : late.signal);
  } catch (error) {
    throw late.signal.aborted && !given?.aborted
      ? new ApiError('TIMEOUT', 'The server did not answer in time')
      : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The text of an answer that a broken connection may cut off. */
const bodyOf = (response: Response): Promise<string> =>
  response.text().catch((error: unknown) => {
    throw error instanceof TypeError
      ? new ApiError('NETWORK', 'The answer was cut off', detailsOf(response))
      : error;
  });

/** A JSON object; null for any other text. */
function jsonOf(text: string): { readonly [key: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as { [key: string]: unknown } | null) : null;
  } catch {
    return null;
  }
}

type Answer<Data> = Partial<Result<Data>> & { readonly extensions?: Partial<Result<Data>> };

async function answerOf<Data>(response: Response): Promise<Answer<Data>> {
  const body = jsonOf(await bodyOf(response));
  if (body && ('data' in body || 'errors' in body)) return body as Answer<Data>;
  throw failureOf(response, body);
}

/** The error of an answer that is none of GraphQL. A text that is not JSON may be a proxy's page. */
function failureOf(response: Response, body?: { readonly [key: string]: unknown } | null): ApiError {
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

const detailsOf = (response: Response) => ({
  status: response.status,
  requestId: response.headers.get('x-request-id') ?? undefined,
  retryAfter: Number(response.headers.get('retry-after')) || undefined,
});

function dataOf<Data>({
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
const isPassing = (error: unknown) =>
  error instanceof ApiError &&
  (error.status === 429 || error.status >= 500 || ['NETWORK', 'TIMEOUT'].includes(error.code));

/** The events of a socket. Leaving it while an event is waited for ends the subscription too. */
async function* socketEvents(
  events: AsyncIterableIterator<unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown> {
  const stop = () => void events.return?.();
  signal?.addEventListener('abort', stop);
  try {
    yield* events;
  } catch (error) {
    // 'graphql-ws' throws the errors of a refused document, or the event of a closed socket.
    if (Array.isArray(error)) dataOf({ errors: error });
    const isRefused = (error as { code?: unknown } | null)?.code === 4403;
    throw new ApiError(isRefused ? 'UNAUTHENTICATED' : 'NETWORK', 'The socket was closed');
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

async function* eventsOf(response: Response): AsyncGenerator<{ event: string; data: string }> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const timer = setTimeout(() => void reader.cancel(), SILENCE);
    const { done, value } = await reader
      .read()
      .catch(() => ({ done: true, value: undefined }))
      .finally(() => clearTimeout(timer));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const events = text.split('\n\n');
    text = events.pop()!;
    for (const each of events) {
      const { event = '', data = '' } = Object.fromEntries(
        each.split('\n').map((line) => line.split(/: ?(.*)/s)),
      ) as { event?: string; data?: string };
      yield { event, data };
    }
  }
}

/** Waits before the next attempt: 1, 2, 4 … 30 s, less some chance; shorter if the page is online again. */
function pause(attempt: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const longest = Math.min(LONGEST_PAUSE, 1000 * 2 ** attempt);
    const target = globalThis as unknown as EventTarget;
    const listening = new AbortController();
    const stop = (end: () => void) => () => {
      clearTimeout(timer);
      listening.abort();
      end();
    };
    const timer = setTimeout(stop(resolve), longest * (1 - Math.random() / 2));
    const { signal } = listening;
    target.addEventListener?.('online', stop(resolve), { signal });
    ended.addEventListener('abort', stop(() => reject(ended.reason)), { signal });
    if (ended.aborted) stop(() => reject(ended.reason))();
  });
}

const payloadOf = (document: TypedDocument<unknown, never>, variables: unknown) => ({
  query: textOf(document),
  variables: variables as Record<string, unknown>,
@EXTENSIONS@});
`;
