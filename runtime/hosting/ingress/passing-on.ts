import { createHash, timingSafeEqual } from 'node:crypto';
import type { ClientRequest } from './client.ts';
import type { IngressPage } from './pages.ts';
import type { AppRoute } from './route-table.ts';

/** In each request that the ingress of an app's former server passes on. */
export const FORWARD_HEADER = 'x-twofold-forward';

/** The line of the head that proves to the other ingress who passes the request on. */
export const forwardLine = (route: AppRoute | undefined): string =>
  route?.forward ? `X-Twofold-Forward: ${route.forward.token}\r\n` : '';

/**
 * Why a request for an app that has moved is not passed on: the time is over, or it was passed on
 * already. Two servers that each say that the other one has the app would send it for ever.
 */
export function refusesToPass(
  { forward }: AppRoute,
  { headers }: ClientRequest,
  now: number,
): Extract<IngressPage, 'loop' | 'stopped'> | null {
  if (!forward) return null;
  if (headers[FORWARD_HEADER] !== undefined) return 'loop';
  return forward.until > now ? null : 'stopped';
}

/** Whether the former server of this app has passed the request on. */
export function isPassedOn(
  route: AppRoute | undefined,
  { headers }: ClientRequest,
  now: number,
): boolean {
  const token = headers[FORWARD_HEADER];
  if (!route?.forwarder || typeof token !== 'string' || route.forwarder.until <= now) return false;
  const given = createHash('sha256').update(token).digest();
  const wanted = Buffer.from(route.forwarder.digest, 'base64url');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
