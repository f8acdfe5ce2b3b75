import type { RequestContext } from './request-context.ts';

/** The request that a credential reads. */
export interface CredentialRequest extends Pick<RequestContext, 'headers' | 'ip'> {
  readonly method: string;
  readonly path: string;
}

/** A user whom a credential has recognised. */
export interface Credentialed {
  readonly userId: number | string;
  /** The value of `auth_method`; `own` when absent. */
  readonly method?: string;
  /** The permissions of the request. They replace those of the user's role. */
  readonly scopes?: readonly string[];
  /** Whether the browser adds it by itself: changes then need an `Origin` of the project. */
  readonly cookie?: boolean;
}

/**
 * A way to sign in a request, asked before Bearer and X-API-Key. `undefined`: the request is none
 * of its own. `null` or a throw: 401.
 */
export type Credential<Context = RequestContext> = (
  request: CredentialRequest,
  ctx: Context,
) => Answer | Promise<Answer>;

type Answer = Credentialed | null | undefined;
