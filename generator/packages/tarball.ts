import { gzipSync } from 'node:zlib';
import { InvalidPathError } from './invalid-path-error.ts';

/** A file of a tarball: path with forward slashes, and its bytes. */
export interface TarEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable?: boolean;
}

const BLOCK = 512;

/**
 * Packs files as `npm pack` does, below `package/`. The same files give the same bytes: sorted, no owner, a fixed time.
 *
 * The format is ustar, POSIX.1-1988.
 */
export function createTarball(entries: readonly TarEntry[]): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap((entry) => [header(entry), Buffer.from(entry.bytes), padding(entry.bytes.length)]);
  const zipped = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  // Byte 9 names the system that packed it: unknown, everywhere.
  zipped[9] = 255;
  return zipped;
}

function header({ path, bytes, executable }: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(`package/${path}`);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;
  block.write(name, 0);
  block.write(octal(executable ? 0o755 : 0o644, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(bytes.length, 12), 124);
  // 1985-10-26, the time that npm gives every file: zip formats have no earlier ones.
  block.write(octal(499_162_500, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\0', 257);
  block.write('00', 263);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** Names above 100 bytes are split at a slash. */
function splitPath(path: string): { name: string; prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { name, prefix };
  }
  throw new InvalidPathError(path);
}

function padding(length: number): Buffer {
  return Buffer.alloc((BLOCK - (length % BLOCK)) % BLOCK);
}
