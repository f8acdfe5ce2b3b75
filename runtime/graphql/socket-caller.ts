import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { AppError } from '../errors.ts';
import type { RequestContext } from '../context/request-context.ts';

/** Finds out who is behind a WebSocket. */
export interface SocketCallers {
  /** True when the request is one of ours and was taken note of: the endpoint must not answer it. */
  take(ctx: Context): boolean;
  /** @throws AppError 401 or 403, what the server answered. */
  identify(
    upgrade: IncomingMessage,
    headers: Readonly<Record<string, string>>,
  ): Promise<RequestContext>;
}

/**
 * A WebSocket is opened outside of the middleware, and a browser cannot give it headers. So its opening request goes
 * through the server's whole chain once more, as a GET with the headers that the client sent in `connection_init`: who
 * calls, limits and plugins are the same as for any request.
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
    identify: (upgrade, headers) => {
      const server = (upgrade.socket as unknown as { readonly server: Server }).server;
      const request: IncomingMessage = Object.create(upgrade, {
        headers: { value: { ...upgrade.headers, ...headers } },
        method: { value: 'GET' },
      });
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

const refused = (status: number) =>
  new AppError(
    status,
    status === 401 ? 'UNAUTHENTICATED' : 'FORBIDDEN',
    status === 401 ? 'Unauthorized' : 'Forbidden',
  );
