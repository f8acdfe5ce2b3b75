import type { Call } from '@twofold/runtime/http';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Trx } from '../base/tables.ts';
import { callerOf } from '../base/caller.ts';
import type { AuthState } from '../state.ts';
import type { UserId } from '../base/ids.ts';
import type { Account } from '../users/user-directory.ts';
import { findPasskey, handleOf, noteUse, type PasskeyRow } from './passkey-store.ts';
import { type ChallengePurpose, relyingParty, takeChallenge } from './challenges.ts';
import { readClientData, type UsedPasskey, verifyUse } from './webauthn.ts';

/** A passkey whose signature is right. Its counter is compared when the use is stored. */
export interface ProvenPasskey {
  readonly passkey: PasskeyRow;
  readonly used: UsedPasskey;
  readonly account: Account;
}

/** The reason why an assertion was refused, for the log. */
export interface Unproven {
  readonly reason: string;
  readonly userId: UserId | null;
}

/**
 * Checks a WebAuthn assertion: a signature that the browser made for one of our challenges.
 *
 * @param userId The user whose passkey it has to be; null when the assertion itself names the user.
 */
export async function provePasskey(
  auth: AuthState,
  assertion: AuthenticationResponseJSON,
  purpose: ChallengePurpose,
  userId: UserId | null,
): Promise<ProvenPasskey | Unproven> {
  const { db } = auth;
  const party = relyingParty(auth);
  const client = readClientData(assertion.response.clientDataJSON);
  const challenge = client && (await takeChallenge(auth, db, purpose, client.challenge));
  const passkey = await findPasskey(db, assertion.id);
  const refuse = (reason: string) => ({ reason, userId: passkey?.user_id ?? null });
  if (!client || !challenge || (userId !== null && challenge.userId !== userId))
    return refuse('bad_challenge');
  // No page of ours is shown inside a page of another site.
  if (client.crossOrigin) return refuse('bad_origin');
  if (!passkey || (userId !== null && passkey.user_id !== userId)) return refuse('bad_credentials');
  const account = await auth.directory.find(db, passkey.user_id);
  if (!account || !(await isOwnHandle(auth, assertion, passkey, userId)))
    return refuse('bad_credentials');
  try {
    const key = { id: passkey.id, publicKey: passkey.public_key };
    return {
      passkey,
      account,
      used: await verifyUse(assertion, client.challenge, party, key),
    };
  } catch {
    return refuse('bad_credentials');
  }
}

/**
 * WebAuthn Level 3 section 7.2, step 6: who signs in without a name must send the user handle of
 * the owner; otherwise it may be absent.
 */
async function isOwnHandle(
  auth: AuthState,
  { response }: AuthenticationResponseJSON,
  passkey: PasskeyRow,
  userId: UserId | null,
): Promise<boolean> {
  if (!response.userHandle) return userId !== null;
  return response.userHandle === (await handleOf(auth.db, passkey.user_id));
}

/** The counter of a passkey did not grow. */
export class ClonedPasskey extends Error {}

/** Stores the use of a passkey in the transaction of the sign-in. @throws ClonedPasskey */
export async function usePasskey(
  auth: AuthState,
  trx: Trx,
  { passkey, used }: ProvenPasskey,
): Promise<void> {
  if (!(await noteUse(trx, passkey.id, used, auth.now()))) throw new ClonedPasskey();
}

/** Stores the event `passkey.cloned`, outside the transaction that was rolled back. */
export function reportClone(
  auth: AuthState,
  { context }: Pick<Call, 'context'>,
  { account, passkey, used }: ProvenPasskey,
): Promise<void> {
  return auth.events.emit(callerOf(context), 'passkey.cloned', account.id, {
    passkey_id: passkey.id,
    name: passkey.name,
    counter: used.counter,
    expected_above: passkey.counter,
  });
}
