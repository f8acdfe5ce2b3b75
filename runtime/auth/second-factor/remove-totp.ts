import type { AuthParts } from '../parts.ts';
import type { RightsChange } from '../users/roles.ts';
import type { Account } from '../users/user-directory.ts';
import { removeRecoveryCodes } from './recovery-codes.ts';

/** Switches TOTP off and removes the recovery codes, for a user who lost the device. */
export async function removeTotp(
  { directory }: AuthParts,
  { trx, emit }: Pick<RightsChange, 'trx' | 'emit'>,
  { id, totpSince }: Account,
  by = 'admin',
): Promise<void> {
  const off = { totp_sealed: null, totp_step: null, totp_confirmed_at: null };
  await directory.update(trx, id, { ...off, totp_pending: null, totp_pending_at: null });
  await removeRecoveryCodes(trx, id);
  if (totpSince !== null) emit('totp.disabled', id, { by });
}
