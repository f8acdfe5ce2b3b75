import { createHash } from 'node:crypto';
import type { Context as KoaContext } from 'koa';
import { digest, randomToken, type UserId } from '../ids.ts';
import { type Keys, sameText } from '../keys.ts';
import { ONE_TIME_LIFE } from '../one-time-tokens.ts';
import { seal, unseal } from '../seal.ts';
import { MINUTE, SECOND } from '../time.ts';
import type { FlowSecrets } from './grant.ts';

/** One flow of one browser tab, as its sealed cookie holds it. */
export interface Flow extends FlowSecrets {
  readonly provider: string;
  readonly returnTo: string | null;
  /** The signed-in user who links the provider. */
  readonly linkUser: UserId | null;
  readonly startedAt: number;
}

const LIFE = 10 * MINUTE;
const KEPT = 5;
const NAME = /^(?:__Host-)?oauth_[0-9a-f]{8}$/;

/** Writes a flow into a cookie of its own, so that two tabs do not disturb each other; of more than five the oldest go. */
export function writeFlow(keys: Keys, koa: KoaContext, secure: boolean, flow: Flow): void {
  const flows = readFlows(keys, koa).sort(
    (left, right) => right.flow.startedAt - left.flow.startedAt,
  );
  for (const { name } of flows.slice(KEPT - 1)) clearCookie(koa, name);
  const name = cookieName(flow.state, secure);
  const value = seal(keys.derived('oauth-flow'), JSON.stringify(flow), name);
  koa.append(
    'Set-Cookie',
    `${name}=${value}; Max-Age=${LIFE / SECOND}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  );
}

/** The flow that a state belongs to, in this browser; its cookie is gone after this, whatever comes. */
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

/** Marks the browser that asked for a ticket to link a provider, for the ticket's minute. @returns what the ticket keeps of it. */
export function writeBrowser(koa: KoaContext, secure: boolean): string {
  const mark = randomToken(16);
  koa.append(
    'Set-Cookie',
    `${browserName(secure)}=${mark}; Max-Age=${ONE_TIME_LIFE.link / SECOND}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  );
  return digest(mark);
}

/** Whether this is the browser that a ticket was given to; its mark is gone after this. */
export function isBrowser(koa: KoaContext, secure: boolean, kept: unknown): boolean {
  const mark = koa.cookies.get(browserName(secure));
  if (mark === undefined) return false;
  clearCookie(koa, browserName(secure));
  return typeof kept === 'string' && sameText(kept, digest(mark));
}

const browserName = (secure: boolean) => `${secure ? '__Host-' : ''}oauth_link`;

function cookieName(state: string, secure: boolean): string {
  return `${secure ? '__Host-' : ''}oauth_${createHash('sha256').update(state).digest('hex').slice(0, 8)}`;
}

function clearCookie(koa: KoaContext, name: string): void {
  koa.append(
    'Set-Cookie',
    `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax${name.startsWith('__Host-') ? '; Secure' : ''}`,
  );
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
