import { SYSTEM } from '../caller.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { isForeignKeyViolation } from '../user-table.ts';
import { emptyAccount } from './empty-account.ts';

const BATCH_SIZE = 100;

type PurgeParts = Pick<AuthParts, 'kernel' | 'directory' | 'events' | 'model'>;

/** Deletes the accounts whose grace is over, each in a transaction of its own. */
export async function purgeAccounts(parts: PurgeParts): Promise<void> {
  const { kernel } = parts;
  await kernel.store.lock('auth-purge', async () => {
    for (;;) {
      const due = await kernel.store.db
        .selectFrom('auth_users')
        .select('user_id')
        .where('deletion_at', '<=', kernel.now())
        .where('emptied_at', 'is', null)
        .limit(BATCH_SIZE)
        .execute();
      for (const { user_id } of due) await purgeAccount(parts, user_id as UserId);
      if (due.length < BATCH_SIZE) return;
    }
  });
}

async function purgeAccount(parts: PurgeParts, id: UserId): Promise<void> {
  await parts.events.transact(SYSTEM, async (trx, emit) => {
    // A restore may have won meanwhile. The update also makes a later one wait.
    const claimed = await trx
      .updateTable('auth_users')
      .set({ emptied_at: parts.kernel.now() })
      .where('user_id', '=', id)
      .where('deletion_at', '<=', parts.kernel.now())
      .where('emptied_at', 'is', null)
      .executeTakeFirst();
    if (Number(claimed.numUpdatedRows) === 0) return;
    emit('user.deleted', id, { emptied: await deleteOrEmpty(parts, id) });
  });
}

/**
 * Deletes the row as any delete does. A row that others refer to with RESTRICT, or whose delete is
 * only a mark, stays without its personal data.
 *
 * @returns whether the row stays.
 */
async function deleteOrEmpty(parts: PurgeParts, id: UserId): Promise<boolean> {
  const { kernel, directory } = parts;
  if (directory.keepsDeleted) {
    await kernel.store.transaction((trx) => emptyAccount(parts, trx, id));
    await kernel.store.transaction((trx) => directory.remove(trx, id));
    return true;
  }
  try {
    await kernel.store.transaction((trx) => directory.remove(trx, id));
    return false;
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    await kernel.store.transaction((trx) => emptyAccount(parts, trx, id));
    return true;
  }
}
