import type { Trx } from '../tables.ts';
import type { RequestContext } from '@twofold/runtime/kernel';
import { failure } from '@twofold/runtime/errors';
import { unauthorized } from '../requests/authenticate.ts';
import type { AuthParts } from '../parts.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * The account of a signed-in user. An API key or the operator is refused.
 *
 * @throws AppError 401, 404
 */
export async function signedInAccount(
  { directory, kernel }: AuthParts,
  context: RequestContext,
): Promise<{ account: Account; sessionId: string }> {
  if (context.principal.kind !== 'user') throw unauthorized(context);
  const account = await directory.find(kernel.store.db, context.principal.id);
  if (!account) throw failure.notFound('User not found');
  return { account, sessionId: context.principal.sessionId };
}

/**
 * Call this inside a transaction that gives access, after `serialiseRights`, because a new password
 * may have ended the session since the request began.
 *
 * @throws AppError 401
 */
export async function assertStillOpen(
  { sessions }: AuthParts,
  trx: Trx,
  sessionId: string,
): Promise<void> {
  const session = await sessions.find(trx, sessionId);
  if (!session || session.revoked_at !== null) throw failure.unauthenticated();
}
