import type { Context as KoaContext } from 'koa';
import { failure } from '@twofold/runtime/errors';
import { setCookie } from '../base/cookie.ts';
import { randomToken } from '../base/ids.ts';
import { mac, sameText, seal, unseal } from '../secrets/keys.ts';
import type { AuthState } from '../state.ts';
import { MINUTE } from '../base/time.ts';

/** An unfinished sign-in: the data that the next page needs to continue it. */
export interface PendingSignIn {
  /** The step that is asked for next, as in the response 202 of a sign-in. */
  readonly next: string;
  readonly ticket: string;
  readonly methods: readonly string[];
  /** Where the sign-in ends; null for the account. */
  readonly returnTo: string | null;
  readonly codeChallenge?: string;
  /** Data of the page that began the step. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The cookies of the pages. They are `HttpOnly`, and of no use outside the pages. */
export interface PageCookies {
  readStep(koa: KoaContext): PendingSignIn | null;
  writeStep(koa: KoaContext, step: PendingSignIn): void;
  clearStep(koa: KoaContext): void;
  /** A message for the next page, such as `saved`. It is removed when it is read. */
  takeNotice(koa: KoaContext): string | null;
  writeNotice(koa: KoaContext, key: string): void;
  /** The token that a form of this browser has to send. Sets its cookie on first use. */
  formToken(koa: KoaContext): string;
  isFormToken(koa: KoaContext, token: string): boolean;
}

const STEP_LIFE = 10 * MINUTE;

export function createPageCookies(auth: AuthState): PageCookies {
  const key = auth.keys.derived('pages');
  const secure = auth.config.secureCookies;
  // With `__Host-` a browser takes the cookie only from this host, and not from a subdomain.
  const nameOf = (kind: CookieKind) => `${secure ? '__Host-' : ''}pages_${kind}`;
  const set = (koa: KoaContext, kind: CookieKind, value: string, life?: number) =>
    setCookie(koa, nameOf(kind), value, { life, secure });
  const read = (koa: KoaContext, kind: CookieKind) => koa.cookies.get(nameOf(kind)) ?? null;
  const tokenOf = (nonce: string) => mac(key, `form ${nonce}`);
  return {
    readStep: (koa) => {
      const sealed = read(koa, 'step');
      const text = sealed && unseal(auth.keys.derivedAll('pages'), sealed, 'step');
      const step = text ? (JSON.parse(text) as PendingSignIn) : null;
      return step && step.until > auth.now() ? step : null;
    },
    writeStep: (koa, step) => set(koa, 'step', seal(key, JSON.stringify(step), 'step'), STEP_LIFE),
    clearStep: (koa) => set(koa, 'step', '', 0),
    takeNotice: (koa) => {
      const notice = read(koa, 'notice');
      if (notice !== null) set(koa, 'notice', '', 0);
      return notice !== null && /^\w{1,40}$/.test(notice) ? notice : null;
    },
    writeNotice: (koa, notice) => set(koa, 'notice', notice, MINUTE),
    formToken: (koa) => {
      // All forms of a page that is the browser's first one share the new nonce.
      const known = read(koa, 'form') ?? (koa.state['pages_form'] as string | undefined);
      if (known) return tokenOf(known);
      const nonce = randomToken(16);
      koa.state['pages_form'] = nonce;
      set(koa, 'form', nonce);
      return tokenOf(nonce);
    },
    isFormToken: (koa, token) => {
      const nonce = read(koa, 'form');
      return nonce !== null && sameText(tokenOf(nonce), token);
    },
  };
}

type CookieKind = 'step' | 'notice' | 'form';

/** The field that holds the token of a form. */
export const FORM_TOKEN = 'form_token';

/**
 * Refuses a form that was not sent by a page of this server: it needs the page's own origin, and
 * the token that belongs to the browser's cookie.
 *
 * @throws AppError 403 `Invalid form`
 */
export function assertOwnForm(
  koa: KoaContext,
  cookies: PageCookies,
  { origins, token }: { readonly origins: readonly string[]; readonly token: string },
): void {
  if (!isOwnOrigin(koa, origins) || !cookies.isFormToken(koa, token))
    throw failure.forbidden('Invalid form');
}

/**
 * `Sec-Fetch-Site`, which no page can set, says where the form was. Browsers without it send their
 * origin. With `Referrer-Policy: no-referrer` the others send `Origin: null` with a form (Fetch standard,
 * "append a request Origin header"). `Sec-Fetch-Site` then says where the form was; no page can set
 * that header.
 */
function isOwnOrigin(koa: KoaContext, origins: readonly string[]): boolean {
  const site = koa.get('Sec-Fetch-Site');
  return site === '' ? origins.includes(koa.get('Origin')) : site === 'same-origin';
}
