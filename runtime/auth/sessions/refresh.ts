import { failure } from '@twofold/runtime/errors';
import type { RequestContext } from '@twofold/runtime/kernel';
import { type Handler, reply } from '@twofold/runtime/http';
import { asUser, callerOf } from '../requests/caller.ts';
import { hasSecondFactor, isSecondFactorRequired } from '../steps/entry.ts';
import { requireApiKey } from '../sign-in/login.ts';
import type { AuthParts } from '../parts.ts';
import { assertSameSite, deliverLogin, refreshFromCookie } from './refresh-cookie.ts';
import { isGenuine, readRefreshToken, type RefreshClaim } from './refresh-token.ts';
import { amrOf, type Session } from './sessions.ts';
import { type Account, isClosed } from '../users/user-directory.ts';

const refused = () => failure.unauthenticated('Invalid refresh token');

/** `POST /api/auth/refresh`: token rotation with reuse detection (RFC 9700 section 4.14). */
export function createRefresh(parts: AuthParts): Handler {
  return async ({ context, koa, body }) => {
    requireApiKey(parts, context);
    const cookie = body.refreshToken ? null : refreshFromCookie(parts, koa);
    if (cookie) assertSameSite(parts, koa);
    const claim = readRefreshToken(body.refreshToken ?? cookie ?? '');
    if (!claim || !parts.model.refresh.enabled) throw refused();
    const session = await parts.sessions.find(parts.kernel.store.db, claim.sid);
    if (!session || session.principal !== 'user' || !isGenuine(parts.keys, claim, session.salt))
      throw refused();
    await parts.limits.enforce(koa, [{ policy: 'refresh-session', subject: session.id }]);
    const account = await ownerOf(parts, session);
    assertFactors(parts, session, account);
    const { current, generation } = await redeem(parts, context, session, claim);
    return reply(
      200,
      deliverLogin(parts, koa, await parts.signIn.continue(context, account, current, generation)),
    );
  };
}

/**
 * A second factor that is required since the sign-in, by the manifest or by a new role, needs a new
 * sign-in.
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
  { kernel, model, events }: AuthParts,
  context: RequestContext,
  session: Session,
  generation: number,
): Promise<Session | null> {
  const now = kernel.now();
  return events.transact(asUser(callerOf(context), session.user_id!), async (trx, emit) => {
    const row = await trx
      .updateTable('auth_sessions')
      .set((set) => ({
        gen: set('gen', '+', 1),
        rotated_at: now,
        last_seen_at: now,
        idle_expires_at: now + model.refresh.idle,
      }))
      .where('id', '=', session.id)
      .where('gen', '=', generation)
      .where('revoked_at', 'is', null)
      .where('idle_expires_at', '>', now)
      .where('absolute_expires_at', '>', now)
      .returningAll()
      .executeTakeFirst();
    if (row) emit('token.refreshed', session.user_id, { session_id: session.id });
    return (row as Session | undefined) ?? null;
  });
}

async function endFamily(
  { sessions, events }: AuthParts,
  context: RequestContext,
  session: Session,
  generation: number,
): Promise<void> {
  await events.transact(callerOf(context), async (trx, emit) => {
    if (!(await sessions.end(trx, session.id, 'refresh token reused'))) return;
    emit('token.refresh_reuse', session.user_id, {
      session_id: session.id,
      gen: generation,
      current: session.gen,
    });
    emit('alert.refresh_reuse', session.user_id, { session_id: session.id });
  });
}
