import { failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import { type Call, type Reply, reply } from '@twofold/runtime/http';
import { asUser, type Caller, callerOf, HOST } from '../requests/caller.ts';
import { hasSecondFactor, isSecondFactorRequired } from '../steps/entry.ts';
import { requireApiKey } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { admits, admitsHost, clientOf, hasRefresh, lifetimesOf } from './client.ts';
import { deliverHostLogin } from './host-session.ts';
import { deliverLogin, presentedRefresh } from './refresh-cookie.ts';
import { isGenuine, readRefreshToken, type RefreshClaim } from './refresh-token.ts';
import { amrOf, type Session } from './sessions.ts';
import { type Account, isClosed } from '../users/user-directory.ts';

const refused = () => failure.unauthenticated('Invalid refresh token');

/** `POST /api/auth/refresh`: token rotation with reuse detection (RFC 9700 section 4.14). */
export async function refreshSession(
  parts: AuthParts,
  { context, koa, body }: Call,
): Promise<Reply> {
  requireApiKey(parts, context);
  const client = clientOf(body);
  const claim = readRefreshToken(presentedRefresh(parts, koa, body.refreshToken, client) ?? '');
  if (!claim || !hasRefresh(parts, client)) throw refused();
  const session = await parts.sessions.find(parts.kernel.store.db, claim.sid);
  if (!session || session.client !== client || !isGenuine(parts.keys, claim, session.salt))
    throw refused();
  await parts.limits.enforce(koa, [{ policy: 'refresh-session', subject: session.id }]);
  if (session.principal === 'host') return continueHost(parts, { context, koa }, session, claim);
  const account = await ownerOf(parts, session);
  assertFactors(parts, session, account);
  if (!admits(parts, client, account)) throw refused();
  const { current, generation } = await redeem(parts, context, session, claim);
  const issued = await parts.signIn.continue(context, account, current, generation);
  return reply(200, deliverLogin(parts, koa, issued));
}

/** Rotates the token of an operator's session. Only sessions of an application have one. */
async function continueHost(
  parts: AuthParts,
  { context, koa }: Pick<Call, 'context' | 'koa'>,
  session: Session,
  claim: RefreshClaim,
): Promise<Reply> {
  if (session.client === null || !admitsHost(parts, session.client)) throw refused();
  const redeemed = await redeem(parts, context, session, claim);
  return reply(200, deliverHostLogin(parts, koa, redeemed));
}

/**
 * Throws if a second factor became required after the sign-in, by the manifest or by a new role:
 * the user must sign in again.
 */
function assertFactors({ model }: AuthParts, session: Session, account: Account): void {
  if (isSecondFactorRequired(model, account) && !hasSecondFactor(amrOf(session))) throw refused();
}

async function ownerOf(parts: AuthParts, session: Session): Promise<Account> {
  const account = await parts.directory.find(parts.kernel.store.db, session.user_id!);
  if (!account || isClosed(account)) throw refused();
  return account;
}

/**
 * The newest token is rotated with one compare-and-swap. For a few seconds the previous token gets
 * the same successor, because two tabs may refresh at once. An older token was stolen or copied, so
 * its whole session ends.
 */
async function redeem(
  parts: AuthParts,
  context: RequestContext,
  session: Session,
  claim: RefreshClaim,
): Promise<{ current: Session; generation: number }> {
  const rotated = await rotate(parts, context, session, claim.generation);
  if (rotated) return { current: rotated, generation: rotated.gen };
  const current = await parts.sessions.find(parts.kernel.store.db, session.id);
  const now = parts.kernel.now();
  if (
    !current ||
    current.revoked_at !== null ||
    current.idle_expires_at <= now ||
    current.absolute_expires_at <= now
  )
    throw refused();
  const previous = claim.generation === current.gen - 1;
  if (previous && now - current.rotated_at <= parts.model.refresh.grace)
    return { current, generation: current.gen };
  if (claim.generation < current.gen) await endFamily(parts, context, current, claim.generation);
  throw refused();
}

async function rotate(
  parts: AuthParts,
  context: RequestContext,
  session: Session,
  generation: number,
): Promise<Session | null> {
  const { kernel, model, events } = parts;
  const now = kernel.now();
  const { idle } = lifetimesOf(parts, session.client) ?? model.refresh;
  return events.transact(ownerCaller(context, session), async (trx, emit) => {
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
  { sessions, events, kernel }: AuthParts,
  context: RequestContext,
  session: Session,
  generation: number,
): Promise<void> {
  await kernel.store.keep(() =>
    events.transact(callerOf(context), async (trx, emit) => {
      if (!(await sessions.end(trx, session.id, 'refresh token reused'))) return;
      emit('token.refresh_reuse', session.user_id, {
        session_id: session.id,
        gen: generation,
        current: session.gen,
      });
      emit('alert.refresh_reuse', session.user_id, { session_id: session.id });
    }),
  );
}
