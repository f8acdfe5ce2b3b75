import { useCallback, useEffect, useState } from 'preact/hooks';
import { graphqlPath } from '../address.ts';
import { call } from '../call.ts';
import { returns } from './connection.ts';
import { type Called, failureText } from './use-call.ts';

interface GraphqlAnswer<Data> {
  readonly data?: Data | null;
  readonly errors?: readonly { readonly message: string }[];
}

/**
 * Runs a GraphQL query while its component is shown: again when it or its variables change, and once
 * the server is back after it was gone.
 *
 * @example const { data } = useGraphql<{ posts: Post[] }>('{ posts { id title } }');
 */
export function useGraphql<Data>(
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Called<Data> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Omit<Called<Data>, 'reload'>>(WAITING);
  const body = JSON.stringify({ query, variables });
  const back = returns.value;
  useEffect(() => {
    const leaving = new AbortController();
    setState(({ data }) => ({ data, error: null, loading: true }));
    const settle = (next: Omit<Called<Data>, 'reload'>) => leaving.signal.aborted || setState(next);
    call<GraphqlAnswer<Data>>('POST', graphqlPath, JSON.parse(body), {
      signal: leaving.signal,
    }).then(
      ({ data, errors = [] }) =>
        settle({ data: data ?? undefined, error: errors[0]?.message ?? null, loading: false }),
      (error: unknown) => settle({ data: undefined, error: failureText(error), loading: false }),
    );
    return () => leaving.abort();
  }, [body, round, back]);
  const reload = useCallback(() => setRound((last) => last + 1), []);
  return { ...state, reload };
}

const WAITING = { data: undefined, error: null, loading: true };
