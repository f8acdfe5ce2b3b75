import { failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import type { LiveSession } from '../sessions/issue-tokens.ts';
import { asUser, type Caller, callerOf, HOST } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import { admits, admitsHost, clientOf, hasRefresh, lifetimesOf } from '../sessions/client.ts';
import { deliverHostLogin } from '../sessions/host-session.ts';
import { deliverLogin, presentedRefresh } from '../sessions/refresh-cookie.ts';
import { isGenuine, readRefreshToken, type RefreshClaim } from '../sessions/refresh-token.ts';
import { amrOf, type Session } from '../sessions/sessions.ts';
import { type Account, isClosed } from '../users/user-directory.ts';
import { hasSecondFactor, isSecondFactorRequired } from './entry.ts';
import { requireApiKey } from './login.ts';
import { continueSession } from './open-session.ts';

const refused = () => failure.unauthenticated('Invalid refresh token');

/** `POST /api/auth/refresh`: token rotation with reuse detection (RFC 9700 section 4.14). */
export async function refreshSession(
  auth: AuthState,
  { context, koa, body }: Call,
): Promise<Reply> {
  requireApiKey(auth, context);
  const client = clientOf(body);
  const claim = readRefreshToken(presentedRefresh(auth, koa, body.refreshToken, client) ?? '');
  if (!claim || !hasRefresh(auth, client)) throw refused();
  const session = await auth.sessions.find(auth.db, claim.sid);
  if (!session || session.client !== client || !isGenuine(auth.keys, claim, session.salt))
    throw refused();
  await auth.limits.enforce(koa, [{ policy: 'refresh-session', subject: session.id }]);
  if (session.principal === 'host') return continueHost(auth, { context, koa }, session, claim);
  const account = await ownerOf(auth, session);
  assertFactors(auth, session, account);
  if (!admits(auth, client, account)) throw refused();
  const redeemed = await redeem(auth, context, session, claim);
  const issued = await continueSession(auth, context, account, redeemed);
  return reply(200, deliverLogin(auth, koa, issued));
}

/** Rotates the token of an operator's session. Only sessions of an application have one. */
async function continueHost(
  auth: AuthState,
  { context, koa }: Pick<Call, 'context' | 'koa'>,
  session: Session,
  claim: RefreshClaim,
): Promise<Reply> {
  if (session.client === null || !admitsHost(auth, session.client)) throw refused();
  const redeemed = await redeem(auth, context, session, claim);
  return reply(200, deliverHostLogin(auth, koa, redeemed));
}

/**
 * Throws if a second factor became required after the sign-in, by the manifest or by a new role:
 * the user must sign in again.
 */
function assertFactors(auth: AuthState, session: Session, account: Account): void {
  if (isSecondFactorRequired(auth.model, account) && !hasSecondFactor(amrOf(session)))
    throw refused();
}

async function ownerOf(auth: AuthState, session: Session): Promise<Account> {
  const account = await auth.directory.find(auth.db, session.user_id!);
  if (!account || isClosed(account)) throw refused();
  return account;
}

/**
 * The newest token is rotated with one compare-and-swap. For a few seconds the previous token gets
 * the same successor, because two tabs may refresh at once. An older token was stolen or copied, so
 * its whole session ends.
 */
async function redeem(
  auth: AuthState,
  context: RequestContext,
  session: Session,
  claim: RefreshClaim,
): Promise<LiveSession> {
  const rotated = await rotate(auth, context, session, claim.generation);
  if (rotated) return { current: rotated, generation: rotated.gen };
  const current = await auth.sessions.find(auth.db, session.id);
  const now = auth.now();
  if (
    !current ||
    current.revoked_at !== null ||
    current.idle_expires_at <= now ||
    current.absolute_expires_at <= now
  )
    throw refused();
  const previous = claim.generation === current.gen - 1;
  if (previous && now - current.rotated_at <= auth.model.refresh.grace)
    return { current, generation: current.gen };
  if (claim.generation < current.gen) await endFamily(auth, context, current, claim.generation);
  throw refused();
}

async function rotate(
  auth: AuthState,
  context: RequestContext,
  session: Session,
  generation: number,
): Promise<Session | null> {
  const now = auth.now();
  const { idle } = lifetimesOf(auth, session.client) ?? auth.model.refresh;
  return auth.events.transact(ownerCaller(context, session), async ({ trx, emit }) => {
    const row = await trx
      .updateTable('auth_sessions')
      .set((set) => ({
        gen: set('gen', '+', 1),
        rotated_at: now,
        last_seen_at: now,
        idle_expires_at: now + idle,
      }))
      .where('id', '=', session.id)
      .where('gen', '=', generation)
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', now)
      .where('absolute_expires_at', '>', now)
      .returningAll()
      .executeTakeFirst();
    if (row) {
      const { id, client, user_id: user } = session;
      emit('token.refreshed', user, { session_id: id, client });
    }
    return row ?? null;
  });
}

function ownerCaller(context: RequestContext, { user_id }: Session): Caller {
  const caller = callerOf(context);
  return user_id === null ? { ...caller, actor: HOST } : asUser(caller, user_id);
}

/** The session ends although the refusal may roll back a transaction around it. */
async function endFamily(
  auth: AuthState,
  context: RequestContext,
  session: Session,
  generation: number,
): Promise<void> {
  await auth.store.keep(() =>
    auth.events.transact(callerOf(context), async ({ trx, emit }) => {
      if (!(await auth.sessions.end(trx, session.id, 'refresh token reused'))) return;
      emit('token.refresh_reuse', session.user_id, {
        session_id: session.id,
        gen: generation,
        current: session.gen,
      });
      emit('alert.refresh_reuse', session.user_id, { session_id: session.id });
    }),
  );
}
