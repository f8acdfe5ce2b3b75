import { createHash } from 'node:crypto';
import type { Context as KoaContext } from 'koa';
import type { UserId } from '../ids.ts';
import { type Keys, sameText } from '../keys.ts';
import { seal, unseal } from '../seal.ts';
import { MINUTE } from '../time.ts';
import { clearCookie, setCookie } from './browser-mark.ts';
import type { FlowSecrets } from './grant.ts';

/** One flow of one browser tab, as its sealed cookie holds it. */
export interface Flow extends FlowSecrets {
  readonly provider: string;
  readonly returnTo: string | null;
  /** The signed-in user who links the provider. */
  readonly linkUser: UserId | null;
  /** What the application's `code_verifier` is compared with in the exchange. */
  readonly codeChallenge: string | null;
  readonly startedAt: number;
}

const LIFE = 10 * MINUTE;
const KEPT = 5;
const NAME = /^(?:__Host-)?oauth_[0-9a-f]{8}$/;

/**
 * Writes a flow into a cookie of its own, so that two tabs do not disturb each other; of more than
 * five the oldest go.
 */
export function writeFlow(keys: Keys, koa: KoaContext, secure: boolean, flow: Flow): void {
  const flows = readFlows(keys, koa).sort(
    (left, right) => right.flow.startedAt - left.flow.startedAt,
  );
  for (const { name } of flows.slice(KEPT - 1)) clearCookie(koa, name);
  const name = cookieName(flow.state, secure);
  const value = seal(keys.derived('oauth-flow'), JSON.stringify(flow), name);
  setCookie(koa, name, value, LIFE);
}

/**
 * The flow that a state belongs to, in this browser; its cookie is gone after this, whatever comes.
 */
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
  return sameText(found.flow.state, state) && now - found.flow.startedAt <= LIFE
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
      const text = NAME.test(name) ? unseal(keys.derivedAll('oauth-flow'), value, name) : null;
      return text === null ? [] : [{ name, flow: JSON.parse(text) as Flow }];
    });
}
