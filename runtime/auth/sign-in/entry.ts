import type { AuthModel } from '@twofold/schema';
import type { StepWrites } from '../events/events.ts';
import type { AuthMethod } from '../base/tables.ts';
import type { Amr } from '../sessions/sessions.ts';
import type { Account } from '../users/user-directory.ts';

/** What a sign-in is for: the action after its last step. */
export type Goal =
  /** `client`: the application of the server's own origin that the session is for. */
  | { readonly kind: 'session'; readonly status: 200 | 201; readonly client?: string }
  /** The session continues with new tokens. */
  | { readonly kind: 'reauthenticate'; readonly sessionId: string }
  /**
   * `sealed` holds the hash of the new password and the token of the mail. With `firstProof` the
   * factors of the account are a stranger's, and end with everything else.
   */
  | { readonly kind: 'reset'; readonly sealed: string; readonly firstProof: boolean };

/** A user during a sign-in, with the factors that they have proved so far. */
export interface Entry {
  readonly account: Account;
  /** The first factor. */
  readonly method: AuthMethod;
  readonly amr: readonly Amr[];
  /** The id of the passkey that was the second factor of this sign-in. */
  readonly passkey?: string;
  readonly goal: Goal;
  readonly writes?: StepWrites;
}

/** A step that is left before a sign-in is complete. */
export type NextStep = 'second_factor' | 'enroll_second_factor' | 'change_password' | 'email_code';

/** The second factors that a user has. */
export interface Factors {
  readonly totp: boolean;
  readonly passkey: boolean;
}

/**
 * Factors that count as a second one. A passkey counts as two factors, because it verifies its
 * user.
 */
const SECOND: ReadonlySet<Amr> = new Set(['otp', 'hwk', 'recovery', 'remembered']);

export const hasSecondFactor = (amr: readonly string[]): boolean =>
  amr.some((factor) => SECOND.has(factor as Amr));

/** Whether the manifest demands a second factor of this user. */
export function isSecondFactorRequired(
  { secondFactor: { mode, roles } }: AuthModel,
  { role }: Pick<Account, 'role'>,
): boolean {
  return mode === 'required' || (mode !== 'off' && role !== null && roles.includes(role.name));
}

/**
 * The step that is left, or null. TOTP is asked for once it is on. Where a second factor is
 * required, any enrolled one counts, and a user without one gets no token before they enroll it.
 */
export function nextStep(
  { secondFactor }: AuthModel,
  { account, amr, goal }: Entry,
  factors: Factors,
  required: boolean,
): NextStep | null {
  if (goal.kind === 'reset' && goal.firstProof) return null;
  const proved = hasSecondFactor(amr);
  const asked = factors.totp || (required && factors.passkey);
  if (secondFactor.mode !== 'off' && asked && !proved) return 'second_factor';
  // A reauthentication or a reset gives no access that the user did not have before.
  if (goal.kind !== 'session') return null;
  if (required && !asked && !proved) return 'enroll_second_factor';
  return account.passwordChangeRequired && account.password !== null ? 'change_password' : null;
}

declare const passed: unique symbol;

/**
 * An entry with no step left. Only `advance.ts` makes one, and `SignIn` opens a session for nothing
 * else: a new way to sign in cannot forget the second factor.
 */
export type PassedEntry = Entry & { readonly [passed]: true };
