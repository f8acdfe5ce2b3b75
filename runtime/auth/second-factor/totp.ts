import { Secret, TOTP } from 'otpauth';
import type { Change, StepWrites } from '../events/events.ts';
import type { AuthState } from '../state.ts';
import type { Account } from '../users/user-directory.ts';
import type { Db } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import { seal, unseal } from '../secrets/keys.ts';
import { MINUTE, SECOND } from '../base/time.ts';
import { removeRecoveryCodes, WrongAnswer } from './recovery-codes.ts';

/** RFC 6238 with the parameters that every app knows. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
const SECRET_BYTES = 20;
/** Time steps before and after the current one that are accepted, because clocks differ. */
const WINDOW = 1;
/** Milliseconds in which a new secret has to be confirmed. */
const PENDING_LIFETIME = 10 * MINUTE;

/** A new secret in Base32. */
export const newSecret = (): string => new Secret({ size: SECRET_BYTES }).base32;

/** The address that an app reads from the QR code. */
export function otpauthUrl(secret: string, { app, email }: { app: string; email: string }): string {
  return new TOTP({ ...PARAMETERS, secret, issuer: app, label: email }).toString();
}

/**
 * The time step whose code was given; null when it is not one of the three that count.
 *
 * @param now Milliseconds since 1970
 */
export function stepOf(secret: string, code: string, now: number): number | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const totp = new TOTP({ ...PARAMETERS, secret });
  const delta = totp.validate({ token, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / SECOND / PARAMETERS.period) + delta;
}

/**
 * Checks a code of a user's app.
 *
 * @returns the writes that use the code up: of several requests with one code one succeeds.
 * @throws WrongAnswer
 */
export async function proveCode(
  auth: AuthState,
  account: Account,
  code: unknown,
): Promise<StepWrites> {
  const stored = await readTotp(auth.db, account.id);
  const secret = account.totpSince === null ? null : unsealSecret(auth, account.id, stored.sealed);
  const step = secret === null ? null : stepOf(secret, String(code), auth.now());
  if (secret === null || step === null) throw new WrongAnswer();
  const resealed = sealSecret(auth, account.id, secret);
  return async ({ trx }) => {
    // The secret is sealed again with the server's current secret, so that earlier ones can be
    // retired.
    const { numUpdatedRows } = await trx
      .updateTable('auth_users')
      .set({ totp_step: step, totp_sealed: resealed })
      .where('user_id', '=', account.id)
      .where('totp_sealed', '=', stored.sealed)
      .where((row) => row.or([row('totp_step', 'is', null), row('totp_step', '<', step)]))
      .executeTakeFirst();
    if (Number(numUpdatedRows) !== 1) throw new WrongAnswer();
  };
}

/** A secret that waits for its first code; null when there is none or it is too old. */
export async function pendingSecret(auth: AuthState, userId: UserId): Promise<string | null> {
  const { pending, pendingAt } = await readTotp(auth.db, userId);
  if (pending === null || auth.now() - pendingAt > PENDING_LIFETIME) return null;
  return unsealSecret(auth, userId, pending);
}

export function sealSecret(auth: AuthState, userId: UserId, secret: string): string {
  return seal(auth.keys.derived('totp-seal'), secret, `totp|${userId}`);
}

function unsealSecret(auth: AuthState, userId: UserId, sealed: string | null): string | null {
  if (sealed === null) return null;
  const secret = unseal(auth.keys.derivedAll('totp-seal'), sealed, `totp|${userId}`);
  if (secret === null)
    auth.log.error(
      { userId },
      'a TOTP secret cannot be read: add the secret that sealed it to JWT_SECRET_PREVIOUS',
    );
  return secret;
}

interface StoredTotp {
  readonly sealed: string | null;
  readonly pending: string | null;
  readonly pendingAt: number;
}

async function readTotp(db: Db, userId: UserId): Promise<StoredTotp> {
  const row = await db
    .selectFrom('auth_users')
    .select(['totp_sealed', 'totp_pending', 'totp_pending_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return {
    sealed: row?.['totp_sealed'] ?? null,
    pending: row?.['totp_pending'] ?? null,
    pendingAt: row?.['totp_pending_at'] ?? 0,
  };
}

/** Switches TOTP off and removes the recovery codes, for a user who lost the device. */
export async function removeTotp(
  auth: AuthState,
  { trx, emit }: Change,
  { id, totpSince }: Account,
  by = 'admin',
): Promise<void> {
  const off = { totp_sealed: null, totp_step: null, totp_confirmed_at: null };
  await auth.directory.update(trx, id, { ...off, totp_pending: null, totp_pending_at: null });
  await removeRecoveryCodes(trx, id);
  if (totpSince !== null) emit('totp.disabled', id, { by });
}
