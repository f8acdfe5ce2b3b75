import type { Context as KoaContext } from 'koa';
import type { UserId } from '../ids.ts';
import { pagesPath } from '../mails/links.ts';
import type { AuthParts } from '../parts.ts';
import type { Caller } from '../requests/caller.ts';
import { invalidToken, ONE_TIME_LIFETIME } from '../secrets/one-time-tokens.ts';
import { clearCookie, setCookie } from './browser-mark.ts';
import type { Flow } from './flow-cookie.ts';
import type { Identity } from './identity.ts';
import { joinWithConsent } from './linking.ts';
import { withParameter } from './redirect.ts';
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
  parts: AuthParts,
  koa: KoaContext,
  { userId, identity, flow, target, secure }: Question,
): Promise<string> {
  const { oneTime, kernel, model } = parts;
  const { returnTo, codeChallenge, state: mark } = flow;
  const data = { identity, target, returnTo, codeChallenge, mark, secure };
  const token = await oneTime.issue(kernel.store.db, 'consent', userId, {
    data,
    newestOnly: false,
  });
  setCookie(koa, cookieName(parts), token, { life: ONE_TIME_LIFETIME.consent });
  return model.pages === false ? target : `${pagesPath(model.pages)}/consent`;
}

/** The question that this browser has to answer. @throws AppError 400 when there is none. */
export async function readConsent(parts: AuthParts, koa: KoaContext): Promise<Consent> {
  const { userId, data } = await parts.oneTime.peek(
    parts.kernel.store.db,
    'consent',
    tokenOf(parts, koa),
  );
  return { ...(data as unknown as Omit<Consent, 'userId'>), userId };
}

/**
 * Takes the question, which can be answered only once. Of two answers at the same time one fails.
 * @throws AppError 400.
 */
export async function takeConsent(parts: AuthParts, koa: KoaContext): Promise<Consent> {
  const token = tokenOf(parts, koa);
  clearCookie(koa, cookieName(parts));
  const { userId, data } = await parts.oneTime.consume(parts.kernel.store.db, 'consent', token);
  return { ...(data as unknown as Omit<Consent, 'userId'>), userId };
}

/**
 * Links the provider, and returns where the sign-in goes on: the target of the flow with a code,
 * as without the question.
 *
 * @throws AppError 400, 409 like `joinWithConsent`
 */
export async function giveConsent(
  parts: AuthParts,
  koa: KoaContext,
  caller: Caller,
  consent: Consent,
): Promise<string> {
  const { userId, identity, target, codeChallenge, mark, secure } = consent;
  await joinWithConsent(parts, caller, userId, identity);
  const code = await issueReturnCode(parts, koa, {
    userId,
    method: `oauth:${identity.provider}`,
    challenge: codeChallenge,
    mark,
    secure,
  });
  return withParameter(target, 'code', code);
}

function tokenOf(parts: AuthParts, koa: KoaContext): string {
  const token = koa.cookies.get(cookieName(parts));
  if (!token) throw invalidToken();
  return token;
}

const cookieName = ({ config }: AuthParts) =>
  `${config.secureCookies ? '__Host-' : ''}oauth_consent`;
