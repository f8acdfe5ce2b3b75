import { createHash } from 'node:crypto';
import type { Context as KoaContext } from 'koa';
import { digest, type UserId } from '../base/ids.ts';
import { sameText } from '../secrets/keys.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import type { AuthState } from '../state.ts';
import type { Amr } from '../sessions/sessions.ts';
import type { AuthMethod } from '../base/tables.ts';
import { type BrowserMark, isMarked, markBrowser } from './browser-mark.ts';
import type { Flow } from './flow-cookie.ts';
import { isSecure, type Provider } from './providers.ts';

/**
 * The client that may exchange a code: the one that knows the verifier of `challenge` (RFC 7636),
 * or else the browser with the mark.
 */
type Holder = { readonly challenge: string } | { readonly browser: BrowserMark };

/**
 * Creates the code that the browser carries back to the application. The code is bound to its
 * holder: a code from a log or a `Referer` header is of no use, and an attacker cannot sign a page
 * in as another user (RFC 9700 section 4.7).
 */
export function issueCode(
  auth: AuthState,
  koa: KoaContext,
  { provider, flow, userId }: { provider: Provider; flow: Flow; userId: UserId },
): Promise<string> {
  return issueReturnCode(auth, koa, {
    userId,
    method: `oauth:${provider.name}`,
    challenge: flow.codeChallenge,
    mark: flow.state,
    secure: isSecure(provider),
  });
}

/** A sign-in whose result an application fetches with a code. */
export interface ReturnCode {
  readonly userId: UserId;
  readonly method: AuthMethod;
  readonly challenge: string | null;
  /** A part of the cookie's name. It differs for each flow, so that two tabs do not interfere. */
  readonly mark: string;
  readonly secure: boolean;
  /** What the user has proved already, if more than an identity of a provider. */
  readonly amr?: readonly Amr[];
}

/** Creates a code for `POST /api/oauth/exchange`, bound to its holder. */
export async function issueReturnCode(
  auth: AuthState,
  koa: KoaContext,
  { userId, method, challenge, mark, secure, amr }: ReturnCode,
): Promise<string> {
  const holder: Holder = challenge
    ? { challenge }
    : {
        browser: markBrowser(koa, {
          name: `oauth_code_${digest(mark).slice(0, 8)}`,
          secure,
          life: ONE_TIME_LIFETIME.oauth_code,
        }),
      };
  return auth.oneTime.issue(auth.db, 'oauth_code', userId, {
    data: { method, holder, ...(amr && { amr }) },
    newestOnly: false,
  });
}

/**
 * Redeems a code. An attempt by a wrong holder also uses the code up.
 *
 * @throws AppError 400 `Invalid or expired token`
 */
export async function redeemCode(
  auth: AuthState,
  koa: KoaContext,
  { code, code_verifier: verifier }: { code: string; code_verifier?: string },
): Promise<Pick<ReturnCode, 'userId' | 'method' | 'amr'>> {
  const { userId, data } = await auth.oneTime.consume(auth.db, 'oauth_code', code);
  const { method, holder, amr } = data as {
    method: AuthMethod;
    holder?: Holder;
    amr?: readonly Amr[];
  };
  if (!holder || !isHolder(koa, holder, verifier)) throw invalidToken();
  return { userId, method, ...(amr && { amr }) };
}

/**
 * A verifier without a challenge at the start is refused, because an attacker may have removed the
 * challenge (RFC 9700 section 2.1.1).
 */
function isHolder(koa: KoaContext, holder: Holder, verifier: string | undefined): boolean {
  if ('browser' in holder) return isMarked(koa, holder.browser) && verifier === undefined;
  return verifier !== undefined && sameText(holder.challenge, challengeOf(verifier));
}

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
