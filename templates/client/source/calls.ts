import { ApiError } from './answers.ts';

/** What 'fetch' takes as headers. */
export type GivenHeaders = NonNullable<RequestInit['headers']>;

/** Where requests go, and how. */
export interface CallSettings {
  /** The server's origin: 'https://api.example.com'. */
  readonly url: string;
  /** Headers of each request, or a function that gives them. */
  readonly headers?: GivenHeaders | (() => GivenHeaders | Promise<GivenHeaders>) | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds until a request without an answer counts as failed. */
  readonly timeout?: number | undefined;
}

/** Sends one request, and nothing to any other place: a redirect is an error. */
export type Call = (url: URL | string, init: RequestInit, token?: string) => Promise<Response>;

export function createCall(origin: string, options: CallSettings): Call {
  // Who has written then reads what it wrote, from whichever replica.
  let written: string | null = null;
  return async (path, init, token) => {
    const given = options.headers;
    const headers = new Headers(typeof given === 'function' ? await given() : given);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    if (token && !headers.has('authorization')) headers.set('authorization', 'Bearer ' + token);
    if (written) headers.set('read-after', written);
    const fetcher = options.fetch ?? fetch;
    try {
      const answer = await fetcher(new URL(path, origin), { redirect: 'error', ...init, headers });
      written = answer.headers.get('read-after') ?? written;
      return answer;
    } catch (error) {
      throw init.signal?.aborted ? error : new ApiError('NETWORK', 'The server cannot be reached');
    }
  };
}

/** Ends what takes too long: an answer may stop half-way, after its headers. */
export async function inTime<Done>(
  { timeout = 30_000 }: CallSettings,
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
