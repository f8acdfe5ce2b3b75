import type { Db } from '../tables.ts';
import { failure } from '@twofold/runtime/errors';
import type { Call } from '@twofold/runtime/http';
import { WrongAnswer } from '../steps/code-attempt.ts';
import type { StepWrites } from '../steps/entry.ts';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import { ClonedPasskey, reportClone, usePasskey } from '../passkeys/clones.ts';
import { provePasskey } from '../passkeys/prove.ts';
import type { Amr } from '../sessions/sessions.ts';
import type { Account } from '../users/user-directory.ts';
import { proveRecoveryCode } from './recovery-codes.ts';
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
type Prove = (parts: AuthParts, call: Call, account: Account) => Promise<ProvenFactor>;

/** The second factors by the field of the body that holds the answer. */
const FACTORS: Readonly<Record<'code' | 'recovery_code' | 'credential', Prove>> = {
  code: async (parts, { body }, account) => ({
    amr: ['otp'],
    writes: await proveCode(parts, account, body.code),
  }),
  recovery_code: async (parts, { body }, account) => ({
    amr: ['recovery'],
    writes: await proveRecoveryCode(parts, account, body.recovery_code),
  }),
  credential: (parts, call, account) =>
    provePasskeyFactor(parts, call, account, 'passkey_second_factor'),
};

/**
 * Checks the second factor in the body of a request.
 *
 * @throws WrongAnswer, AppError 400 when there is none or more than one
 */
export function proveFactor(parts: AuthParts, call: Call, account: Account): Promise<ProvenFactor> {
  const given = Object.keys(FACTORS).filter((name) => call.body[name] !== undefined);
  if (given.length === 0) throw failure.badRequest('code is required');
  if (given.length > 1) throw failure.badRequest(`${given[1]} must be absent`);
  return FACTORS[given[0] as keyof typeof FACTORS](parts, call, account);
}

/** Checks a passkey of a user who is known already. @throws WrongAnswer */
export async function provePasskeyFactor(
  parts: AuthParts,
  call: Call,
  account: Account,
  purpose: 'passkey_second_factor' | 'passkey_reauthentication',
): Promise<ProvenFactor> {
  const proven = await provePasskey(parts, call.body.credential, purpose, account.id);
  if ('reason' in proven) throw new WrongAnswer();
  return {
    amr: ['hwk', 'user'],
    passkey: proven.passkey.id,
    writes: async (trx) => {
      try {
        await usePasskey(parts, trx, proven);
      } catch (error) {
        if (!(error instanceof ClonedPasskey)) throw error;
        // The event has to outlive this transaction, which is rolled back.
        parts.background.run(() => reportClone(parts, call, proven));
        throw new WrongAnswer();
      }
    },
  };
}

/** Whether a user has a passkey, and passkeys are on. */
export async function hasPasskey({ config }: AuthParts, db: Db, userId: UserId): Promise<boolean> {
  if (!config.passkeys) return false;
  const row = await db
    .selectFrom('auth_passkeys')
    .select('id')
    .where('user_id', '=', userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
