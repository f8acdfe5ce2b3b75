import type { Emit } from '../events/events.ts';
import type { AuthParts } from '../parts.ts';
import type { Trx } from '../tables.ts';
import type { Account } from '../users/user-directory.ts';

/**
 * Opens an account again whose owner has deleted it. Its sessions and keys have ended for good.
 *
 * @returns whether it could still be restored.
 */
export async function restoreAccount(
  { kernel, oneTime }: AuthParts,
  trx: Trx,
  emit: Emit,
  { id }: Pick<Account, 'id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('auth_users')
    .set({ deletion_at: null, updated_at: kernel.now() })
    .where('user_id', '=', id)
    .where('deletion_at', '>', kernel.now())
    .where('emptied_at', 'is', null)
    .executeTakeFirst();
  if (Number(numUpdatedRows) === 0) return false;
  await oneTime.endAll(trx, id);
  emit('user.restored', id, {});
  return true;
}
