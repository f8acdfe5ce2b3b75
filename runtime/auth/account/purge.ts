import type { Change } from '../events/events.ts';
import type { AuthState } from '../state.ts';
import type { Account } from '../users/user-directory.ts';
import { SYSTEM } from '../base/caller.ts';
import type { UserId } from '../base/ids.ts';
import { isForeignKeyViolation } from '../users/user-table.ts';
import { emptyAccount } from './empty-account.ts';

const BATCH_SIZE = 100;

/**
 * Deletes the accounts whose grace is over, each in a transaction of its own. An account that cannot
 * be deleted is logged, and does not keep the others.
 */
export async function purgeAccounts(auth: AuthState): Promise<void> {
  await auth.store.lock('auth-purge', async () => {
    let after: UserId | null = null;
    for (;;) {
      const due = await dueAccounts(auth, after);
      for (const id of due)
        await purgeAccount(auth, id).catch((error: unknown) =>
          auth.log.error(
            { userId: id, stack: error instanceof Error ? error.stack : String(error) },
            'a deleted account could not be removed: the next hour tries again',
          ),
        );
      if (due.length < BATCH_SIZE) return;
      after = due.at(-1) ?? null;
    }
  });
}

async function dueAccounts(auth: AuthState, after: UserId | null): Promise<UserId[]> {
  let query = auth.db
    .selectFrom('auth_users')
    .select('user_id')
    .where('deletion_at', '<=', auth.now())
    .where('emptied_at', 'is', null);
  if (after !== null) query = query.where('user_id', '>', after);
  const rows = await query.orderBy('user_id').limit(BATCH_SIZE).execute();
  return rows.map(({ user_id }) => user_id);
}

async function purgeAccount(auth: AuthState, id: UserId): Promise<void> {
  await auth.events.transact(SYSTEM, async ({ trx, emit }) => {
    // A restore may have won meanwhile. The update also makes a later one wait.
    const claimed = await trx
      .updateTable('auth_users')
      .set({ emptied_at: auth.now() })
      .where('user_id', '=', id)
      .where('deletion_at', '<=', auth.now())
      .where('emptied_at', 'is', null)
      .executeTakeFirst();
    if (Number(claimed.numUpdatedRows) === 0) return;
    emit('user.deleted', id, { emptied: await deleteOrEmpty(auth, id) });
  });
}

/**
 * Deletes the row as any delete does. A row that others refer to with RESTRICT, or whose delete is
 * only a mark, stays without its personal data.
 *
 * @returns whether the row stays.
 */
async function deleteOrEmpty(auth: AuthState, id: UserId): Promise<boolean> {
  if (auth.directory.keepsDeleted) {
    await auth.store.transaction((trx) => emptyAccount(auth, trx, id));
    await auth.store.transaction((trx) => auth.directory.remove(trx, id));
    return true;
  }
  try {
    await auth.store.transaction((trx) => auth.directory.remove(trx, id));
    return false;
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    await auth.store.transaction((trx) => emptyAccount(auth, trx, id));
    return true;
  }
}

/**
 * Opens an account again whose owner has deleted it. Its sessions and keys have ended for good.
 *
 * @returns whether it could still be restored.
 */
export async function restoreAccount(
  auth: AuthState,
  { trx, emit }: Change,
  { id }: Pick<Account, 'id'>,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('auth_users')
    .set({ deletion_at: null, updated_at: auth.now() })
    .where('user_id', '=', id)
    .where('deletion_at', '>', auth.now())
    .where('emptied_at', 'is', null)
    .executeTakeFirst();
  if (Number(numUpdatedRows) === 0) return false;
  await auth.oneTime.endAll(trx, id);
  emit('user.restored', id, {});
  return true;
}
