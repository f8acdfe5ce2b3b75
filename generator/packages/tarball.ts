import { gzipSync } from 'node:zlib';

/** A file of a tarball: path with forward slashes, and its bytes. */
export interface TarEntry {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable?: boolean;
  /** The target of a symbolic link; a link has no bytes. */
  readonly target?: string;
  /** Seconds since 1970; npm's fixed time when absent. */
  readonly mtime?: number;
}

export interface TarOptions {
  /** The prefix of every path, by default `package/`. */
  readonly folder?: string;
  /** The compression level of zlib, 1 to 9. */
  readonly level?: number;
}

const BLOCK = 512;
/** 1985-10-26, the time that npm gives every file: zip formats cannot store times before 1980. */
const NPM_TIME = 499_162_500;

/**
 * Packs files as `npm pack` does, below `package/` or another folder. The same files give the same
 * bytes: sorted, without owner, and with a fixed time unless one is given. The format is ustar,
 * POSIX.1-1988.
 */
export function createTarball(
  entries: readonly TarEntry[],
  { folder = 'package/', level = 9 }: TarOptions = {},
): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap((entry) => [
    header(entry, folder),
    Buffer.from(entry.bytes),
    padding(entry.bytes.length),
  ]);
  const zipped = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level });
  // Byte 9 of a gzip header names the operating system: 255 is "unknown", so that all systems give
  // the same bytes.
  zipped[9] = 255;
  return zipped;
}

function header({ path, bytes, executable, target, mtime }: TarEntry, folder: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { name, prefix } = splitPath(`${folder}${path}`);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;
  block.write(name, 0);
  block.write(octal(executable ? 0o755 : 0o644, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(bytes.length, 12), 124);
  block.write(octal(mtime ?? NPM_TIME, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(target === undefined ? '0' : '2', 156);
  if (target !== undefined) writeTarget(block, target);
  block.write('ustar\0', 257);
  block.write('00', 263);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function writeTarget(block: Buffer, target: string): void {
  if (Buffer.byteLength(target) > 100) throw new InvalidPathError(target);
  block.write(target, 157);
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

/** A path that is too long for the tar format. */
export class InvalidPathError extends Error {
  constructor(path: string) {
    super(`${path} is too long for a tarball`);
    this.name = 'InvalidPathError';
  }
}
