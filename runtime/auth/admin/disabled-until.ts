import { SYSTEM } from '../requests/caller.ts';
import type { AuthParts } from '../parts.ts';

/**
 * Enables the users again whose time is over. Sign-ins do not wait for this: they compare the time
 * themselves. It makes the event, and the user counts as an enabled owner again.
 */
export async function enableDue(parts: Pick<AuthParts, 'kernel' | 'events'>): Promise<void> {
  const { kernel, events } = parts;
  await events.transact(SYSTEM, async (trx, emit) => {
    const rows = await trx
      .updateTable('auth_users')
      .set({ disabled_at: null, disabled_until: null, disabled_reason: null })
      .where('disabled_until', '<=', kernel.now())
      .returning('user_id')
      .execute();
    for (const row of rows) emit('user.enabled', row.user_id, { reason: 'the time is over' });
  });
}
