import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { StreamEvent } from './event-frames.ts';
import { openStream, type StreamState } from './stream.ts';

/** A stream that a component follows. */
export interface Streamed {
  readonly state: StreamState;
  /** The server's text when it refused or failed. */
  readonly error: string | null;
  /** Opens the stream again from its beginning. */
  again(): void;
}

/**
 * Follows server-sent events while its component is shown, with the caller's token and from the last
 * event on after each break. A new path is a new stream; null is none. `onEvents` gets all events
 * that came together, so that many of them cost one drawing.
 *
 * @example
 * const { state, error, again } = useStream(`/api/apps/${name}/events`, (events) => {
 *   for (const { event, data } of events) show(event, JSON.parse(data));
 * });
 *
 * @param options `ends`: a stream that the server ends is over, as a build log is.
 */
export function useStream(
  path: string | null,
  onEvents: (events: readonly StreamEvent[]) => void,
  { ends = false }: { readonly ends?: boolean } = {},
): Streamed {
  const [round, setRound] = useState(0);
  const [current, setCurrent] = useState<Omit<Streamed, 'again'>>(WAITING);
  const latest = useRef(onEvents);
  latest.current = onEvents;
  useEffect(() => {
    if (path === null) return;
    return openStream(path, {
      ends,
      onEvents: (events) => latest.current(events),
      onState: (state, error) => setCurrent({ state, error }),
    });
  }, [path, round, ends]);
  const again = useCallback(() => setRound((last) => last + 1), []);
  return { ...current, again };
}

const WAITING = { state: 'connecting', error: null } as const;
