import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, Socket } from 'node:net';
import type { Context as KoaContext, Middleware } from 'koa';
import Koa from 'koa';
import type { Logger } from '../config/log.ts';
import { Cancellation, type Cancellable } from '../context/cancellation.ts';
import { requestOf } from '../context/context-family.ts';
import { createValues, type Values } from '../context/values.ts';
import { BaseContext } from '../own-context/base-context.ts';
import { DerivedContext } from '../own-context/derived-context.ts';
import type { Principal, RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { ConfigError } from '../errors.ts';

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

/**
 * The caller's IP address, for limits and logs. `X-Forwarded-For` is used only when the peer is a
 * trusted proxy. It is read from right to left up to the first address that is no trusted proxy:
 * the caller may have made up everything further left.
 *
 * @param trusted CIDR blocks or addresses.
 * @throws ConfigError when one of them is neither.
 * @example const ipOf = clientIp(['10.0.0.0/8']); ipOf(request) // '203.0.113.7'
 */
export function clientIp(trusted: readonly string[]): (request: RequestOfPeer) => string {
  const isProxy = trusted.length > 0 ? addressMatcher(trusted) : () => false;
  return (request) => {
    const peer = plain(request.socket.remoteAddress);
    return isTrustedConnection(request.socket) || isProxy(peer)
      ? forwarded(isProxy, request.headers['x-forwarded-for'], peer)
      : peer;
  };
}

/** The part of a request that says where it comes from. */
interface RequestOfPeer {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

/** Whether an address is one of the given ones, or in one of the given ranges. */
export type AddressMatcher = (address: string) => boolean;

/** @throws ConfigError when one of them is neither an address nor a CIDR block. */
export function addressMatcher(ranges: readonly string[]): AddressMatcher {
  const list = new BlockList();
  for (const entry of ranges) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const bits = prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix);
    if (isIP(address) === 0 || !Number.isInteger(bits)) {
      throw new ConfigError([
        `trusted_proxies: ${entry} is neither an address nor a CIDR block such as 10.0.0.0/8`,
      ]);
    }
    list.addSubnet(address, bits, family);
  }
  return (address) =>
    isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function forwarded(
  isProxy: AddressMatcher,
  header: string | string[] | undefined,
  peer: string,
): string {
  const hops = String(header ?? '')
    .split(',')
    .map((hop) => plain(hop.trim()));
  let address = peer;
  for (const hop of hops.toReversed()) {
    if (isIP(hop) === 0) return address;
    address = hop;
    if (!isProxy(hop)) return address;
  }
  return address;
}

/** An IPv4 address that arrives over an IPv6 socket is converted back to IPv4. */
const plain = (address = '') =>
  address.startsWith(':') ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address;

/** Connections of a proxy that belongs to this server. */
const trusted = new WeakSet<object>();

/**
 * Trusts the `X-Forwarded-*` headers of all requests on this connection. A capability that is itself
 * a proxy in front of the server marks its connections with this; they need no address.
 */
export const trustConnection = (socket: object) => void trusted.add(socket);
export const isTrustedConnection = (socket: object): boolean => trusted.has(socket);

/**
 * Koa's context of a request, for code that sets headers and cookies. Code that no request calls
 * gets one whose answer is sent to no client: it is not `attached`.
 */
export function koaOf(context: RequestContext): { koa: KoaContext; attached: boolean } {
  const first = requestOf(context);
  if (first instanceof Context) return { koa: first.koa, attached: true };
  const request = new IncomingMessage(new Socket());
  const detached = new Koa().createContext(request, new ServerResponse(request));
  detached.state['context'] = context;
  return { koa: detached, attached: false };
}
