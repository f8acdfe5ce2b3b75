import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { ConfigError } from '@twofold/runtime/errors';
import type { Settings } from '@twofold/runtime/kernel';
import { piecesInParts } from '../archives/chunks.ts';
import { damaged, wrongKey } from './failures.ts';

const MAGIC = Buffer.from('TWOFOLD-BACKUP-1');
const SALT = 32;
const HEAD = MAGIC.length + SALT + 8;
const CHUNK = 256 * 1024;
const TAG = 16;
/** Set in the length of the last chunk. */
const LAST = 0x80000000;

/**
 * The key from the setting `BACKUP_KEY`; null when it is not set.
 *
 * @throws ConfigError when it is not 32 bytes in base64.
 */
export function backupKey(settings: Pick<Settings, 'text'>): Buffer | null {
  const text = settings.text('BACKUP_KEY');
  if (text === undefined || text === '') return null;
  const key = parseKey(text);
  if (key) return key;
  throw new ConfigError(['BACKUP_KEY must be 32 bytes in base64: openssl rand -base64 32']);
}

/** @returns null when the text is not 32 bytes in base64. */
export function parseKey(text: string): Buffer | null {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === 32 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text.trim()) ? key : null;
}

/**
 * Encrypts a stream with AES-256-GCM in chunks, each with a number and the last one with a mark, so
 * that chunks that are missing, repeated or in another order are found. Each stream has a key of
 * its own, derived from a random salt, so numbers can be used as nonces.
 */
export async function* encrypt(chunks: AsyncIterable<Buffer>, key: Buffer): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT);
  const { own, check } = deriveKeys(key, salt);
  const head = Buffer.concat([MAGIC, salt, check]);
  yield head;
  let number = 0;
  let held: readonly Buffer[] | undefined;
  for await (const parts of piecesInParts(chunks, CHUNK)) {
    if (held) yield* seal(held, { own, head, number: number++, last: false });
    held = parts;
  }
  yield* seal(held ?? [], { own, head, number, last: true });
}

/** What a chunk is sealed with: its nonce follows from its number and its mark. */
interface ChunkContext {
  readonly own: Buffer;
  readonly head: Buffer;
  readonly number: number;
  readonly last: boolean;
}

/** Yields a chunk in parts: garbage of joining them was a seventh of the CPU time of a backup. */
function* seal(parts: readonly Buffer[], context: ChunkContext): Generator<Buffer> {
  const cipher = createCipheriv('aes-256-gcm', context.own, nonceOf(context)).setAAD(context.head);
  const size = parts.reduce((sum, part) => sum + part.length, TAG);
  const length = Buffer.alloc(4);
  length.writeUInt32BE((size | (context.last ? LAST : 0)) >>> 0);
  yield length;
  for (const part of parts) yield cipher.update(part);
  cipher.final();
  yield cipher.getAuthTag();
}

function nonceOf({ number, last }: ChunkContext): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 0);
  nonce.writeUInt32BE(last ? 1 : 0, 8);
  return nonce;
}

/** `check` tells a wrong key from damaged bytes. */
function deriveKeys(key: Buffer, salt: Buffer): { own: Buffer; check: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', key, salt, 'twofold-backup', 40));
  return { own: bytes.subarray(0, 32), check: bytes.subarray(32) };
}

/**
 * Decrypts what `encrypt` made. A stream that is not encrypted is passed on as it is, unless
 * `demanded` is set.
 *
 * @throws AppError `BACKUP_KEY_WRONG`, `BACKUP_DAMAGED`
 */
export async function* decrypt(
  chunks: AsyncIterable<Buffer>,
  key: Buffer | null,
  { demanded = false } = {},
): AsyncGenerator<Buffer> {
  const reader = createReader(chunks);
  try {
    yield* decryptFrom(reader, key, demanded);
  } finally {
    await reader.end();
  }
}

async function* decryptFrom(
  reader: ReturnType<typeof createReader>,
  key: Buffer | null,
  demanded: boolean,
): AsyncGenerator<Buffer> {
  const head = await reader.read(HEAD);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) {
    if (demanded) throw damaged('it is not encrypted');
    if (head.length > 0) yield head;
    return yield* reader.rest();
  }
  if (head.length < HEAD) throw damaged('it is cut off');
  if (!key) throw wrongKey('BACKUP_KEY is not set');
  const { own, check } = deriveKeys(key, head.subarray(MAGIC.length, MAGIC.length + SALT));
  if (!check.equals(head.subarray(MAGIC.length + SALT))) throw wrongKey('the key is another one');
  for (let number = 0; ; number += 1) {
    const { bytes, last } = open(await reader.chunk(), { own, head, number });
    if (bytes.length > 0) yield bytes;
    if (!last) continue;
    if ((await reader.read(1)).length > 0) throw damaged('there are bytes after its end');
    return;
  }
}

function open(
  { body, last }: { readonly body: Buffer; readonly last: boolean },
  context: Omit<ChunkContext, 'last'>,
): { bytes: Buffer; last: boolean } {
  const nonce = nonceOf({ ...context, last });
  const decipher = createDecipheriv('aes-256-gcm', context.own, nonce)
    .setAAD(context.head)
    .setAuthTag(body.subarray(body.length - TAG));
  try {
    const bytes = decipher.update(body.subarray(0, body.length - TAG));
    decipher.final();
    return { bytes, last };
  } catch {
    throw damaged(`chunk ${context.number} is not what was written`);
  }
}

/** Reads a stream in parts of a given length. */
function createReader(chunks: AsyncIterable<Buffer>) {
  const source = chunks[Symbol.asyncIterator]();
  let held: Buffer[] = [];
  let length = 0;
  /** At most `size` bytes; fewer only at the end of the stream. */
  const read = async (size: number): Promise<Buffer> => {
    while (length < size) {
      const { value, done } = await source.next();
      if (done) break;
      held.push(value);
      length += value.length;
    }
    const all = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held, length);
    held = all.length > size ? [all.subarray(size)] : [];
    length = Math.max(0, all.length - size);
    return all.subarray(0, size);
  };
  return {
    read,
    async chunk() {
      const mark = await read(4);
      const number = mark.length === 4 ? mark.readUInt32BE() : 0;
      const size = (number & ~LAST) >>> 0;
      if (size < TAG || size > CHUNK + TAG) throw damaged('it is cut off');
      const body = await read(size);
      if (body.length < size) throw damaged('it is cut off');
      return { body, last: number >= LAST };
    },
    end: async () => void (await source.return?.()),
    async *rest(): AsyncGenerator<Buffer> {
      for (const part of held) yield part;
      held = [];
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    },
  };
}
