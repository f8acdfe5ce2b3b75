import type { Context as KoaContext } from 'koa';
import { failure } from '@twofold/runtime/errors';
import type { PageCookies } from './cookies.ts';

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
