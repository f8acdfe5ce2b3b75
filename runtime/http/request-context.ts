import { randomUUID } from 'node:crypto';
import type { Context as KoaContext, Middleware } from 'koa';
import type { Logger } from 'pino';
import { createValues, type Values } from '../context/values.ts';
import type { CurrentUser, Principal, RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { clientIp } from './client-ip.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ANONYMOUS: Principal = { kind: 'anonymous' };

/** Makes the value of `context.loaders`; the server passes the graphql module's. */
export type LoadersFactory = (context: RequestContext) => unknown;

export interface RequestContextOptions {
  /** Whether no middleware looks at the answer on its way out: then an endpoint may send it itself. */
  readonly answersItself?: boolean;
}

/**
 * Middleware that gives each request its id, its address and its context: `ctx.state.context`, whose members also stand
 * on `ctx` itself.
 */
export function requestContext(kernel: Kernel, loaders: LoadersFactory, { answersItself = false }: RequestContextOptions = {}): Middleware {
  const ipOf = clientIp(kernel.project.server.trustedProxies);
  return function requestContext(ctx, next) {
    const given = ctx.req.headers['x-request-id'];
    const id = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    ctx.res.setHeader('X-Request-Id', id);
    ctx.state.context = new Context(kernel, loaders, ctx, id, ipOf(ctx.req));
    ctx.state['answersItself'] = answersItself;
    return next();
  };
}

/** Most requests use few of these, so each is made when it is first asked for. */
class Context implements RequestContext {
  readonly id: string;
  readonly ip: string;
  principal: Principal = ANONYMOUS;
  readonly #kernel: Kernel;
  readonly #createLoaders: LoadersFactory;
  readonly #koa: KoaContext;
  #values: Values | undefined;
  #log: Logger | undefined;
  #loaders: unknown;
  #abort: AbortController | undefined;

  constructor(kernel: Kernel, loaders: LoadersFactory, koa: KoaContext, id: string, ip: string) {
    this.#kernel = kernel;
    this.#createLoaders = loaders;
    this.#koa = koa;
    this.id = id;
    this.ip = ip;
  }

  get headers() {
    return this.#koa.req.headers;
  }

  get db() {
    return this.#kernel.store.db;
  }

  get values(): Values {
    return (this.#values ??= createValues());
  }

  get log(): Logger {
    return (this.#log ??= this.#kernel.log.child({ requestId: this.id }));
  }

  get loaders(): unknown {
    return (this.#loaders ??= this.#createLoaders(this));
  }

  get signal(): AbortSignal {
    return (this.#abort ??= abortWhenGone(this.#koa)).signal;
  }

  get user(): CurrentUser | null {
    return this.principal.kind === 'user' ? this.principal : null;
  }
}

function abortWhenGone(koa: KoaContext): AbortController {
  const abort = new AbortController();
  koa.res.once('close', () => {
    if (!koa.res.writableFinished) abort.abort();
  });
  return abort;
}
