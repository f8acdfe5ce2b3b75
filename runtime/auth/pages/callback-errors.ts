import type { ServerModule } from '@twofold/runtime/kernel';
import type { PageCookies } from './cookies.ts';
import { problemKey } from './problems.ts';

const CALLBACK = /^\/api\/oauth\/[^/]+\/callback$/;

/**
 * Leads a browser whose flow failed at the callback of a provider to the sign-in page, which says what
 * happened. A client that does not prefer HTML gets the JSON of the endpoint.
 */
export function callbackErrors(
  base: string,
  cookies: Pick<PageCookies, 'writeNotice'>,
): NonNullable<ServerModule['errorForm']> {
  return (koa, error) => {
    if (!CALLBACK.test(koa.path) || koa.accepts('json', 'html') !== 'html') return false;
    cookies.writeNotice(koa, problemKey(error) ?? 'provider_failed');
    koa.status = 303;
    koa.set({ Location: `${base}/sign-in`, 'Cache-Control': 'no-store' });
    koa.body = '';
    return true;
  };
}
