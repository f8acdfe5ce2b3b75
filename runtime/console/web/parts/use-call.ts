import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, call } from '../call.ts';
import { t } from '../messages.ts';
import { returns } from './connection.ts';
import { refusalText } from './refusal-text.ts';

/** An answer on its way, there, or refused. */
export interface Called<Answer> {
  /** The last answer. It stays while the next is on its way, and when that is refused. */
  readonly data: Answer | undefined;
  /** The server's message when it refused the call. */
  readonly error: string | null;
  readonly loading: boolean;
  /** Calls again. */
  reload(): void;
}

interface CallSettings<Answer> {
  /** Milliseconds after which it is asked again, while the tab is seen; the last answer may say it. */
  readonly every?: number | null | ((last: Answer | undefined) => number);
  /** Sent by POST, as JSON. */
  readonly body?: string;
}

/**
 * Reads a path while its component is shown: again when the path changes, when `reload` is called,
 * after `every`, and once the server is back after it was gone. Null reads nothing.
 *
 * @example
 * const apps = useCall<{ apps: App[] }>(can('apps:read') ? '/api/apps' : null, { every: 5000 });
 */
export function useCall<Answer>(
  path: string | null,
  { every = null, body }: CallSettings<Answer> = {},
): Called<Answer> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<State<Answer>>(WAITING);
  const back = returns.value;
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    if (path === null) return setState(IDLE);
    const leaving = new AbortController();
    const { signal } = leaving;
    setState((last) => waitingAfter(last, path));
    call<Answer>(body ? 'POST' : 'GET', path, body && JSON.parse(body), { signal }).then(
      (data) => signal.aborted || setState({ of: path, data, error: null, loading: false }),
      (error: unknown) =>
        signal.aborted ||
        setState((last) => ({ ...last, error: failureText(error), loading: false })),
    );
    return () => leaving.abort();
  }, [path, body, round, back]);
  const pause = typeof every === 'function' ? every(state.data) : every;
  useEffect(() => {
    if (path === null || pause === null || state.loading) return;
    const timer = setTimeout(() => document.hidden || reload(), pause);
    document.addEventListener('visibilitychange', reload);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', reload);
    };
  }, [path, pause, state.loading]);
  return { data: state.data, error: state.error, loading: state.loading, reload };
}

interface State<Answer> {
  readonly of: string | null;
  readonly data: Answer | undefined;
  readonly error: string | null;
  readonly loading: boolean;
}

const WAITING = { of: null, data: undefined, error: null, loading: true };
const IDLE = { of: null, data: undefined, error: null, loading: false };

/**
 * The state while a call runs. With another sort or page of the same path, the old rows stay
 * visible; with another path they do not.
 */
function waitingAfter<Answer>(last: State<Answer>, path: string): State<Answer> {
  const same = last.of !== null && pathnameOf(last.of) === pathnameOf(path);
  return { ...last, data: same ? last.data : undefined, error: null, loading: true };
}

const pathnameOf = (path: string) => path.split('?')[0];

/**
 * The text of a failure: the server's message, when to try again, and the id of the request.
 *
 * @example failureText(error) // 'Not found (request 01J…)'
 */
export function failureText(error: unknown): string {
  if (!(error instanceof ApiError)) return t('The server does not answer');
  const { error: text, requestId, retryAfter } = error;
  return refusalText({ text, requestId, retryAfter });
}
