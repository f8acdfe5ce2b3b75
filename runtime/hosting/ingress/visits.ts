import type { AccessLog } from './access-log.ts';
import type { ClientRequest, ClientResponse } from './client.ts';
import type { FigureCounter } from './figures.ts';
import type { RequestOrigin } from './origin.ts';
import { type AppRoute, hostName } from './route-table.ts';

/** One request from its beginning to its end, for the figures and the access log. */
export interface Visit {
  readonly began: number;
  readonly route: AppRoute | undefined;
  /** Bytes of the request body and of the response body. */
  received: number;
  sent: number;
  /** The container that has the request. */
  target: string | null;
  /** The status of the response to an upgrade. */
  status: number;
}

/** Follows requests to their end. */
export interface Visits {
  begin(route: AppRoute | undefined): Visit;
  end(visit: Visit, ended: EndedVisit): void;
}

interface EndedVisit {
  readonly request: ClientRequest;
  readonly origin: RequestOrigin;
  readonly status: number;
}

/** The status of a request whose client went away before it had a response. */
const CLIENT_GONE = 499;
const MAX_TEXT = 500;

export function createVisits(
  figures: FigureCounter,
  log: AccessLog | null,
  now: () => number,
): Visits {
  const clock = createClock();
  return {
    begin(route) {
      if (route?.name !== undefined) figures.begin(route.appId);
      return { began: performance.now(), route, received: 0, sent: 0, target: null, status: 0 };
    },
    end(visit, { request, origin, status }) {
      const { route, received, sent } = visit;
      const milliseconds = performance.now() - visit.began;
      const method = request.method ?? 'GET';
      if (route?.name !== undefined)
        figures.end(route.appId, { method, status, milliseconds, received, sent });
      log?.write({
        at: clock(now()),
        request_id: origin.id,
        app: route?.name ?? null,
        ip: origin.ip,
        method: method.slice(0, MAX_TEXT),
        host: hostName(withoutUser(request.headers.host)).slice(0, MAX_TEXT),
        path: pathOf(request.url),
        status,
        bytes: sent,
        ms: Math.round(milliseconds * 10) / 10,
        target: visit.target?.slice(0, 12) ?? null,
        user_agent: request.headers['user-agent']?.slice(0, MAX_TEXT) ?? null,
      });
    },
  };
}

/** Writes times as ISO 8601. The part up to the second is kept for the next time. */
function createClock(): (time: number) => string {
  let second = -1;
  let text = '';
  return (time) => {
    const now = Math.floor(time / 1000);
    if (now !== second) {
      second = now;
      text = new Date(now * 1000).toISOString().slice(0, 20);
    }
    return `${text}${String(Math.floor(time) - now * 1000).padStart(3, '0')}Z`;
  };
}

/** The status to count: the response's, or 499 when none was sent. */
export const statusOfResponse = ({ headersSent, statusCode }: ClientResponse): number =>
  headersSent ? statusCode : CLIENT_GONE;

/**
 * The path without its query, which may have a credential in it. So may the authority of a request
 * that is sent as to a forward proxy.
 */
function pathOf(url = '/'): string {
  const query = url.indexOf('?');
  const whole = query < 0 ? url : url.slice(0, query);
  const path = whole.startsWith('/') ? whole : whole.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  return (path || '/').slice(0, MAX_TEXT);
}

/** A `Host` with a user and a password is refused, and not logged with them. */
const withoutUser = (host = '') => host.slice(host.lastIndexOf('@') + 1);
