import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError, call } from '../call.ts';

/** An answer on its way, there, or refused. */
export interface Called<Answer> {
  readonly data: Answer | undefined;
  readonly error: string | null;
  readonly loading: boolean;
  reload(): void;
}

/** Reads a path while its component is shown, and again when the path changes. Null: reads nothing. */
export function useCall<Answer>(path: string | null): Called<Answer> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Omit<Called<Answer>, 'reload'>>(WAITING);
  useEffect(() => {
    if (path === null) return;
    const leaving = new AbortController();
    setState(({ data }) => ({ data, error: null, loading: true }));
    call<Answer>('GET', path, undefined, { signal: leaving.signal }).then(
      (data) => leaving.signal.aborted || setState({ data, error: null, loading: false }),
      (error: unknown) =>
        leaving.signal.aborted ||
        setState({ data: undefined, error: textOf(error), loading: false }),
    );
    return () => leaving.abort();
  }, [path, round]);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  return { ...state, reload };
}

const WAITING = { data: undefined, error: null, loading: true };

function textOf(error: unknown): string {
  if (!(error instanceof ApiError)) return 'The server does not answer';
  return error.requestId === null ? error.error : `${error.error} (request ${error.requestId})`;
}
