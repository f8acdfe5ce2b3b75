import type { Context as KoaContext, Middleware } from 'koa';
import type { Principal, RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { isRevalidation } from '@twofold/runtime/http';
import type { AuthModel } from '@twofold/schema';
import { noteAttempt } from '../events/attempts.ts';
import { andThen, type NowOrLater } from '../base/and-then.ts';
import { addressKey, type Caller, callerOf } from '../base/caller.ts';
import type { KnownKey } from '../keys/api-keys.ts';
import type { UserId } from '../base/ids.ts';
import { isOperated, permissionsWith } from '../sessions/client.ts';
import type { AuthState } from '../state.ts';
import type { Limit } from '../limits/rate-limits.ts';
import { MINUTE } from '../base/time.ts';
import { narrowRequest } from './narrow.ts';
import { askCredentials } from './credentials.ts';

const REALM = 'Bearer realm="api"';
const HAS_BEARER = 'auth_presented';
const PRESENTED_KEY = 'auth_presented_key';
/** The scheme, one space and one token. Any other form is refused. */
const BEARER = /^Bearer ([^\s]+)$/i;

const AUTHORIZATION = 'authorization';

/**
 * Paths of auth, OAuth and health. Their responses are not cached, and an invalid token is not
 * refused here, so that sign-in, refresh and logout still work with one.
 */
const OPEN_PATHS = /^\/api\/(auth|oauth|health)(\/|$)/i;

/**
 * Finds the caller, by bearer token or `X-API-Key`, and puts them into the request context. A wrong
 * key is refused at once, and so is a wrong token, except on the paths of `OPEN_PATHS`.
 *
 * This runs for every request, so it avoids promises: with SQLite and limits in memory it creates
 * none.
 */
export function authenticate(auth: AuthState): Middleware {
  const routes = Object.entries(auth.model.routeLimits ?? {}).map(([route, rate]) => ({
    policy: policyName(route),
    rate,
    pattern: routePattern(route),
  }));
  const { organizations } = auth.model;
  const hasCredentials = (auth.credentials ?? []).length > 0;
  return function authenticate(ctx, next) {
    const context = ctx.state.context as RequestContext;
    if (OPEN_PATHS.test(ctx.path)) ctx.set('Cache-Control', 'no-store');
    const counts = auth.limits.enabled && !isRevalidation(ctx.req);
    const admitted = counts
      ? auth.limits.enforce(ctx, [
          { policy: 'global-ip', subject: addressKey(context.ip), leased: true },
        ])
      : undefined;
    const caller = andThen(admitted, () =>
      hasCredentials ? readOwn(auth, ctx, context) : readCaller(auth, ctx, context),
    );
    // A client may still name an organization that it has left, and must find out which it has.
    const known =
      organizations && !OPEN_PATHS.test(ctx.path)
        ? andThen(caller, () => narrowRequest(organizations, context))
        : caller;
    const counted = counts
      ? andThen(known, () => auth.limits.enforce(ctx, callerLimits(routes, ctx, context)))
      : known;
    return andThen(counted, next) as Promise<void>;
  };
}

/** Asks the credentials of the project first, then reads Bearer and X-API-Key. */
async function readOwn(auth: AuthState, ctx: KoaContext, context: RequestContext): Promise<void> {
  const { method, path } = ctx;
  const { headers, ip } = context;
  const found = await askCredentials(auth, { method, path, headers, ip }, context);
  if (!found) return readCaller(auth, ctx, context);
  const { principal } = found;
  context.principal = principal;
  context.values.set('user_id', principal.id);
  context.values.set('extend', principal.extend);
  if (principal.sessionId) context.values.set('session_id', principal.sessionId);
  context.values.set('auth_method', found.method);
  if (principal.impersonator !== undefined)
    context.values.set('impersonator', principal.impersonator);
}

function readCaller(auth: AuthState, ctx: KoaContext, context: RequestContext): NowOrLater<void> {
  const { authorization, 'x-api-key': apiKey } = ctx.req.headers;
  // Many clients send an empty field when no user is signed in.
  if (!apiKey) return authorization ? readBearer(auth, ctx, context, authorization) : undefined;
  return readApiKey(auth, ctx, context).then(() =>
    authorization ? readBoth(auth, ctx, context, authorization) : undefined,
  );
}

/**
 * Reads a request with both a key and a bearer token. Both must be valid, and a key that acts for a
 * user must act for the user of the token. The caller is that user.
 */
async function readBoth(
  auth: AuthState,
  ctx: KoaContext,
  context: RequestContext,
  authorization: string,
): Promise<void> {
  const [actsFor] = context.values.get<UserId>('user_id');
  await readBearer(auth, ctx, context, authorization);
  const { principal } = context;
  if (
    actsFor !== undefined &&
    principal.kind !== 'api_key' &&
    !(principal.kind === 'user' && principal.id === actsFor)
  )
    throw unauthorized(context);
}

/** The API key of a request, with or without a bearer token. */
export function presentedKey({ values }: RequestContext): KnownKey | undefined {
  return values.get<KnownKey>(PRESENTED_KEY)[0];
}

/** A 401 whose `WWW-Authenticate` names an error if there was a token (RFC 6750 section 3). */
export function unauthorized(context: RequestContext, message?: string) {
  const [presented] = context.values.get<boolean>(HAS_BEARER);
  return failure.unauthenticated(message, {
    headers: { 'WWW-Authenticate': presented ? `${REALM}, error="invalid_token"` : REALM },
  });
}

/** The text after `Bearer `, or null. */
export function bearerToken(koa: KoaContext): string | null {
  return bearerOf(koa.get('Authorization')) ?? null;
}

/** The token of an `Authorization` header, if it holds one. */
export const bearerOf = (authorization: string): string | undefined =>
  BEARER.exec(authorization)?.[1];

async function readApiKey(
  auth: AuthState,
  ctx: KoaContext,
  context: RequestContext,
): Promise<void> {
  const text = ctx.get('X-API-Key');
  const key = await auth.apiKeys.authenticate(text);
  if (!key) {
    if (!isRevalidation(ctx.req)) await noteBadKey(auth, callerOf(context), text);
    throw failure.unauthenticated('Invalid API key');
  }
  context.principal = keyPrincipal(key);
  context.values.set('auth_method', 'api_key');
  context.values.set('api_key_id', key.id);
  context.values.set('scopes', key.scopes);
  context.values.set(PRESENTED_KEY, key);
  if (key.userId !== null) context.values.set('user_id', key.userId);
}

/** The caller of a key. */
export const keyPrincipal = ({
  id,
  scopes,
  userId,
  organizations,
  bound = false,
}: KnownKey): Principal => ({
  kind: 'api_key',
  id,
  scopes,
  userId,
  ...(organizations && { organizations }),
  ...(bound && { narrowed: true }),
});

/** A wrong key counts as a failed login of the IP address that sent it. */
async function noteBadKey(auth: AuthState, caller: Caller, text: string): Promise<void> {
  const attempt = { kind: 'api_key', outcome: 'failure', reason: 'bad_api_key' } as const;
  const prefix = /^gk_([\w-]{8})_/.exec(text)?.[1] ?? null;
  await noteAttempt(auth, caller, attempt, (emit) => emit('api_key.failed', null, { prefix }));
  auth.alerts.observe({ caller, identifierHash: null, userId: null });
}

function readBearer(
  auth: AuthState,
  ctx: KoaContext,
  context: RequestContext,
  authorization: string,
): NowOrLater<void> {
  if (/^Bearer\b/i.test(authorization)) context.values.set(HAS_BEARER, true);
  const token = isRepeated(ctx.req.rawHeaders) ? undefined : bearerOf(authorization);
  const user = token === undefined ? false : readUser(auth, token, context);
  const known = andThen(
    user,
    (isUser) => isUser || (token !== undefined && readHost(auth, token, context)),
  );
  return andThen(known, (isKnown) => {
    if (!isKnown && !OPEN_PATHS.test(ctx.path)) throw unauthorized(context);
  });
}

/** Node keeps only the first of two such header fields, but a proxy may have used the second. */
function isRepeated(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1;
  }
  return count > 1;
}

/** Whether the session alone decides, and not the time of the token too. */
interface VerifyOptions {
  readonly ignoreExpiry?: boolean;
}

interface UserOptions extends VerifyOptions {
  readonly tokens?: AuthState['tokens']['user'];
}

/** Sets the principal to the user of a token. Returns false when the token is not valid. */
export function readUser(
  auth: AuthState,
  token: string,
  context: RequestContext,
  { tokens = auth.tokens.user, ...options }: UserOptions = {},
): NowOrLater<boolean> {
  const claims = auth.config.users ? tokens.verify(token, options) : null;
  if (!claims) return false;
  const { user_id: id, extend, sid: sessionId } = claims;
  return andThen(auth.sessions.check(claims), (session) => {
    if (session?.principal !== 'user') return false;
    context.principal = {
      kind: 'user',
      id,
      role: session.role,
      permissions: permissionsWith(auth.applications, session),
      sessionId,
      extend,
      ...(session.organizations && { organizations: session.organizations }),
      ...(session.client !== null && { client: session.client }),
      ...(session.impersonator !== null && { impersonator: session.impersonator }),
    };
    context.values.set('user_id', id);
    context.values.set('extend', extend);
    context.values.set('session_id', sessionId);
    context.values.set('amr', session.amr);
    context.values.set('auth_method', 'bearer');
    if (session.impersonator !== null) context.values.set('impersonator', session.impersonator);
    return true;
  });
}

/** Like `readUser`, for a token of the operator. */
export function readHost(
  auth: AuthState,
  token: string,
  context: RequestContext,
  options: VerifyOptions = {},
): NowOrLater<boolean> {
  const claims = auth.tokens.host.verify(token, options);
  if (!claims) return false;
  return andThen(auth.sessions.check(claims), (session) => {
    if (session?.principal !== 'host') return false;
    context.principal = {
      kind: 'host',
      sessionId: claims.sid,
      ...(isOperated(auth.applications) && { permissions: EVERYTHING }),
      ...(session.client !== null && { client: session.client }),
    };
    context.values.set('session_id', claims.sid);
    context.values.set('auth_method', 'host');
    return true;
  });
}

const EVERYTHING: readonly string[] = ['*'];

type RouteLimit = {
  readonly policy: string;
  readonly rate: NonNullable<AuthModel['routeLimits']>[string];
  readonly pattern: RegExp;
};

/** A pattern for `POST /api/posts/:id`, in any case, with or without a slash at the end. */
function routePattern(route: string): RegExp {
  const source = route
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll(/\*\w*/g, '.*');
  return new RegExp(`^${source.replace(/\/$/, '')}/?$`, 'i');
}

/** The name of a rate limit policy in a header contains no quotes and no spaces. */
const policyName = (route: string) => route.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Rate limits for the kind of caller, and those that the manifest sets on single routes. */
function callerLimits(
  routes: readonly RouteLimit[],
  ctx: KoaContext,
  context: RequestContext,
): readonly Limit[] {
  const { principal, ip } = context;
  const subject =
    principal.kind === 'user' || principal.kind === 'api_key'
      ? `${principal.kind}:${principal.id}`
      : addressKey(ip);
  const onRoute = routes.length > 0 ? routeCharges(routes, ctx, subject, ip) : NONE;
  const key = presentedKey(context);
  const byKey = key === undefined ? onRoute : [keyLimit(key), ...onRoute];
  return principal.kind === 'user' ? [{ policy: 'user', subject, leased: true }, ...byKey] : byKey;
}

function keyLimit({ id, limitPerMinute }: KnownKey): Limit {
  return {
    policy: 'api-key',
    subject: `api_key:${id}`,
    leased: true,
    ...(limitPerMinute && { rate: { count: limitPerMinute, window: MINUTE } }),
  };
}

const NONE: readonly Limit[] = [];

function routeCharges(
  routes: readonly RouteLimit[],
  ctx: KoaContext,
  subject: string,
  ip: string,
): Limit[] {
  const asked = `${ctx.method} ${ctx.path}`;
  return routes
    .filter(({ pattern }) => pattern.test(asked))
    .map(({ policy, rate }) => ({
      policy,
      rate,
      subject: rate.by === 'ip' ? addressKey(ip) : subject,
      leased: !OPEN_PATHS.test(ctx.path),
    }));
}
