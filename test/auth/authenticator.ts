import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoBase64URL, isoCBOR } from '@simplewebauthn/server/helpers';

/** An authenticator in software: it makes passkeys and signs with them, rightly or wrongly. */
export type Algorithm = 'ES256' | 'EdDSA' | 'RS256' | 'ES384';

/** What is told to the authenticator, or what it gets wrong. */
export interface Ceremony {
  readonly challenge: string;
  readonly origin?: string;
  readonly rpId?: string;
  readonly verified?: boolean;
  readonly present?: boolean;
  readonly counter?: number;
  readonly crossOrigin?: boolean;
  readonly type?: string;
  readonly userHandle?: string | null;
  readonly format?: 'none' | 'packed';
}

export interface SoftPasskey {
  readonly id: string;
  /** What `toJSON()` of the new credential gives. */
  readonly created: Record<string, any>;
  /** What `toJSON()` of an assertion gives. */
  use(ceremony: Ceremony): Record<string, any>;
}

const COSE = { ES256: -7, EdDSA: -8, RS256: -257, ES384: -35 } as const;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();

/**
 * @example
 * const passkey = makePasskey(await options(), { origin: 'http://localhost:8080' });
 * passkey.use({ challenge });
 */
export function makePasskey(
  options: { challenge: string; rp: { id: string }; user: { id: string } },
  ceremony: Omit<Ceremony, 'challenge'> & { algorithm?: Algorithm } = {},
): SoftPasskey {
  const { algorithm = 'ES256', origin = 'http://localhost:8080', ...given } = ceremony;
  const { publicKey, privateKey } = makeKeys(algorithm);
  const id = randomBytes(32);
  const defaults = { origin, rpId: options.rp.id, userHandle: options.user.id };
  const asked = { ...defaults, counter: 0, ...given, challenge: options.challenge };
  const key = isoCBOR.encode(coseKey(algorithm, publicKey) as never);
  const authData = Buffer.concat([
    authenticatorData(asked, 0x40),
    Buffer.alloc(16),
    Buffer.from([0, id.length]),
    id,
    key,
  ]);
  const attestation = new Map<string, unknown>([
    ['fmt', asked.format ?? 'none'],
    ['attStmt', asked.format === 'packed' ? new Map([['alg', -7]]) : new Map()],
    ['authData', new Uint8Array(authData)],
  ]);
  return {
    id: base64(id),
    created: credential(id, {
      clientDataJSON: clientData(asked, 'webauthn.create'),
      attestationObject: isoBase64URL.fromBuffer(isoCBOR.encode(attestation as never)),
      transports: ['internal'],
    }),
    use: (more) => assertion(id, privateKey, { ...defaults, counter: 1, ...more }),
  };
}

function assertion(id: Buffer, key: KeyObject, asked: Ceremony) {
  const data = authenticatorData(asked, 0);
  const clientDataJSON = clientData(asked, 'webauthn.get');
  const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
  const hash = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return credential(id, {
    clientDataJSON,
    authenticatorData: base64(data),
    signature: base64(sign(hash, signed, key)),
    ...(asked.userHandle !== null && { userHandle: asked.userHandle }),
  });
}

const credential = (id: Buffer, response: object) => ({
  id: base64(id),
  rawId: base64(id),
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: {},
  response,
});

function clientData({ challenge, origin, crossOrigin = false, type }: Ceremony, usual: string) {
  return base64(
    Buffer.from(JSON.stringify({ type: type ?? usual, challenge, origin, crossOrigin })),
  );
}

function authenticatorData(asked: Ceremony, flags: number): Buffer {
  const { rpId = 'localhost', present = true, verified = true, counter = 0 } = asked;
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const all = flags | (present ? 1 : 0) | (verified ? 4 : 0);
  return Buffer.concat([sha256(rpId), Buffer.from([all]), count]);
}

function makeKeys(algorithm: Algorithm) {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  return generateKeyPairSync('ec', { namedCurve: algorithm === 'ES384' ? 'P-384' : 'P-256' });
}

/** RFC 9053: kty, alg, and the members of the kind of key. */
function coseKey(algorithm: Algorithm, key: KeyObject): Map<number, unknown> {
  const jwk = key.export({ format: 'jwk' });
  const bytes = (text: string | undefined) => new Uint8Array(Buffer.from(text ?? '', 'base64url'));
  const alg: [number, unknown] = [3, COSE[algorithm]];
  if (algorithm === 'RS256')
    return new Map<number, unknown>([[1, 3], alg, [-1, bytes(jwk.n)], [-2, bytes(jwk.e)]]);
  if (algorithm === 'EdDSA')
    return new Map<number, unknown>([[1, 1], alg, [-1, 6], [-2, bytes(jwk.x)]]);
  const curve = algorithm === 'ES384' ? 2 : 1;
  return new Map<number, unknown>([
    [1, 2],
    alg,
    [-1, curve],
    [-2, bytes(jwk.x)],
    [-3, bytes(jwk.y)],
  ]);
}
