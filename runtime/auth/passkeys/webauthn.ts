import { createRequire } from 'node:module';
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  VerifiedAuthenticationResponse,
} from '@simplewebauthn/server';
import type { RelyingParty } from './relying-party.ts';

/** COSE algorithms of new passkeys, the preferred one first: EdDSA, ES256, RS256. */
export const ALGORITHMS = [-8, -7, -257] as const;

/** A new passkey, as the authenticator described it. */
export interface NewPasskey {
  readonly id: string;
  /** COSE key in base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly backedUp: boolean;
  readonly transports: readonly string[];
}

/** What a signature is checked against. */
export interface StoredKey {
  readonly id: string;
  readonly publicKey: string;
}

/** The result of a right signature. */
export interface UsedPasskey {
  readonly counter: number;
  readonly backedUp: boolean;
}

/** What the authenticator signed, as far as it can be read before the signature is checked. */
export interface ClientData {
  readonly challenge: string;
  readonly crossOrigin: boolean;
}

const load = createRequire(import.meta.url);

/** The package takes 200 ms to load, so this is done when options are first asked for. */
export const webauthn = () =>
  load('@simplewebauthn/server') as typeof import('@simplewebauthn/server');
const parsers = () =>
  load('@simplewebauthn/server/helpers') as typeof import('@simplewebauthn/server/helpers');

/** Reads `clientDataJSON`. Null when the text is invalid. */
export function readClientData(text: string): ClientData | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const { challenge, crossOrigin } = (data ?? {}) as Record<string, unknown>;
    return typeof challenge === 'string' ? { challenge, crossOrigin: crossOrigin === true } : null;
  } catch {
    return null;
  }
}

/**
 * Checks a new passkey: origin, relying party, user verification, algorithm. Any attestation is
 * taken out first, because none was asked for: the package would check its certificates, and for
 * that request an address that stands in them.
 *
 * @throws Error with the reason, which must not be shown to the client.
 */
export async function verifyNew(
  registration: RegistrationResponseJSON,
  challenge: string,
  party: RelyingParty,
): Promise<NewPasskey> {
  const attestationObject = withoutAttestation(registration.response.attestationObject);
  const { verified, registrationInfo } = await webauthn().verifyRegistrationResponse({
    response: {
      ...registration,
      clientExtensionResults: {},
      response: { ...registration.response, attestationObject },
    },
    expectedChallenge: challenge,
    expectedOrigin: [...party.origins],
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...ALGORITHMS],
  });
  if (!verified || registrationInfo.credential.id !== registration.id)
    throw new Error('The passkey was not verified');
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
  return {
    id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter,
    backedUp: registrationInfo.credentialBackedUp,
    transports,
  };
}

/**
 * Checks the signature of a passkey with its challenge, origin, relying party and user
 * verification. The counter is not checked here: the update that stores it compares it.
 *
 * @throws Error with the reason, which must not be shown to the client.
 */
export async function verifyUse(
  assertion: AuthenticationResponseJSON,
  challenge: string,
  party: RelyingParty,
  key: StoredKey,
): Promise<UsedPasskey> {
  const { verified, authenticationInfo }: VerifiedAuthenticationResponse =
    await webauthn().verifyAuthenticationResponse({
      response: { ...assertion, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: [...party.origins],
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: {
        id: key.id,
        publicKey: new Uint8Array(Buffer.from(key.publicKey, 'base64url')),
        counter: 0,
      },
    });
  if (!verified) throw new Error('The signature is wrong');
  return {
    counter: authenticationInfo.newCounter,
    backedUp: authenticationInfo.credentialBackedUp,
  };
}

/** The same attestation object with the format `none` and an empty statement. */
function withoutAttestation(text: string): string {
  const { decodeAttestationObject, isoCBOR, isoBase64URL } = parsers();
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(text)).get('authData');
  const plain = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(plain as never));
}
