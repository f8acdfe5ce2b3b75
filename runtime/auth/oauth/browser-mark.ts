import type { Context as KoaContext } from 'koa';
import { digest, randomToken } from '../ids.ts';
import { sameText } from '../secrets/keys.ts';
import { SECOND } from '../time.ts';

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
  setCookie(koa, cookie, value, { life });
  return { cookie, digest: digest(value) };
}

/** Whether the request comes from the browser with this mark. Also deletes the cookie. */
export function isMarked(koa: KoaContext, mark: BrowserMark): boolean {
  const value = koa.cookies.get(mark.cookie);
  if (value === undefined) return false;
  clearCookie(koa, mark.cookie);
  return sameText(mark.digest, digest(value));
}

/**
 * Sets a cookie of an OAuth flow. It is `Secure` when its name has the prefix `__Host-`.
 *
 * @param options.crossSite whether a form of another site comes with it. Browsers ask such a cookie
 *   to be `Secure`, which a loopback address is to them.
 */
export function setCookie(
  koa: KoaContext,
  name: string,
  value: string,
  { life, crossSite = false }: { readonly life: number; readonly crossSite?: boolean },
): void {
  const secure = crossSite || name.startsWith('__Host-');
  koa.append(
    'Set-Cookie',
    `${name}=${value}; Max-Age=${life / SECOND}; Path=/; HttpOnly; ` +
      `SameSite=${crossSite ? 'None' : 'Lax'}${secure ? '; Secure' : ''}`,
  );
}

export const clearCookie = (koa: KoaContext, name: string) => setCookie(koa, name, '', { life: 0 });
