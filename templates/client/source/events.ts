import { ApiError, dataOf, isPassing } from './answers.ts';

/** Milliseconds without a sign of life after which a stream of events counts as dead. */
const SILENCE = 30_000;
/** The longest pause between two attempts to connect again, in milliseconds. */
const LONGEST_PAUSE = 30_000;

/** The events of a socket. Leaving it while an event is waited for ends the subscription too. */
export async function* socketEvents(
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

/** The data of each event, over as many connections as it takes. */
export async function* keptOpen<Data>(
  open: (ended: AbortSignal) => Promise<Response>,
  read: (data: string) => Data,
  signal: AbortSignal | undefined,
  onReconnect: (() => void) | undefined,
): AsyncGenerator<Data> {
  const left = new AbortController();
  const ended = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  let wasOpen = false;
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await open(ended);
        if (wasOpen) onReconnect?.();
        wasOpen = true;
        attempt = 0;
        for await (const { event, data } of eventsOf(response)) {
          if (event === 'complete') return;
          if (event === 'next') yield read(data);
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

async function* eventsOf(response: Response): AsyncGenerator<{ event: string; data: string }> {
  const reader = response.body?.getReader();
  if (!reader) return;
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
    text = events.pop() ?? '';
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
    ended.addEventListener(
      'abort',
      stop(() => reject(ended.reason)),
      { signal },
    );
    if (ended.aborted) stop(() => reject(ended.reason))();
  });
}
