import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import type { RequestContext } from '@twofold/runtime/kernel';
import { flag, object } from '@twofold/schema/shapes';
import type { Context as KoaContext } from 'koa';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { bearerToken, unauthorized } from '../requests/authenticate.ts';
import { asUser, callerOf } from '../base/caller.ts';
import { assertRecentProof } from '../requests/proof.ts';
import { clearClientCookie } from '../sessions/client-cookie.ts';
import { clientOf } from '../sessions/client.ts';
import { clearRefreshCookie, presentedRefresh } from '../sessions/refresh-cookie.ts';
import { isGenuine, readRefreshToken } from '../sessions/refresh-token.ts';
import { type Session, sessionView } from '../sessions/sessions.ts';
import { checkText, isOpaqueId } from '../base/identity-rules.ts';
import { DONE, flow, SIGNED_IN } from './flow.ts';
import { CLIENT, OPTIONAL_TOKEN, SESSION, SESSIONS, SHORT, WHOLE } from './shapes.ts';

export const logout = flow('POST /api/auth/logout', {
  needs: 'public',
  summary: 'End the session; doing it twice is fine',
  optional: true,
  body: object({ refreshToken: OPTIONAL_TOKEN, ...CLIENT }),
  answers: DONE,
  refuses: SIGNED_IN,
  async handle({ context, koa, body }, auth) {
    const client = clientOf(body);
    const held = [
      readBearer(auth, koa, context),
      await readRefresh(auth, { koa, context }, body.refreshToken, client),
    ].filter((each) => each !== null);
    if (held.length === 0) throw unauthorized(context);
    await end(auth, context, held);
    if (client === null) clearRefreshCookie(auth, koa);
    else clearClientCookie(auth, koa, client);
    return reply(200, { message: LOGGED_OUT });
  },
});

export const logoutAll = flow('POST /api/auth/logout-all', {
  needs: 'proof',
  summary: 'End every session',
  optional: true,
  body: object({ keep_current: flag }),
  answers: { 200: ['How many ended', object({ message: SHORT, revoked: WHOLE })] },
  refuses: SIGNED_IN,
  async handle({ context, koa, body }, auth) {
    const { userId, sessionId } = ownerOf(context);
    const keep = body.keep_current === true ? sessionId : undefined;
    const revoked = await auth.events.transact(callerOf(context), async ({ trx, emit }) => {
      const count = await auth.sessions.endAll(trx, userId, 'logout everywhere', keep);
      if (!keep && userId !== null)
        await auth.directory.update(trx, userId, { tokens_valid_after: auth.now() });
      emit('auth.logout_all', userId, { revoked: count });
      return count;
    });
    if (!keep) clearRefreshCookie(auth, koa);
    return reply(200, { message: LOGGED_OUT, revoked });
  },
});

export const sessions = flow('GET /api/auth/sessions', {
  needs: 'session',
  summary: 'Own live sessions',
  answers: { 200: ['The sessions', SESSIONS] },
  refuses: SIGNED_IN,
  async handle({ context }, auth) {
    const { userId, sessionId } = ownerOf(context);
    const live = await auth.sessions.live(auth.db, userId);
    const rows = live.map((session) => sessionView(session, sessionId));
    return reply(200, { sessions: rows, total: rows.length });
  },
});

export const renameSession = flow('PATCH /api/auth/sessions/:id', {
  needs: 'session',
  summary: "Name one session of one's own; an empty name clears it",
  body: object({ name: SHORT }, ['name']),
  answers: { 200: ['The session', SESSION] },
  refuses: { 404: 'Session not found', ...SIGNED_IN },
  async handle({ context, params, body }, auth) {
    const { userId, sessionId } = ownerOf(context);
    const session = await findOwn(auth, userId, params.id);
    const name = checkText('name', body.name ?? '') || null;
    await auth.sessions.setName(auth.db, session.id, name);
    return reply(200, sessionView({ ...session, name }, sessionId));
  },
});

export const endSession = flow('DELETE /api/auth/sessions/:id', {
  needs: 'session',
  summary: "End one session of one's own",
  answers: { 204: ['Ended'] },
  refuses: { 404: 'Session not found', ...SIGNED_IN },
  async handle({ context, params }, auth) {
    const { userId, sessionId } = ownerOf(context);
    if (params.id !== sessionId) await assertRecentProof(auth, auth.db, sessionId);
    const { id } = await findOwn(auth, userId, params.id);
    await auth.events.transact(callerOf(context), async ({ trx, emit }) => {
      if (await auth.sessions.end(trx, id, 'ended by its owner'))
        emit('auth.session_ended', userId, { session_id: id, reason: 'ended by its owner' });
    });
    return reply(204);
  },
});

const LOGGED_OUT = 'Logout successful';

/** A session to which the request has a valid token. `token` is the access token to blacklist. */
interface ProvenSession {
  readonly sid: string;
  readonly userId: UserId | null;
  readonly token?: { readonly jti: string; readonly exp: number };
}

/**
 * Finds a live session of this user or the operator. Another's session gets the same response as an
 * unknown one.
 *
 * @throws AppError 404
 */
async function findOwn(auth: AuthState, userId: UserId | null, id = ''): Promise<Session> {
  const live = isOpaqueId(id) ? await auth.sessions.live(auth.db, userId) : [];
  const session = live.find((each) => each.id === id);
  if (!session) throw failure.notFound('Session not found');
  return session;
}

function ownerOf({ principal }: RequestContext): { userId: UserId | null; sessionId: string } {
  if (principal.kind === 'user') return { userId: principal.id, sessionId: principal.sessionId };
  if (principal.kind === 'host') return { userId: null, sessionId: principal.sessionId };
  throw failure.unauthenticated();
}

/**
 * Reads the session of a bearer token. An expired token may still end its session, a forged one may
 * not. @throws AppError 401
 */
function readBearer(
  auth: AuthState,
  koa: KoaContext,
  context: RequestContext,
): ProvenSession | null {
  const token = bearerToken(koa);
  if (token === null) {
    if (koa.get('Authorization')) throw unauthorized(context);
    return null;
  }
  const user = auth.config.users ? auth.tokens.user.verify(token, { ignoreExpiry: true }) : null;
  const claims = user ?? auth.tokens.host.verify(token, { ignoreExpiry: true });
  if (!claims) throw unauthorized(context);
  return { sid: claims.sid, userId: user?.user_id ?? null, token: claims };
}

async function readRefresh(
  auth: AuthState,
  { koa, context }: Pick<Call, 'koa' | 'context'>,
  given: string | undefined,
  client: string | null,
): Promise<ProvenSession | null> {
  const text = presentedRefresh(auth, koa, given, client);
  if (!text) return null;
  const claim = readRefreshToken(text);
  if (!claim) throw unauthorized(context);
  const session = await auth.sessions.find(auth.db, claim.sid);
  // A session without a row was logged out long ago, which is no error.
  if (!session) return { sid: claim.sid, userId: null };
  if (session.client !== client || !isGenuine(auth.keys, claim, session.salt))
    throw unauthorized(context);
  return { sid: session.id, userId: session.user_id };
}

async function end(
  auth: AuthState,
  context: RequestContext,
  held: readonly ProvenSession[],
): Promise<void> {
  const userId = held.find((each) => each.userId !== null)?.userId ?? null;
  const caller = userId === null ? callerOf(context) : asUser(callerOf(context), userId);
  await auth.events.transact(caller, async ({ trx, emit }) => {
    for (const { sid, userId: owner, token } of held) {
      const live = await auth.sessions.end(trx, sid, 'logout');
      if (token && token.exp * 1000 > auth.now())
        await auth.sessions.blacklist(trx, token, owner, 'logout');
      if (live) emit('auth.logout', owner, { session_id: sid });
    }
  });
}
