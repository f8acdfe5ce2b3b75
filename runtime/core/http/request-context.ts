import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import type { Logger } from '../config/log.ts';
import { Cancellation } from '../context/cancellation.ts';
import { createValues, type Values } from '../context/values.ts';
import type { CurrentUser, Principal, RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { clientIp } from './client-ip.ts';
import { clientOf, isGone } from './client-of.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ANONYMOUS: Principal = { kind: 'anonymous' };

/** Makes the value of `context.loaders`. The server passes the one of the graphql module. */
export type LoadersFactory = (context: RequestContext) => unknown;

/**
 * Middleware that gives each request its id, its address and its context: `ctx.state.context`,
 * whose members are also on `ctx` itself.
 */
export function requestContext(kernel: Kernel, loaders: LoadersFactory): Middleware {
  const ipOf = clientIp(kernel.project.server.trustedProxies);
  return function requestContext(ctx, next) {
    const { req: request, res: response } = ctx;
    const given = request.headers['x-request-id'];
    const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', id);
    ctx.state.context = new Context({ kernel, loaders, request, response }, id, ipOf(request));
    return next();
  };
}

interface Origin {
  readonly kernel: Kernel;
  readonly loaders: LoadersFactory;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Most requests use few of these, so each is made when it is first asked for. */
class Context implements RequestContext {
  readonly id: string;
  readonly ip: string;
  principal: Principal = ANONYMOUS;
  readonly #origin: Origin;
  #values: Values | undefined;
  #log: Logger | undefined;
  #loaders: unknown;
  #cancellation: Cancellation | undefined;

  constructor(origin: Origin, id: string, ip: string) {
    this.#origin = origin;
    this.id = id;
    this.ip = ip;
  }

  get headers() {
    return this.#origin.request.headers;
  }

  get db() {
    return this.#origin.kernel.store.db;
  }

  get values(): Values {
    return (this.#values ??= createValues());
  }

  get log(): Logger {
    return (this.#log ??= this.#origin.kernel.log.child({ requestId: this.id }));
  }

  get loaders(): unknown {
    return (this.#loaders ??= this.#origin.loaders(this));
  }

  get signal(): AbortSignal {
    return this.#cancelling().signal;
  }

  get cancelled(): boolean {
    return this.#cancellation?.cancelled ?? isGone(this.#origin.response);
  }

  cancel(reason?: DOMException): void {
    this.#cancelling().cancel(reason);
  }

  #cancelling(): Cancellation {
    return (this.#cancellation ??= new Cancellation(clientOf(this.#origin.response)));
  }

  get user(): CurrentUser | null {
    return this.principal.kind === 'user' ? this.principal : null;
  }
}
