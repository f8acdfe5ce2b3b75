import type { Context as KoaContext } from 'koa';
import { SECOND } from './time.ts';

interface CookieOptions {
  /** Milliseconds; 0 removes the cookie, and without it the browser keeps it until it is closed. */
  readonly life?: number | undefined;
  readonly secure: boolean;
  readonly path?: string;
  readonly sameSite?: 'Lax' | 'Strict' | 'None';
}

/** Sets a cookie that no script can read. */
export function setCookie(
  koa: KoaContext,
  name: string,
  value: string,
  { life, secure, path = '/', sameSite = 'Lax' }: CookieOptions,
): void {
  const age = life === undefined ? '' : `; Max-Age=${Math.floor(life / SECOND)}`;
  const attributes = `Path=${path}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
  koa.append('Set-Cookie', `${name}=${value}${age}; ${attributes}`);
}
