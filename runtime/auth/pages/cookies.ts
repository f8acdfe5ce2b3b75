import type { Context as KoaContext } from 'koa';
import { createPagesSession, type PagesSession } from '../sessions/pages-session.ts';
import { randomToken } from '../ids.ts';
import { mac, sameText } from '../secrets/keys.ts';
import type { AuthParts } from '../parts.ts';
import { seal, unseal } from '../secrets/seal.ts';
import { MINUTE } from '../time.ts';

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
  readonly session: PagesSession;
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

export function createPageCookies(parts: AuthParts): PageCookies {
  const { kernel, keys, config } = parts;
  const key = keys.derived('pages');
  const names = namesOf(config.secureCookies);
  const attributes = `Path=/; HttpOnly; SameSite=Lax${config.secureCookies ? '; Secure' : ''}`;
  const set = (koa: KoaContext, name: string, value: string, maxAge?: number) =>
    koa.append(
      'Set-Cookie',
      `${name}=${value}${maxAge === undefined ? '' : `; Max-Age=${maxAge}`}; ${attributes}`,
    );
  const read = (koa: KoaContext, name: string) => koa.cookies.get(name) ?? null;
  const tokenOf = (nonce: string) => mac(key, `form ${nonce}`);
  return {
    session: createPagesSession(parts),
    readStep: (koa) => {
      const sealed = read(koa, names.step);
      const text = sealed && unseal(keys.derivedAll('pages'), sealed, 'step');
      const step = text ? (JSON.parse(text) as PendingSignIn) : null;
      return step && step.until > kernel.now() ? step : null;
    },
    writeStep: (koa, step) =>
      void set(koa, names.step, seal(key, JSON.stringify(step), 'step'), STEP_LIFE / 1000),
    clearStep: (koa) => void set(koa, names.step, '', 0),
    takeNotice: (koa) => {
      const notice = read(koa, names.notice);
      if (notice !== null) set(koa, names.notice, '', 0);
      return notice !== null && /^\w{1,40}$/.test(notice) ? notice : null;
    },
    writeNotice: (koa, notice) => void set(koa, names.notice, notice, 60),
    formToken: (koa) => {
      // All forms of a page that is the browser's first one share the new nonce.
      const known = read(koa, names.form) ?? (koa.state['pages_form'] as string | undefined);
      if (known) return tokenOf(known);
      const nonce = randomToken(16);
      koa.state['pages_form'] = nonce;
      set(koa, names.form, nonce);
      return tokenOf(nonce);
    },
    isFormToken: (koa, token) => {
      const nonce = read(koa, names.form);
      return nonce !== null && sameText(tokenOf(nonce), token);
    },
  };
}

/** With `__Host-` a browser takes the cookie only from this host, and not from a subdomain. */
function namesOf(secure: boolean) {
  const prefix = secure ? '__Host-pages' : 'pages';
  return {
    step: `${prefix}_step`,
    notice: `${prefix}_notice`,
    form: `${prefix}_form`,
  };
}
