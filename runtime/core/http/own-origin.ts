import type { IncomingHttpHeaders } from 'node:http';

/** Apps are hosted at `<name>.localhost`, so only these names are the server itself. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Whether a page of the server's own origin sent a request: that of `APP_URL`, or on loopback the
 * one that the request names as its host. A sub-domain, another port and a program are not.
 */
export function isOwnOrigin(
  { origin, host = '', 'sec-fetch-site': site }: IncomingHttpHeaders,
  appUrl: string | undefined,
): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  if (site !== undefined && site !== 'same-origin') return false;
  if (appUrl !== undefined && URL.canParse(appUrl) && origin === new URL(appUrl).origin)
    return true;
  const asked = new URL(origin);
  return asked.host === host && LOOPBACK.test(asked.hostname);
}
