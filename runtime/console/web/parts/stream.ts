import { freshToken, renewOrAsk } from '../session.ts';
import { note } from '../call.ts';
import { lost } from './connection.ts';
import { createFrameReader, type StreamEvent } from './event-frames.ts';
import { readRefusal, refusalText } from './refusal-text.ts';

/**
 * The state of a stream. `reconnecting`: the server cannot be reached, failed, or asked to wait, and
 * is asked again. `ended`: no more events come. `refused`: the server refused, with a reason.
 */
export type StreamState = 'connecting' | 'open' | 'reconnecting' | 'ended' | 'refused';

/** Functions that a stream calls. */
export interface StreamHandlers {
  /** Called with all events of one chunk together, so that the page is drawn once for them. */
  onEvents(events: readonly StreamEvent[]): void;
  /** `error` is the server's text while it refuses or fails. */
  onState(state: StreamState, error: string | null): void;
  /** Whether the stream is over when the server ends it. Otherwise it is continued. */
  readonly ends?: boolean;
}

/** Milliseconds between two tries: a page goes on within 3 s of the server's return. */
const WAITS: readonly number[] = [250, 500];
const LONGEST_WAIT = 1000;
/**
 * Milliseconds without a byte after which the connection counts as dead: servers send a comment
 * each 15 s.
 */
const SILENCE = 40_000;

/**
 * Milliseconds after which a page that is not seen gives its connection back. A browser opens six to
 * one HTTP/1.1 server for all tabs together, and a seventh tab would load nothing.
 */
const UNSEEN = 5_000;

/**
 * Follows server-sent events with `fetch`, because `EventSource` sends no `Authorization`. When the
 * connection breaks, it continues after the last id. Returns a function that closes the stream.
 *
 * @example
 * const close = openStream('/api/system/logs?limit=100', { onEvents: show, onState: tell });
 */
export function openStream(path: string, handlers: StreamHandlers): () => void {
  const leaving = new AbortController();
  note({ method: 'GET', path, headers: { Accept: 'text/event-stream' } });
  void follow(path, handlers, leaving.signal);
  return () => leaving.abort();
}

interface Position {
  id: string;
  tries: number;
}

async function follow(path: string, handlers: StreamHandlers, signal: AbortSignal): Promise<void> {
  const position: Position = { id: '', tries: 0 };
  handlers.onState('connecting', null);
  while (!signal.aborted) {
    await untilSeen(signal);
    const watch = watchPage(signal);
    const next = await once(path, position, handlers, watch.signal).catch(() => {
      if (watch.signal.aborted) return { wait: 0, error: null };
      lost();
      return { wait: nextWait(position), error: null };
    });
    watch.end();
    if (next === null || signal.aborted) return;
    handlers.onState('reconnecting', next.error);
    await pause(next.wait, signal);
  }
}

const nextWait = (position: Position): number => WAITS[position.tries++] ?? LONGEST_WAIT;

/** After how many milliseconds to ask again, and what the server said if it failed. */
interface NextTry {
  readonly wait: number;
  readonly error: string | null;
}

/** @returns null when there is nothing more to ask. */
async function once(
  path: string,
  position: Position,
  handlers: StreamHandlers,
  signal: AbortSignal,
): Promise<NextTry | null> {
  const response = await ask(path, position.id, signal);
  if (response.status === 429 || response.status >= 500) {
    const wait = Math.max(retryAfter(response), nextWait(position));
    return { wait, error: await refusalOf(response) };
  }
  if (!response.ok || !response.body) {
    handlers.onState('refused', await refusalOf(response));
    return null;
  }
  handlers.onState('open', null);
  position.tries = 0;
  await readAll(response.body, signal, (events) => {
    position.id = events.at(-1)?.id || position.id;
    handlers.onEvents(events);
  });
  if (!handlers.ends) return { wait: nextWait(position), error: null };
  handlers.onState('ended', null);
  return null;
}

async function ask(path: string, lastId: string, signal: AbortSignal): Promise<Response> {
  const send = async () => {
    const token = await freshToken();
    return fetch(new URL(path, location.origin), {
      credentials: 'omit',
      cache: 'no-store',
      signal,
      headers: {
        Accept: 'text/event-stream',
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(lastId !== '' && { 'Last-Event-ID': lastId }),
      },
    });
  };
  const first = await send();
  return first.status === 401 && (await renewOrAsk()) ? send() : first;
}

/** Milliseconds that the server asks to wait; 0 when it does not say. */
const retryAfter = (response: Response): number =>
  (Number(response.headers.get('Retry-After')) || 0) * 1000;

async function refusalOf(response: Response): Promise<string> {
  return refusalText(readRefusal(response, await response.json().catch(() => null)));
}

async function readAll(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
  onEvents: (events: StreamEvent[]) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const read = createFrameReader();
  for (;;) {
    const { done, value } = await withinSilence(reader);
    signal.throwIfAborted();
    if (done) return;
    const events = read(value);
    if (events.length > 0) onEvents(events);
  }
}

/** A signal that aborts with `leaving`, or when the page was not seen for `UNSEEN`. */
function watchPage(leaving: AbortSignal): { readonly signal: AbortSignal; end(): void } {
  const unseen = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => unseen.abort(), UNSEEN);
  };
  look();
  document.addEventListener('visibilitychange', look);
  const end = () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  };
  return { signal: AbortSignal.any([leaving, unseen.signal]), end };
}

/** Waits until the page is seen, or until the stream is left. */
function untilSeen(leaving: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !leaving.aborted) return;
      document.removeEventListener('visibilitychange', look);
      leaving.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    leaving.addEventListener('abort', look);
    look();
  });
}

/** A machine that was suspended does not notice that its connection is gone, so silence ends it. */
async function withinSilence(reader: ReadableStreamDefaultReader<string>) {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), SILENCE);
  try {
    return await reader.read();
  } finally {
    clearTimeout(timer);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
