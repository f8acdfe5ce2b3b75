import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { AppError } from '../errors.ts';
import { markInternal, markRevalidation } from '../http/request-marks.ts';
import type { RequestContext } from '../context/request-context.ts';

/** Finds the caller of an open connection: a WebSocket, or an event stream. */
export interface SocketCallers {
  /** True when the request was made by `identify`: the endpoint must not answer it. */
  take(ctx: Context): boolean;
  /**
   * @param options.revalidate the server made the request itself: it counts for no limit.
   * @throws AppError with the status that the server answered.
   */
  identify(
    opening: IncomingMessage,
    headers: Readonly<Record<string, string>>,
    options?: { readonly revalidate: boolean },
  ): Promise<RequestContext>;
}

/**
 * A WebSocket is opened outside of the middleware, and a browser cannot set its headers. So its
 * opening request runs through all middleware once more, as a GET with the headers from
 * `connection_init`: caller, limits and plugins are then the same as for any request.
 */
export function createSocketCallers(): SocketCallers {
  const waiting = new WeakMap<IncomingMessage, (context: RequestContext) => void>();
  return {
    take: (ctx) => {
      const taken = waiting.get(ctx.req);
      if (!taken) return false;
      taken(ctx.state['context'] as RequestContext);
      ctx.status = 204;
      return true;
    },
    identify: (opening, headers, options) => {
      const server = (opening.socket as unknown as { readonly server: Server }).server;
      const request: IncomingMessage = Object.create(opening, {
        headers: { value: { ...opening.headers, ...headers } },
        method: { value: 'GET' },
      });
      markInternal(request);
      if (options?.revalidate) markRevalidation(request);
      const response = new ServerResponse(request);
      return new Promise((resolve, reject) => {
        waiting.set(request, resolve);
        response.once('finish', () => reject(refused(response.statusCode)));
        response.end = ((...args: unknown[]) => (
          response.emit('finish'),
          args.length,
          response
        )) as ServerResponse['end'];
        server.emit('request', request, response);
      });
    },
  };
}

function refused(status: number): AppError {
  const [code, message] = REFUSALS[status] ?? ['UNAVAILABLE', 'Service unavailable'];
  return new AppError(status, code, message);
}

const REFUSALS: Readonly<Record<number, readonly [code: string, message: string]>> = {
  401: ['UNAUTHENTICATED', 'Unauthorized'],
  403: ['FORBIDDEN', 'Forbidden'],
  429: ['RATE_LIMITED', 'Too many requests'],
};
