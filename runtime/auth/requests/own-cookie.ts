import type { Context as KoaContext } from 'koa';
import type { AuthParts } from '../parts.ts';
import { SECOND } from '../time.ts';

/** Sets a cookie of the module that only this server reads; a life of 0 removes it. */
export function ownCookie(
  { config }: Pick<AuthParts, 'config'>,
  koa: KoaContext,
  name: string,
  value: string,
  life: number,
): void {
  const secure = config.secureCookies ? '; Secure' : '';
  koa.append(
    'Set-Cookie',
    `${name}=${value}; Max-Age=${life / SECOND}; Path=/; HttpOnly; SameSite=Lax${secure}`,
  );
}
