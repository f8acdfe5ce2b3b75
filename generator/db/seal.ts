import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

/** The byte of gzip's header that names the operating system; 255 is "unknown" (RFC 1952, 2.3). */
const OS = 9;

/**
 * The last bytes of a backup: a hash of all bytes before them, as a part of the gzip file that comes
 * after the end of the tar, where tar reads no further. The checksums of gzip leave out some bits of
 * its own format; this one leaves out none.
 */
export function sealOf(sha256: string): Buffer {
  const bytes = gzipSync(Buffer.from(`${JSON.stringify({ sha256 })}\n`), { level: 0 });
  bytes[OS] = 255;
  return bytes;
}

const SEAL_BYTES = sealOf('0'.repeat(64)).length;

/** The number of bytes before the seal; undefined when the file is not as it was written. */
export async function sealedBytes(file: string): Promise<number | undefined> {
  const { size } = await stat(file);
  const bytes = size - SEAL_BYTES;
  if (bytes <= 0) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { end: bytes - 1 }))
    hash.update(chunk as Buffer);
  const found = Buffer.alloc(SEAL_BYTES);
  const handle = await open(file, 'r');
  try {
    await handle.read(found, 0, SEAL_BYTES, bytes);
  } finally {
    await handle.close();
  }
  return found.equals(sealOf(hash.digest('hex'))) ? bytes : undefined;
}
