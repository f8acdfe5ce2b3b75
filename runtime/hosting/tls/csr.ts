import { generateKeyPairSync, sign } from 'node:crypto';

/** A new private key and the request to certify it (RFC 2986). */
export interface CertificateRequest {
  readonly csr: Buffer;
  /** The private key (PKCS #8) as PEM. */
  readonly key: string;
}

/**
 * Creates a P-256 key and a certificate request for these host names. Node has no function for it,
 * so the necessary DER is written here.
 *
 * @example
 * const { csr, key } = createRequest(['shop.example.com']);
 */
export function createRequest(hosts: readonly string[]): CertificateRequest {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = sequence(...hosts.map((host) => tagged(0x82, Buffer.from(host, 'latin1'))));
  const extension = sequence(OID_SUBJECT_ALT_NAME, tagged(0x04, names));
  const attributes = tagged(
    0xa0,
    sequence(OID_EXTENSION_REQUEST, tagged(0x31, sequence(extension))),
  );
  const version = Buffer.from([0x02, 0x01, 0x00]);
  const info = sequence(
    version,
    sequence(),
    publicKey.export({ type: 'spki', format: 'der' }),
    attributes,
  );
  const signature = sign('sha256', info, privateKey);
  const csr = sequence(
    info,
    sequence(OID_ECDSA_SHA256),
    tagged(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  return { csr, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

/**
 * The object identifiers 2.5.29.17, 1.2.840.113549.1.9.14 and 1.2.840.10045.4.3.2, each with its
 * tag and length.
 */
const OID_SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');
const OID_EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex');
const OID_ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');

const sequence = (...parts: Buffer[]) => tagged(0x30, Buffer.concat(parts));

/** Encodes tag, length and value (X.690 §8.1). */
function tagged(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), value]);
}
