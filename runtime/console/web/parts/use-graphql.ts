import { graphqlPath } from '../address.ts';
import { type Called, useCall } from './use-call.ts';

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
  const body = JSON.stringify({ query, variables });
  const { data: answer, error, ...rest } = useCall<GraphqlAnswer<Data>>(graphqlPath, { body });
  const refused = answer?.errors?.[0]?.message ?? null;
  return { ...rest, data: answer?.data ?? undefined, error: error ?? refused };
}
