import { effect, signal } from '@preact/signals';
import { page } from './address.ts';
import { parseExact } from './exact-json.ts';
import { hear, lost, waitFor } from './parts/connection.ts';
import { prove } from './parts/proof.ts';
import { readRefusal } from './parts/refusal-text.ts';

/** How requests say who sends them. */
interface Carrier {
  readonly credentials: RequestCredentials;
  /** The access token to send, or null to send none. */
  token(): Promise<string | null>;
  /** Called after a 401. @returns whether the request may be sent again */
  renew(): Promise<boolean>;
}

/** Without a session of its own, a page sends what the browser has for this server. */
let carrier: Carrier = {
  credentials: 'same-origin',
  token: async () => null,
  renew: async () => false,
};

/** Sends the following requests in the name of a session. */
export function carryWith(session: Carrier): void {
  carrier = session;
}

/** A refusal by the server, with the server's message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The text of the answer. */
  readonly error: string;
  readonly requestId: string | null;
  /** Seconds after which the request may be sent again; undefined when the server does not say. */
  readonly retryAfter: number | undefined;

  constructor(status: number, error: string, requestId: string | null, retryAfter?: number) {
    super(error);
    this.status = status;
    this.error = error;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** The error of a refusal. `answer` is the body, as far as it is JSON. */
export function errorOf(response: Response, answer: unknown): ApiError {
  const { text, requestId, retryAfter } = readRefusal(response, answer);
  return new ApiError(response.status, text, requestId, retryAfter);
}

/** A request of this page, as `Show as curl` lists it. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Headers, besides the content type, that the API reads: `If-Match`, `Accept`. */
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_SENT = 50;

/** The requests of this page, the newest first. One that is sent again and again is listed once. */
export const sent = signal<readonly Sent[]>([]);

/** Lists a request that another part of the page sends itself, such as a stream. */
export function note(request: Sent): void {
  const key = JSON.stringify(request);
  const others = sent.peek().filter((each) => JSON.stringify(each) !== key);
  sent.value = [request, ...others].slice(0, MAX_SENT);
}

/** Empties the list of requests when another page is opened. */
effect(() => {
  void page.value;
  sent.value = [];
});

/**
 * Calls the server as the caller who is signed in. An access token that has ended is renewed once.
 * Where the server wants a proof of who they are, it is asked for and the call is sent again.
 *
 * @throws ApiError when the server refuses
 */
export async function call<Answer = any>(
  method: string,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  try {
    return await read(await request(method, path, body, options));
  } catch (error) {
    if (!isProofMissing(error) || !(await prove())) throw error;
    return read(await request(method, path, body, options));
  }
}

const isProofMissing = (error: unknown) =>
  error instanceof ApiError && error.status === 403 && error.error === 'Reauthentication required';

/**
 * Calls the server for an answer that is read while it arrives.
 *
 * @throws ApiError when the server refuses
 */
export async function callStream(
  method: string,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await request(method, path, body, options);
  return response.ok && response.body ? response.body : read(response);
}

/** Options of a call besides its body. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Reads an answer as text, for another format than JSON. */
export async function callForText(path: string, accept: string): Promise<string> {
  const response = await request('GET', path, undefined, { headers: { Accept: accept } });
  return response.ok ? response.text() : read(response);
}

/** Reads a row, and the version that `If-Match` takes. */
export async function callWithTag(
  path: string,
): Promise<{ readonly data: unknown; readonly tag: string | null }> {
  const response = await request('GET', path, undefined, {});
  return { data: await read(response), tag: response.headers.get('ETag') };
}

/** Sends a request whose answer is not JSON, or is read piece by piece. */
export async function request(
  method: string,
  path: string,
  body: unknown,
  options: CallOptions,
): Promise<Response> {
  note({ method, path, ...(body !== undefined && { body }), headers: options.headers ?? {} });
  const first = await sendWhenAllowed(method, path, body, options);
  if (first.status !== 401 || !(await carrier.renew())) return first;
  options.signal?.throwIfAborted();
  return sendWhenAllowed(method, path, body, options);
}

/** Seconds that a request waits at most when the server says `Too many requests`. */
const LONGEST = 60;

/** Sends. A request that comes too soon waits as long as the server asks, and is sent again. */
async function sendWhenAllowed(...request: Parameters<typeof send>): Promise<Response> {
  for (;;) {
    const response = await sendOrLose(...request);
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
    if (response.status !== 429 || !(seconds <= LONGEST)) return response;
    await waitFor(seconds, request[3].signal);
  }
}

/** Sends a request. If there is no answer, the server counts as lost until it answers again. */
async function sendOrLose(...request: Parameters<typeof send>): Promise<Response> {
  try {
    const response = await send(...request);
    hear();
    return response;
  } catch (error) {
    if (!request[3].signal?.aborted) lost();
    throw error;
  }
}

async function send(method: string, path: string, body: unknown, { signal, headers }: CallOptions) {
  const token = await carrier.token();
  return fetch(new URL(path, location.origin), {
    method,
    credentials: carrier.credentials,
    headers: {
      Accept: 'application/json',
      ...(body !== undefined && !isForm(body) && { 'Content-Type': 'application/json' }),
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm(body) ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
}

/** A form with a file is sent as it is. */
const isForm = (body: unknown): body is FormData => body instanceof FormData;

async function read(response: Response): Promise<any> {
  const text = await response.text();
  const answer = text === '' ? null : parse(text);
  if (response.ok) return answer;
  throw errorOf(response, answer);
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}
