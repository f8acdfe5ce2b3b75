import type { AnyDb, Trx } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';

/**
 * Call this after one way to sign in was removed, in its transaction and after
 * `directory.serialise`.
 *
 * @throws AppError 409 when the user could no longer sign in.
 */
export async function assertOtherMethod(
  { directory, model }: AuthParts,
  trx: Trx,
  userId: UserId,
): Promise<void> {
  const account = await directory.find(trx, userId);
  if (!account || account.password !== null || model.emailSignIn !== 'off') return;
  for (const table of ['auth_passkeys', 'auth_identities'])
    if (await hasRow(trx, table, userId)) return;
  throw failure.conflict('Cannot remove the last sign-in method');
}

async function hasRow(db: AnyDb, table: string, userId: UserId): Promise<boolean> {
  const query = db.selectFrom(table).select('user_id').where('user_id', '=', userId).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}
