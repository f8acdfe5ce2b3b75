import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context as KoaContext, Middleware } from 'koa';
import type { Logger } from '../config/log.ts';
import { Cancellation, type Cancellable } from '../context/cancellation.ts';
import { requestOf } from '../context/context-family.ts';
import { createValues, type Values } from '../context/values.ts';
import { BaseContext } from '../own-context/base-context.ts';
import { DerivedContext } from '../own-context/derived-context.ts';
import type { Principal, RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { clientIp } from './client-ip.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ANONYMOUS: Principal = { kind: 'anonymous' };

/**
 * Middleware that gives each request its id, its address and its context: `ctx.state.context`,
 * whose members are also on `ctx` itself.
 */
export function requestContext(kernel: Kernel): Middleware {
  const ipOf = clientIp(kernel.project.server.trustedProxies);
  return function requestContext(ctx, next) {
    const { req: request, res: response } = ctx;
    const given = request.headers['x-request-id'];
    const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    response.setHeader('X-Request-Id', id);
    ctx.state.context = new Context({ kernel, request, response, koa: ctx }, id, ipOf(request));
    return next();
  };
}

interface Origin {
  readonly kernel: Kernel;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly koa: KoaContext;
}

/** Most requests use few of these properties, so each is made when it is first read. */
class Context extends BaseContext {
  readonly id: string;
  readonly ip: string;
  principal: Principal = ANONYMOUS;
  readonly #origin: Origin;
  #values: Values | undefined;
  #log: Logger | undefined;
  #cancellation: Cancellation | undefined;

  constructor(origin: Origin, id: string, ip: string) {
    super();
    this.#origin = origin;
    this.id = id;
    this.ip = ip;
  }

  get koa(): KoaContext {
    return this.#origin.koa;
  }

  get headers() {
    return this.#origin.request.headers;
  }

  protected get parts() {
    return this.#origin.kernel;
  }

  get values(): Values {
    return (this.#values ??= createValues());
  }

  get log(): Logger {
    return (this.#log ??= this.#origin.kernel.log.child({ requestId: this.id }));
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

  protected withPrincipal(principal: Principal): RequestContext {
    return new DerivedContext(this.#origin.kernel, this, { principal, sameRequest: true });
  }
}

/** Koa's context of a request; undefined for code that no request calls. */
export function koaOfRequest(context: RequestContext): KoaContext | undefined {
  const first = requestOf(context);
  return first instanceof Context ? first.koa : undefined;
}

/** The client of a response, which counts as cancelled when it disconnects. */
function clientOf(response: ServerResponse): Cancellable {
  let made: AbortController | undefined;
  return {
    get cancelled() {
      return isGone(response);
    },
    get signal() {
      return (made ??= abortWhenGone(response)).signal;
    },
  };
}

/** Whether the client disconnected before it had its answer. */
function isGone(response: ServerResponse): boolean {
  return response.destroyed && !response.writableFinished;
}

function abortWhenGone(response: ServerResponse): AbortController {
  const abort = new AbortController();
  const check = () => {
    if (isGone(response)) abort.abort(new DOMException('the client went away', 'AbortError'));
  };
  check();
  response.once('close', check);
  return abort;
}
