import type { Context as KoaContext } from 'koa';
import type { UserId } from '../base/ids.ts';
import { pagesPath } from '../mails/links.ts';
import type { AuthState } from '../state.ts';
import type { Caller } from '../base/caller.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { setCookie } from '../base/cookie.ts';
import { withParameter } from '../sign-in/redirect.ts';
import { clearCookie } from './browser-mark.ts';
import type { Flow } from './flow-cookie.ts';
import type { Identity } from './identity.ts';
import { joinWithConsent } from './linking.ts';
import { issueReturnCode } from './return-code.ts';

/** A provider that would be linked to an existing account. The user of the account is asked. */
export interface Consent {
  readonly userId: UserId;
  readonly identity: Identity;
  /** Where the sign-in ends, with a code. */
  readonly target: string;
  /** The address that the flow asked for; null if it is the one of the configuration. */
  readonly returnTo: string | null;
  readonly codeChallenge: string | null;
  /** A part of the name of the code's cookie, as in `ReturnCode`. */
  readonly mark: string;
  readonly secure: boolean;
}

/** A flow that waits for the user's consent. */
export interface Question {
  readonly userId: UserId;
  readonly identity: Identity;
  readonly flow: Flow;
  readonly target: string;
  /** Whether the callback of the provider is https. */
  readonly secure: boolean;
}

/**
 * Keeps an identity until its user has agreed, and returns the path of the page that asks. The
 * token is in a cookie, so that only the browser of the flow can answer, and not in the address.
 */
export async function askConsent(
  auth: AuthState,
  koa: KoaContext,
  { userId, identity, flow, target, secure }: Question,
): Promise<string> {
  const { returnTo, codeChallenge, state: mark } = flow;
  const data = { identity, target, returnTo, codeChallenge, mark, secure };
  const token = await auth.oneTime.issue(auth.db, 'consent', userId, {
    data,
    newestOnly: false,
  });
  setCookie(koa, cookieName(auth), token, {
    life: ONE_TIME_LIFETIME.consent,
    secure: auth.config.secureCookies,
  });
  return auth.model.pages === false ? target : `${pagesPath(auth.model.pages)}/consent`;
}

/** The question that this browser has to answer. @throws AppError 400 when there is none. */
export async function readConsent(auth: AuthState, koa: KoaContext): Promise<Consent> {
  const { userId, data } = await auth.oneTime.peek(auth.db, 'consent', tokenOf(auth, koa));
  return { ...(data as unknown as Omit<Consent, 'userId'>), userId };
}

/**
 * Takes the question, which can be answered only once. Of two answers at the same time one fails.
 * @throws AppError 400.
 */
export async function takeConsent(auth: AuthState, koa: KoaContext): Promise<Consent> {
  const token = tokenOf(auth, koa);
  clearCookie(koa, cookieName(auth));
  const { userId, data } = await auth.oneTime.consume(auth.db, 'consent', token);
  return { ...(data as unknown as Omit<Consent, 'userId'>), userId };
}

/**
 * Links the provider, and returns where the sign-in goes on: the target of the flow with a code,
 * as without the question.
 *
 * @throws AppError 400, 409 like `joinWithConsent`
 */
export async function giveConsent(
  auth: AuthState,
  koa: KoaContext,
  caller: Caller,
  consent: Consent,
): Promise<string> {
  const { userId, identity, target, codeChallenge, mark, secure } = consent;
  await joinWithConsent(auth, caller, userId, identity);
  const code = await issueReturnCode(auth, koa, {
    userId,
    method: `oauth:${identity.provider}`,
    challenge: codeChallenge,
    mark,
    secure,
  });
  return withParameter(target, 'code', code);
}

function tokenOf(auth: AuthState, koa: KoaContext): string {
  const token = koa.cookies.get(cookieName(auth));
  if (!token) throw invalidToken();
  return token;
}

const cookieName = (auth: AuthState) =>
  `${auth.config.secureCookies ? '__Host-' : ''}oauth_consent`;
