import type { RestVerb } from '@twofold/schema';
import type { Context, Middleware } from 'koa';
import { AppError } from '../errors.ts';
import { afterSending, sendText } from '../http/sending.ts';
import { restFailure } from './failures.ts';
import { readFromReplica } from '../http/read-after.ts';
import { DatabaseLost } from '../store/unreachable.ts';
import { cutLists } from './read.ts';
import { get, list } from './reads.ts';
import { openRequest, readKey, type RestAnswer, type RestRequest } from './request.ts';
import {
  type RestService,
  type ServedModule,
  createService,
  type ServiceOptions,
} from './service.ts';
import { create, remove, update } from './writes.ts';

type Methods = Readonly<Record<string, RestVerb>>;
const COLLECTION: Methods = { GET: 'list', HEAD: 'list', POST: 'create' };
const ITEM: Methods = { GET: 'get', HEAD: 'get', PATCH: 'update', PUT: 'update', DELETE: 'remove' };

/**
 * Serves every module. It runs before the router, because looking up a module by name costs the
 * same for ten modules as for three thousand. Other paths go on to the router.
 */
export function createEndpoint(service: RestService): Middleware {
  const offers = new Map([...service.modules].map(([name, served]) => [name, offerOf(served)]));
  return async function rest(ctx, next) {
    const target = targetOf(service.prefix, offers, ctx.path);
    if (!target) return next();
    keepPrivate(ctx);
    ctx.state['route'] = target.route;
    const verb = target.methods[ctx.method];
    if (verb === 'list') ctx.vary('Accept');
    if (!verb) return refuseMethod(ctx, Object.keys(target.methods));
    const key =
      target.segment === undefined
        ? undefined
        : await keyOrNext(service, target.served, target.segment, next, ctx);
    if (key === null) return;
    const { memory } = service.engine.store;
    try {
      send(ctx, await answer(service, target.served, verb, ctx, key));
    } finally {
      afterSending(memory, service.callerOf(ctx.state['context']), ctx.res);
    }
  };
}

/** The methods that a module answers: on its own path, and on the path of an object. */
interface Offer {
  readonly served: ServedModule;
  readonly collection: Methods | undefined;
  readonly item: Methods | undefined;
}

function offerOf(served: ServedModule): Offer {
  const offered = (all: Methods) => {
    const entries = Object.entries(all).filter(([, verb]) => served.module[verb] !== undefined);
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  return { served, collection: offered(COLLECTION), item: offered(ITEM) };
}

interface Target {
  readonly served: ServedModule;
  readonly methods: Methods;
  /** The pattern of the path. */
  readonly route: string;
  /** The key in the path; absent for the collection. */
  readonly segment?: string;
}

function targetOf(
  prefix: string,
  offers: ReadonlyMap<string, Offer>,
  path: string,
): Target | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const [name = '', segment = '', ...rest] = path.slice(prefix.length).split('/');
  const offer = offers.get(name);
  if (!offer || rest.length > 1 || (rest.length === 1 && rest[0] !== '')) return undefined;
  const methods = segment === '' ? offer.collection : offer.item;
  if (!methods) return undefined;
  const route = `${prefix}${name}`;
  return segment === ''
    ? { served: offer.served, methods, route }
    : { served: offer.served, methods, route: `${route}/:id`, segment };
}

function refuseMethod(ctx: Context, methods: readonly string[]): void {
  ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
  if (ctx.method !== 'OPTIONS') throw new AppError(405, 'METHOD_NOT_ALLOWED', 'Method not allowed');
  ctx.status = 204;
}

/**
 * Reads the key, or calls `next`: `export` in `/api/posts/export` is not a key, and the path may be
 * a route of the project.
 */
async function keyOrNext(
  service: RestService,
  served: ServedModule,
  segment: string,
  next: () => Promise<unknown>,
  ctx: Context,
): Promise<string | null> {
  try {
    return readKey(service, served, segment);
  } catch (error) {
    await next();
    if (ctx.body == null && ctx.status === 404) throw error;
    return null;
  }
}

/** Where the console manages rows. */
const MANAGED = /^\/api\/data(\/|$)/;

async function answer(
  service: RestService,
  served: ServedModule,
  verb: RestVerb,
  ctx: Context,
  key = '',
): Promise<RestAnswer> {
  try {
    if (ctx.method === 'GET' && !MANAGED.test(ctx.path)) readFromReplica(service.engine.store, ctx);
    const request = openRequest(service, served, verb, ctx);
    const answered = await perform(request, verb, key);
    const { cuts } = request;
    if (cuts.length > 0) ctx.set('X-Cut-Lists', cutLists(cuts));
    return request.failed.length === 0 ? answered : incomplete(answered, request.failed);
  } catch (error) {
    ctx.set('Cache-Control', 'no-store');
    const failed = restFailure(error, ctx.method);
    if (ctx.method === 'GET' || !(failed instanceof DatabaseLost)) throw failed;
    throw failed.said(failed.outcome ?? 'unknown');
  }
}

function perform(request: RestRequest, verb: RestVerb, key: string): Promise<RestAnswer> {
  switch (verb) {
    case 'list':
      return list(request);
    case 'get':
      return get(request, key);
    case 'create':
      return create(request);
    case 'update':
      return update(request, key);
    case 'remove':
      return remove(request, key);
  }
}

/**
 * A resolver of the project failed: its fields are left out, a header names them, and caches may
 * not keep the answer.
 */
function incomplete(answered: RestAnswer, failed: readonly string[]): RestAnswer {
  const { ETag: _, ...headers } = answered.headers ?? {};
  return {
    ...answered,
    headers: {
      ...headers,
      'Cache-Control': 'no-store',
      'X-Incomplete': [...new Set(failed)].slice(0, 20).join(', '),
    },
  };
}

/**
 * Answers differ by caller, so shared caches may not keep them, and no cache may keep a refusal.
 */
function keepPrivate(ctx: Context): void {
  ctx.set({ 'Cache-Control': 'private', 'X-Content-Type-Options': 'nosniff' });
  ctx.vary(['Authorization', 'X-API-Key']);
}

function send(ctx: Context, { status, text, stream, type, headers = {} }: RestAnswer): void {
  ctx.set({ ...headers });
  ctx.status = status;
  if (stream) return void ((ctx.body = stream), (ctx.type = `${type}; charset=utf-8`));
  if (text === undefined) return void ((ctx.body = null), (ctx.status = status));
  ctx.type = 'application/json; charset=utf-8';
  sendText(ctx, text);
}

/** What answers the requests of every module. It is loaded with the first of them. */
export const openEndpoint = (options: ServiceOptions): Middleware =>
  createEndpoint(createService(options));
