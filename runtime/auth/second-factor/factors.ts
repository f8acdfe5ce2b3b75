import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import type { StepWrites } from '../events/events.ts';
import type { Db } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import type { AuthState } from '../state.ts';
import { ClonedPasskey, provePasskey, reportClone, usePasskey } from '../passkeys/prove.ts';
import type { Amr } from '../sessions/sessions.ts';
import type { Account } from '../users/user-directory.ts';
import { proveRecoveryCode, WrongAnswer } from './recovery-codes.ts';
import { proveCode } from './totp.ts';

/** A second factor that was proved, and the writes that use it up. */
export interface ProvenFactor {
  readonly amr: readonly Amr[];
  /** The id of the passkey, if it was one. */
  readonly passkey?: string;
  /** Throws `WrongAnswer` when a concurrent request used the factor first. */
  readonly writes: StepWrites;
}

/** Checks one kind of answer. @throws WrongAnswer */
type Prove = (auth: AuthState, call: Call, account: Account) => Promise<ProvenFactor>;

/** The second factors by the field of the body that holds the answer. */
const FACTORS: Readonly<Record<'code' | 'recovery_code' | 'credential', Prove>> = {
  code: async (auth, { body }, account) => ({
    amr: ['otp'],
    writes: await proveCode(auth, account, body.code),
  }),
  recovery_code: async (auth, { body }, account) => ({
    amr: ['recovery'],
    writes: await proveRecoveryCode(auth, account, body.recovery_code),
  }),
  credential: (auth, call, account) =>
    provePasskeyFactor(auth, call, account, 'passkey_second_factor'),
};

/**
 * Checks the second factor in the body of a request.
 *
 * @throws WrongAnswer, AppError 400 when there is none or more than one
 */
export function proveFactor(auth: AuthState, call: Call, account: Account): Promise<ProvenFactor> {
  const given = Object.keys(FACTORS).filter((name) => call.body[name] !== undefined);
  if (given.length === 0) throw failure.badRequest('code is required');
  if (given.length > 1) throw failure.badRequest(`${given[1]} must be absent`);
  return FACTORS[given[0] as keyof typeof FACTORS](auth, call, account);
}

/** Checks a passkey of a user who is known already. @throws WrongAnswer */
export async function provePasskeyFactor(
  auth: AuthState,
  call: Call,
  account: Account,
  purpose: 'passkey_second_factor' | 'passkey_reauthentication',
): Promise<ProvenFactor> {
  const proven = await provePasskey(auth, call.body.credential, purpose, account.id);
  if ('reason' in proven) throw new WrongAnswer();
  return {
    amr: ['hwk', 'user'],
    passkey: proven.passkey.id,
    writes: async ({ trx }) => {
      try {
        await usePasskey(auth, trx, proven);
      } catch (error) {
        if (!(error instanceof ClonedPasskey)) throw error;
        // The event has to outlive this transaction, which is rolled back.
        auth.background.run(() => reportClone(auth, call, proven));
        throw new WrongAnswer();
      }
    },
  };
}

/** Whether a user has a passkey, and passkeys are on. */
export async function hasPasskey(auth: AuthState, db: Db, userId: UserId): Promise<boolean> {
  if (!auth.config.passkeys) return false;
  const row = await db
    .selectFrom('auth_passkeys')
    .select('id')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
