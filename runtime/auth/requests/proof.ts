import type { RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { Db, Trx } from '../base/tables.ts';
import type { AuthState } from '../state.ts';
import type { Account } from '../users/user-directory.ts';
import type { UserId } from '../base/ids.ts';
import { MINUTE } from '../base/time.ts';
import { unauthorized } from './authenticate.ts';

/** Milliseconds for which a sign-in or a reauthentication is a proof. */
export const PROOF_LIFETIME = 5 * MINUTE;

/** The guard `proof` of a route: the session of the bearer token has a proof. */
export async function guardProof(auth: AuthState, context: RequestContext): Promise<void> {
  const { principal } = context;
  if (principal.kind !== 'user' && principal.kind !== 'host') throw unauthorized(context);
  await assertRecentProof(auth, auth.db, principal.sessionId);
}

/**
 * The account of a signed-in user whose session has a proof: it signed in, or used
 * `POST /api/auth/reauthenticate`, within the last five minutes (ASVS 7.5.1). An API key and the
 * operator have no account.
 *
 * @throws AppError 401, 403 `Reauthentication required`, 404
 */
export async function assertProof(
  auth: AuthState,
  context: RequestContext,
): Promise<{ account: Account; sessionId: string }> {
  const who = await signedInAccount(auth, context);
  await assertRecentProof(auth, auth.db, who.sessionId);
  return who;
}

/**
 * A session without `reauth_at`, which an administrator has opened to act as the user, never has a
 * proof.
 *
 * @throws AppError 403 `Reauthentication required`
 */
export async function assertRecentProof(auth: AuthState, db: Db, sessionId: string): Promise<void> {
  const session = await auth.sessions.find(db, sessionId);
  if (!session?.reauth_at || auth.now() - session.reauth_at > PROOF_LIFETIME)
    throw failure.forbidden('Reauthentication required');
}

/**
 * An administrator's own account is changed here only as it is by its owner: with a proof. A stolen
 * token would otherwise make keys for it, or take its second factor away.
 *
 * @throws AppError 403 `Reauthentication required`
 */
export async function assertProofFor(
  auth: AuthState,
  db: Db,
  { principal }: RequestContext,
  id: UserId,
): Promise<void> {
  if (principal.kind === 'user' && principal.id === id)
    await assertRecentProof(auth, db, principal.sessionId);
}

/**
 * The account of a signed-in user. An API key or the operator is refused.
 *
 * @throws AppError 401, 404
 */
export async function signedInAccount(
  auth: AuthState,
  context: RequestContext,
): Promise<{ account: Account; sessionId: string }> {
  if (context.principal.kind !== 'user') throw unauthorized(context);
  const account = await auth.directory.find(auth.db, context.principal.id);
  if (!account) throw failure.notFound('User not found');
  return { account, sessionId: context.principal.sessionId };
}

/**
 * Call this inside a transaction that gives access, after `serialiseRights`, because a new password
 * may have ended the session since the request began.
 *
 * @throws AppError 401
 */
export async function assertStillOpen(auth: AuthState, trx: Trx, sessionId: string): Promise<void> {
  const session = await auth.sessions.find(trx, sessionId);
  if (!session || session.revoked_at !== null) throw failure.unauthenticated();
}
