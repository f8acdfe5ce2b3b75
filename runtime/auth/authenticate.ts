import type { Middleware, Context as KoaContext } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import { failure } from '../errors.ts';
import { recordAttempt } from './attempts.ts';
import { addressKey, type Caller, callerOf } from './caller.ts';
import type { AuthModel } from '@twofold/schema';
import type { AuthParts } from './parts.ts';
import type { Limit } from './rate-limits.ts';
import { MINUTE } from './time.ts';

const REALM = 'Bearer realm="api"';
const PRESENTED = 'auth_presented';
const BEARER = /^Bearer +([^\s]+) *$/i;

/** Paths on which a stale token is no obstacle: one signs in, refreshes and logs out there. */
const OPEN = /^\/api\/(auth|oauth|health)(\/|$)/i;

/**
 * Finds out who calls, by bearer token or `X-API-Key`, and says so in the request context. A key that is wrong is
 * refused at once; so is a token, except where people sign in.
 */
export function authenticate(parts: AuthParts): Middleware {
  const routes = Object.entries(parts.model.routeLimits ?? {}).map(([route, rate]) => ({ policy: policyName(route), rate, pattern: routePattern(route) }));
  return async function authenticate(ctx, next) {
    const context = ctx.state.context as RequestContext;
    if (OPEN.test(ctx.path)) ctx.set('Cache-Control', 'no-store');
    const { limits } = parts;
    if (limits.enabled) await limits.enforce(ctx, [{ policy: 'global-ip', subject: addressKey(context.ip) }]);
    if (ctx.req.headers['x-api-key']) await readApiKey(parts, ctx, context);
    else if (ctx.req.headers.authorization) await readBearer(parts, ctx, context);
    if (limits.enabled) await limits.enforce(ctx, callerLimits(routes, ctx, context));
    await next();
  };
}

/** 401 as RFC 6750 section 3 wants it: it says whether a token was there. */
export function unauthorized(context: RequestContext, message?: string) {
  const [presented] = context.values.get<boolean>(PRESENTED);
  return failure.unauthenticated(message, { headers: { 'WWW-Authenticate': presented ? `${REALM}, error="invalid_token"` : REALM } });
}

/** The text after `Bearer `, or null. */
export function bearerToken(koa: KoaContext): string | null {
  return BEARER.exec(koa.get('Authorization'))?.[1] ?? null;
}

async function readApiKey(parts: AuthParts, ctx: KoaContext, context: RequestContext): Promise<void> {
  const text = ctx.get('X-API-Key');
  const key = await parts.apiKeys.authenticate(text);
  if (!key) {
    await noteBadKey(parts, callerOf(context), text);
    throw failure.unauthenticated('Invalid API key');
  }
  context.principal = { kind: 'api_key', id: key.id, scopes: key.scopes, userId: key.userId };
  context.values.set('auth_method', 'api_key');
  context.values.set('api_key_id', key.id);
  context.values.set('scopes', key.scopes);
  context.values.set('api_key_limit', key.limitPerMinute);
  if (key.userId !== null) context.values.set('user_id', key.userId);
}

/** A key that fails counts like a login that fails, for whoever sends it. */
async function noteBadKey({ events, kernel, alerts }: AuthParts, caller: Caller, text: string): Promise<void> {
  await events.transact(caller, async (trx, emit) => {
    await recordAttempt(trx, kernel.now(), caller, { kind: 'api_key', outcome: 'failure', reason: 'bad_api_key', identifierHash: null, identifier: null, userId: null, sessionId: null });
    emit('api_key.failed', null, { prefix: /^gk_([\w-]{8})_/.exec(text)?.[1] ?? null });
  });
  alerts.observe({ caller, identifierHash: null, userId: null });
}

async function readBearer(parts: AuthParts, ctx: KoaContext, context: RequestContext): Promise<void> {
  if (!/^Bearer\b/i.test(ctx.get('Authorization'))) return;
  context.values.set(PRESENTED, true);
  const token = bearerToken(ctx);
  const known = token !== null && ((await readUser(parts, token, context)) || (await readHost(parts, token, context)));
  if (!known && !OPEN.test(ctx.path)) throw unauthorized(context);
}

async function readUser(parts: AuthParts, token: string, context: RequestContext): Promise<boolean> {
  const claims = parts.users ? parts.accessTokens.verify(token) : null;
  if (!claims) return false;
  const standing = await parts.sessions.check({ sid: claims.sid, jti: claims.jti, iat: claims.iat, userId: claims.user_id });
  if (!standing || standing.principal !== 'user') return false;
  context.principal = {
    kind: 'user', id: claims.user_id, role: standing.role, permissions: standing.permissions, sessionId: claims.sid, extend: claims.extend,
  };
  context.values.set('user_id', claims.user_id);
  context.values.set('extend', claims.extend);
  context.values.set('session_id', claims.sid);
  context.values.set('auth_method', 'bearer');
  return true;
}

async function readHost(parts: AuthParts, token: string, context: RequestContext): Promise<boolean> {
  const claims = parts.hostTokens.verify(token);
  if (!claims) return false;
  const standing = await parts.sessions.check({ sid: claims.sid, jti: claims.jti, iat: claims.iat, userId: null });
  if (!standing || standing.principal !== 'host') return false;
  context.principal = { kind: 'host', sessionId: claims.sid };
  context.values.set('session_id', claims.sid);
  context.values.set('auth_method', 'host');
  return true;
}

type RouteLimit = { readonly policy: string; readonly rate: NonNullable<AuthModel['routeLimits']>[string]; readonly pattern: RegExp };

/** `POST /api/posts/:id` as it may come in: in any case, with or without a slash at the end. */
function routePattern(route: string): RegExp {
  const source = route.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]+').replaceAll(/\*\w*/g, '.*');
  return new RegExp(`^${source.replace(/\/$/, '')}/?$`, 'i');
}

/** A policy's name in a header has no quotes and no spaces. */
const policyName = (route: string) => route.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Limits by who calls, and those that the manifest sets on single routes. */
function callerLimits(routes: readonly RouteLimit[], ctx: KoaContext, { principal, values, ip }: RequestContext): Limit[] {
  const subject = principal.kind === 'user' || principal.kind === 'api_key' ? `${principal.kind}:${principal.id}` : addressKey(ip);
  const onRoute = routes.filter(({ pattern }) => pattern.test(`${ctx.method} ${ctx.path}`)).map(({ policy, rate }) => ({ policy, rate, subject: rate.by === 'ip' ? addressKey(ip) : subject }));
  if (principal.kind === 'user') return [{ policy: 'user', subject }, ...onRoute];
  if (principal.kind !== 'api_key') return onRoute;
  const [perMinute] = values.get<number | null>('api_key_limit');
  return [{ policy: 'api-key', subject, ...(perMinute && { rate: { count: perMinute, window: MINUTE } }) }, ...onRoute];
}
