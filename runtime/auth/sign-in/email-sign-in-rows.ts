import type { Trx } from '../tables.ts';
import type { Kernel } from '@twofold/runtime/kernel';

/** Ends the open sign-ins by mail of an address. */
export async function endEmailSignIns(
  { now }: Pick<Kernel, 'now'>,
  trx: Trx,
  identifierHash: string,
): Promise<void> {
  await trx
    .updateTable('auth_email_sign_ins')
    .set({ used_at: now() })
    .where('identifier_hash', '=', identifierHash)
    .where('used_at', 'is', null)
    .execute();
}
