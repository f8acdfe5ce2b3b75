import type { Db } from '../tables.ts';
import type { RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import type { UserId } from '../ids.ts';
import { unauthorized } from './authenticate.ts';
import type { AuthParts } from '../parts.ts';
import { signedInAccount } from '../steps/reauthentication.ts';
import { MINUTE } from '../time.ts';
import type { Account } from '../users/user-directory.ts';

/** Milliseconds for which a sign-in or a reauthentication is a proof. */
export const PROOF_LIFETIME = 5 * MINUTE;

/** The guard `proof` of a route: the session of the bearer token has a proof. */
export async function guardProof(parts: AuthParts, context: RequestContext): Promise<void> {
  const { principal } = context;
  if (principal.kind !== 'user' && principal.kind !== 'host') throw unauthorized(context);
  await assertRecentProof(parts, parts.kernel.store.db, principal.sessionId);
}

/**
 * The account of a signed-in user whose session has a proof: it signed in, or used
 * `POST /api/auth/reauthenticate`, within the last five minutes (ASVS 7.5.1). An API key and the
 * operator have no account.
 *
 * @throws AppError 401, 403 `Reauthentication required`, 404
 */
export async function assertProof(
  parts: AuthParts,
  context: RequestContext,
): Promise<{ account: Account; sessionId: string }> {
  const who = await signedInAccount(parts, context);
  await assertRecentProof(parts, parts.kernel.store.db, who.sessionId);
  return who;
}

/**
 * A session without `reauth_at`, which an administrator has opened to act as the user, never has a
 * proof.
 *
 * @throws AppError 403 `Reauthentication required`
 */
export async function assertRecentProof(
  { sessions, kernel }: AuthParts,
  db: Db,
  sessionId: string,
): Promise<void> {
  const session = await sessions.find(db, sessionId);
  if (!session?.reauth_at || kernel.now() - session.reauth_at > PROOF_LIFETIME)
    throw failure.forbidden('Reauthentication required');
}

/**
 * An administrator's own account is changed here only as it is by its owner: with a proof. A stolen
 * token would otherwise make keys for it, or take its second factor away.
 *
 * @throws AppError 403 `Reauthentication required`
 */
export async function assertProofFor(
  parts: AuthParts,
  db: Db,
  { principal }: RequestContext,
  id: UserId,
): Promise<void> {
  if (principal.kind === 'user' && principal.id === id)
    await assertRecentProof(parts, db, principal.sessionId);
}
