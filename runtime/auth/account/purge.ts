import { SYSTEM } from '../requests/caller.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { isForeignKeyViolation } from '../users/user-table.ts';
import { emptyAccount } from './empty-account.ts';

const BATCH_SIZE = 100;

type PurgeParts = Pick<AuthParts, 'kernel' | 'directory' | 'events' | 'model'>;

/**
 * Deletes the accounts whose grace is over, each in a transaction of its own. An account that cannot
 * be deleted is logged, and does not keep the others.
 */
export async function purgeAccounts(parts: PurgeParts): Promise<void> {
  const { kernel } = parts;
  await kernel.store.lock('auth-purge', async () => {
    let after: UserId | null = null;
    for (;;) {
      const due = await dueAccounts(parts, after);
      for (const id of due)
        await purgeAccount(parts, id).catch((error: unknown) =>
          kernel.log.error(
            { userId: id, stack: error instanceof Error ? error.stack : String(error) },
            'a deleted account could not be removed: the next hour tries again',
          ),
        );
      if (due.length < BATCH_SIZE) return;
      after = due.at(-1) ?? null;
    }
  });
}

async function dueAccounts({ kernel }: PurgeParts, after: UserId | null): Promise<UserId[]> {
  let query = kernel.store.db
    .selectFrom('auth_users')
    .select('user_id')
    .where('deletion_at', '<=', kernel.now())
    .where('emptied_at', 'is', null);
  if (after !== null) query = query.where('user_id', '>', after);
  const rows = await query.orderBy('user_id').limit(BATCH_SIZE).execute();
  return rows.map(({ user_id }) => user_id);
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
