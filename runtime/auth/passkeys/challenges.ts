import { AppError, failure } from '@twofold/runtime/errors';
import type { Db } from '../base/tables.ts';
import type { UserId } from '../base/ids.ts';
import type { OneTime } from '../secrets/one-time-tokens.ts';
import type { AuthState } from '../state.ts';
import { MINUTE } from '../base/time.ts';
import { type PasskeyRow, passkeysOf } from './passkey-store.ts';
import { ALGORITHMS, webauthn } from './webauthn.ts';

/** What a challenge may be used for. It is a one-time token: five minutes, one use. */
export type ChallengePurpose =
  | 'passkey_new'
  | 'passkey_login'
  | 'passkey_second_factor'
  | 'passkey_reauthentication';

/** Options of a browser call, with byte strings in base64url. */
export type BrowserOptions = Readonly<Record<string, unknown>>;

/** @throws AppError 404 when passkeys are off. */
export function relyingParty(auth: AuthState) {
  if (!auth.config.passkeys) throw failure.notFound();
  return auth.config.passkeys;
}

/** Options for `navigator.credentials.create`. */
export async function creationOptions(
  auth: AuthState,
  user: { readonly handle: string; readonly name: string; readonly displayName: string },
  { challenge, known }: { challenge: string; known: readonly PasskeyRow[] },
): Promise<BrowserOptions> {
  webauthn();
  const { handle: id, name, displayName } = user;
  return {
    rp: { id: relyingParty(auth).id, name: auth.project.name },
    user: { id, name, displayName },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: 5 * MINUTE,
    excludeCredentials: known.map(toDescriptor),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
  };
}

/**
 * Options for `navigator.credentials.get`. Without a user they name no passkey, so they are alike
 * for all users, and the browser lists the passkeys that it has.
 */
export async function requestOptions(
  auth: AuthState,
  purpose: ChallengePurpose,
  userId: UserId | null,
): Promise<BrowserOptions> {
  const { db } = auth;
  const party = relyingParty(auth);
  const known = userId === null ? [] : await passkeysOf(db, userId);
  const challenge = await issueChallenge(auth, purpose, userId);
  webauthn();
  return {
    challenge,
    timeout: 5 * MINUTE,
    rpId: party.id,
    userVerification: 'required',
    ...(userId !== null && { allowCredentials: known.map(toDescriptor) }),
  };
}

export const issueChallenge = (
  auth: AuthState,
  purpose: ChallengePurpose,
  userId: UserId | null,
  data: Readonly<Record<string, unknown>> = {},
): Promise<string> =>
  auth.oneTime.issue(auth.db, purpose, userId, { data, newestOnly: userId !== null });

/** Uses a challenge up; null when it is not alive. */
export async function takeChallenge(
  auth: AuthState,
  db: Db,
  purpose: ChallengePurpose,
  challenge: string,
): Promise<OneTime | null> {
  try {
    return await auth.oneTime.consume(db, purpose, challenge);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

const toDescriptor = ({ id, transports }: PasskeyRow) => ({
  type: 'public-key',
  id,
  transports: JSON.parse(transports) as string[],
});
