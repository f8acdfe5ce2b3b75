import type { Transaction } from 'kysely';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { forgetDevices } from './devices.ts';
import { removeRecoveryCodes } from './recovery-codes.ts';

/** What a user lost. */
export interface RemovedFactors {
  readonly totp: boolean;
  readonly devices_ended: number;
}

/**
 * Switches TOTP off and removes recovery codes and remembered devices, in the caller's transaction.
 * Passkeys stay.
 */
export async function removeFactors(
  parts: AuthParts,
  trx: Transaction<any>,
  { id, totpSince }: { readonly id: UserId; readonly totpSince: number | null },
  { keepCodes = false }: { readonly keepCodes?: boolean } = {},
): Promise<RemovedFactors> {
  await parts.directory.update(trx, id, {
    totp_sealed: null,
    totp_step: null,
    totp_confirmed_at: null,
    totp_pending: null,
    totp_pending_at: null,
  });
  if (!keepCodes) await removeRecoveryCodes(trx, id);
  return { totp: totpSince !== null, devices_ended: await forgetDevices(trx, id) };
}
