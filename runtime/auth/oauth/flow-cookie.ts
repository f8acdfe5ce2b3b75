import { createHash } from 'node:crypto';
import type { Context as KoaContext } from 'koa';
import type { UserId } from '../base/ids.ts';
import { type Keys, sameText, seal, unseal } from '../secrets/keys.ts';
import { MINUTE } from '../base/time.ts';
import { setCookie } from '../base/cookie.ts';
import { clearCookie, isHostOnly } from './browser-mark.ts';
import type { FlowSecrets } from './grant.ts';
import { isSecure, postsForm, type Provider } from './providers.ts';

/** One flow of one browser tab, as its sealed cookie holds it. */
export interface Flow extends FlowSecrets {
  readonly provider: string;
  readonly returnTo: string | null;
  /** The signed-in user who links the provider; null for a sign-in. */
  readonly linkUser: UserId | null;
  /** The application's PKCE challenge, which the exchange compares with `code_verifier`. */
  readonly codeChallenge: string | null;
  readonly startedAt: number;
}

const FLOW_LIFETIME = 10 * MINUTE;
const MAX_FLOWS = 5;
const FLOW_COOKIE_NAME = /^(?:__Host-)?oauth_[0-9a-f]{8}$/;

/**
 * Writes each flow into a separate cookie, so that two tabs do not disturb each other. When there
 * are more than five, the oldest are deleted.
 */
export function writeFlow(keys: Keys, koa: KoaContext, provider: Provider, flow: Flow): void {
  const flows = readFlows(keys, koa).sort(
    (left, right) => right.flow.startedAt - left.flow.startedAt,
  );
  for (const { name } of flows.slice(MAX_FLOWS - 1)) clearCookie(koa, name);
  const name = cookieName(flow.state, isSecure(provider));
  const value = seal(keys.derived('oauth-flow'), JSON.stringify(flow), name);
  // A form of another site comes with it, and browsers ask such a cookie to be `Secure`, which a
  // loopback address is to them.
  const crossSite = postsForm(provider);
  setCookie(koa, name, value, {
    life: FLOW_LIFETIME,
    secure: crossSite || isHostOnly(name),
    sameSite: crossSite ? 'None' : 'Lax',
  });
}

/** Returns the flow of a state in this browser, and deletes its cookie in any case. */
export function takeFlow(
  keys: Keys,
  koa: KoaContext,
  secure: boolean,
  state: string,
  now: number,
): Flow | null {
  const name = cookieName(state, secure);
  const found = readFlows(keys, koa).find((each) => each.name === name);
  if (!found) return null;
  clearCookie(koa, name);
  return sameText(found.flow.state, state) && now - found.flow.startedAt <= FLOW_LIFETIME
    ? found.flow
    : null;
}

function cookieName(state: string, secure: boolean): string {
  return `${secure ? '__Host-' : ''}oauth_${createHash('sha256').update(state).digest('hex').slice(0, 8)}`;
}

function readFlows(keys: Keys, koa: KoaContext): { readonly name: string; readonly flow: Flow }[] {
  return koa
    .get('Cookie')
    .split(';')
    .flatMap((pair) => {
      const [name = '', value = ''] = pair.trim().split('=');
      const text = FLOW_COOKIE_NAME.test(name)
        ? unseal(keys.derivedAll('oauth-flow'), value, name)
        : null;
      return text === null ? [] : [{ name, flow: JSON.parse(text) as Flow }];
    });
}
