import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { UserId } from '../ids.ts';
import type { AuthParts } from '../parts.ts';
import type { Account } from '../users/user-directory.ts';
import { type ChallengePurpose, relyingParty, takeChallenge } from './challenges.ts';
import { findPasskey, handleOf, type PasskeyRow } from './passkey-store.ts';
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
  parts: AuthParts,
  assertion: AuthenticationResponseJSON,
  purpose: ChallengePurpose,
  userId: UserId | null,
): Promise<ProvenPasskey | Unproven> {
  const { db } = parts.kernel.store;
  const party = relyingParty(parts);
  const client = readClientData(assertion.response.clientDataJSON);
  const challenge = client && (await takeChallenge(parts, db, purpose, client.challenge));
  const passkey = await findPasskey(db, assertion.id);
  const refuse = (reason: string) => ({ reason, userId: passkey?.user_id ?? null });
  if (!client || !challenge || (userId !== null && challenge.userId !== userId))
    return refuse('bad_challenge');
  // No page of ours is shown inside a page of another site.
  if (client.crossOrigin) return refuse('bad_origin');
  if (!passkey || (userId !== null && passkey.user_id !== userId)) return refuse('bad_credentials');
  const account = await parts.directory.find(db, passkey.user_id);
  if (!account || !(await isOwnHandle(parts, assertion, passkey, userId)))
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
  { kernel }: AuthParts,
  { response }: AuthenticationResponseJSON,
  passkey: PasskeyRow,
  userId: UserId | null,
): Promise<boolean> {
  if (!response.userHandle) return userId !== null;
  return response.userHandle === (await handleOf(kernel.store.db, passkey.user_id));
}
