import { createHash } from 'node:crypto';
import ssh2 from 'ssh2';

const { generateKeyPairSync, parseKey } = ssh2.utils;

/** A public key of OpenSSH. */
export interface PublicKey {
  /** Its type and its bytes as base64, and perhaps a comment. */
  readonly line: string;
  /** `SHA256:…`, as OpenSSH prints it. */
  readonly fingerprint: string;
}

export interface KeyPair {
  /** In a form that `ssh` reads from a file. */
  readonly privateKey: string;
  readonly publicKey: PublicKey;
}

/** Bytes of an Ed25519 public key of OpenSSH: two lengths, the name of the type, and 32 bytes. */
const ED25519_BYTES = 51;

/** Makes an Ed25519 key. */
export function createKeyPair(comment: string): KeyPair {
  // The library leaves out a zero byte at the beginning of a public key, and OpenSSH then refuses
  // the key. Such a key, one of 256, is dropped.
  for (;;) {
    const made = generateKeyPairSync('ed25519', { comment });
    const bytes = Buffer.from(made.public.split(' ')[1] ?? '', 'base64');
    if (bytes.length !== ED25519_BYTES) continue;
    return { privateKey: made.private, publicKey: readPublicKey(made.public) as PublicKey };
  }
}

/** Null for what is no private key, or one with a passphrase. */
export function readPrivateKey(text: string): KeyPair | null {
  // OpenSSH refuses a key without a line end after its last line.
  const privateKey = `${text.replaceAll('\r\n', '\n').trim()}\n`;
  const key = parse(privateKey);
  return key?.isPrivateKey() ? { privateKey, publicKey: describe(key, key.comment) } : null;
}

/**
 * Null for what is no public key.
 *
 * @example readPublicKey('ssh-ed25519 AAAAC3Nza… ann@example.com')
 */
export function readPublicKey(text: string): PublicKey | null {
  const line = text.trim();
  if (!/^[a-z0-9@.-]+ [A-Za-z0-9+/]+=*(?: [^\r\n]*)?$/.test(line)) return null;
  const key = parse(line);
  return key && !key.isPrivateKey() ? describe(key, key.comment) : null;
}

/** The fingerprint of a key that was sent over the network or stored, from its bytes. */
const fingerprintOf = (bytes: Buffer) =>
  `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`;

function describe(key: ssh2.ParsedKey, comment: string): PublicKey {
  const bytes = key.getPublicSSH();
  const words = [key.type, bytes.toString('base64'), comment.trim()];
  return { line: words.join(' ').trim(), fingerprint: fingerprintOf(bytes) };
}

function parse(text: string): ssh2.ParsedKey | null {
  try {
    const key = parseKey(text);
    return key instanceof Error ? null : key;
  } catch {
    // A damaged key makes the library throw instead of returning an error.
    return null;
  }
}
