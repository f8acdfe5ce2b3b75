import type { Context as KoaContext } from 'koa';
import { setCookie } from '../base/cookie.ts';
import { digest, randomToken } from '../base/ids.ts';
import { sameText } from '../secrets/keys.ts';

/** Data stored with a one-time token to recognise the browser for which it was made. */
export interface BrowserMark {
  /** The name of the cookie that holds the mark. */
  readonly cookie: string;
  readonly digest: string;
}

/** Sets a cookie with a random value, for `life` milliseconds. */
export function markBrowser(
  koa: KoaContext,
  {
    name,
    secure,
    life,
  }: { readonly name: string; readonly secure: boolean; readonly life: number },
): BrowserMark {
  const cookie = `${secure ? '__Host-' : ''}${name}`;
  const value = randomToken(16);
  setCookie(koa, cookie, value, { life, secure });
  return { cookie, digest: digest(value) };
}

/** Whether the request comes from the browser with this mark. Also deletes the cookie. */
export function isMarked(koa: KoaContext, mark: BrowserMark): boolean {
  const value = koa.cookies.get(mark.cookie);
  if (value === undefined) return false;
  clearCookie(koa, mark.cookie);
  return sameText(mark.digest, digest(value));
}

export const clearCookie = (koa: KoaContext, name: string) =>
  setCookie(koa, name, '', { life: 0, secure: isHostOnly(name) });

/** Browsers take a cookie with this prefix only if it is `Secure`, and from no subdomain. */
export const isHostOnly = (name: string): boolean => name.startsWith('__Host-');
