import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../errors.ts';
import { isOwnOrigin } from '../http/cross-origin.ts';

/** The addresses under which the server answers, and those of the pages that may call it. */
export interface Site {
  readonly appUrl: string | undefined;
  readonly cors: readonly string[];
  readonly production: boolean;
}

/** A URL takes more before the name of its host, as `user@localhost`. */
const HOST = /^[\w.:[\]-]+$/;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Refuses the requests of foreign pages. A page can make a browser send requests to a server on the
 * same machine or network, and by DNS rebinding it can read the answers: the browser then names the
 * page's own host.
 *
 * @throws AppError 403
 */
export function assertKnownSite(headers: IncomingHttpHeaders, site: Site): void {
  if (!isKnownHost(headers.host, site))
    throw new AppError(
      403,
      'HOST_REFUSED',
      'the server does not answer under this host: it is not that of APP_URL',
    );
  if (headers.origin !== undefined && !isKnownOrigin(headers, site))
    throw new AppError(
      403,
      'ORIGIN_REFUSED',
      "pages of this origin may not call: it is neither the server's nor in server.cors",
    );
}

function isKnownHost(host: string | undefined, { appUrl, production }: Site): boolean {
  if (host === undefined || !HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
  if (appUrl !== undefined && URL.canParse(appUrl) && sameHost(host, new URL(appUrl))) return true;
  return !production && LOOPBACK.test(new URL(`http://${host}`).hostname);
}

/** A default port may be written or left out. */
function sameHost(host: string, { protocol, host: own }: URL): boolean {
  return new URL(`${protocol}//${host}`).host === own;
}

function isKnownOrigin(headers: IncomingHttpHeaders, { appUrl, cors }: Site): boolean {
  const { origin = 'null' } = headers;
  if (origin === 'null') return false;
  return cors.includes('*') || cors.includes(origin) || isOwnOrigin(headers, appUrl);
}
