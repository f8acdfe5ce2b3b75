import { refuse } from './refuse.ts';

/** A member of an archive, as its headers say. `size` counts the bytes that follow. */
export interface TarEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';
  readonly target: string;
  readonly size: number;
  readonly mode: number;
  /** Whole seconds since 1970. */
  readonly mtime: number;
}

export type TarPart = { readonly entry: TarEntry } | { readonly data: Buffer };

const BLOCK = 512;
/** Extended headers longer than this are an attack: they hold names. */
const MAX_EXTENDED = 64 * 1024;

/**
 * Reads a tar stream: for each member its entry, then its bytes as they come. Knows the old format, ustar, GNU long
 * names and base-256 sizes, and pax (POSIX.1-2017, pax "File Format"). Nothing is buffered but headers.
 *
 * @throws AppError 422 for what is damaged, cut off or no tar at all.
 */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarPart> {
  const input = createInput(chunks);
  let next: Overrides = {};
  let members = 0;
  for (;;) {
    const header = await input.take(BLOCK);
    if (header === null)
      throw refuse(
        members === 0 ? 'The archive is empty or no tar archive' : 'The archive is cut off',
      );
    if (header.every((byte) => byte === 0)) break;
    members += 1;
    const { type, ...fields } = parseHeader(header);
    if (type === 'x' || type === 'g' || type === 'L' || type === 'K') {
      const overrides = readExtended(type, await takeExtended(input, fields.size));
      // A global header would rename everything after it: only what is harmless is in use, and all of it is dropped.
      if (type !== 'g') next = { ...next, ...overrides };
      continue;
    }
    const size = next.size ?? fields.size;
    const path = next.path ?? fields.path;
    const kind = kindOf(type, path);
    const held = kind === 'file' ? size : 0;
    const mtime = next.mtime ?? fields.mtime;
    const target = next.target ?? fields.target;
    yield { entry: { path, kind, target, size: held, mode: fields.mode, mtime } };
    next = {};
    yield* body(input, held);
    // Devices and links have no data, whatever their header says: what follows is the next header.
    if (kind === 'file') await skip(input, (BLOCK - (size % BLOCK)) % BLOCK);
  }
  await input.drain();
}

interface Overrides {
  readonly path?: string;
  readonly target?: string;
  readonly size?: number;
  readonly mtime?: number;
}

interface Input {
  /** Exactly so many bytes, or null at the end. */
  take(length: number): Promise<Buffer | null>;
  /** At least one byte and at most so many. */
  some(length: number): Promise<Buffer>;
  drain(): Promise<void>;
}

function createInput(chunks: AsyncIterable<Buffer>): Input {
  const source = chunks[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  const pull = async () => {
    const { done, value } = await source.next();
    return done ? null : (value as Buffer);
  };
  const shift = (length: number) => {
    const part = held.subarray(0, length);
    held = held.subarray(length);
    return part;
  };
  return {
    async take(length) {
      const parts = [held];
      let have = held.length;
      while (have < length) {
        const chunk = await pull();
        if (chunk === null) {
          if (have === 0) return null;
          throw refuse('The archive is cut off');
        }
        parts.push(chunk);
        have += chunk.length;
      }
      if (parts.length > 1) held = Buffer.concat(parts, have);
      return shift(length);
    },
    async some(length) {
      while (held.length === 0) {
        const chunk = await pull();
        if (chunk === null) throw refuse('The archive is cut off');
        held = chunk;
      }
      return shift(length);
    },
    async drain() {
      held = Buffer.alloc(0);
      while ((await pull()) !== null);
    },
  };
}

async function* body(input: Input, size: number): AsyncGenerator<TarPart> {
  for (let left = size; left > 0;) {
    const data = await input.some(left);
    left -= data.length;
    yield { data };
  }
}

async function skip(input: Input, length: number): Promise<void> {
  for (let left = length; left > 0;) left -= (await input.some(left)).length;
}

async function takeExtended(input: Input, size: number): Promise<Buffer> {
  if (size > MAX_EXTENDED) throw refuse('The archive holds an extended header that is too long');
  const padded = Math.ceil(size / BLOCK) * BLOCK;
  const data = padded === 0 ? Buffer.alloc(0) : await input.take(padded);
  if (data === null) throw refuse('The archive is cut off');
  return data.subarray(0, size);
}

function parseHeader(header: Buffer) {
  const expected = parseNumber(header.subarray(148, 156));
  let sum = 8 * 32;
  for (let at = 0; at < BLOCK; at += 1) if (at < 148 || at >= 156) sum += header[at] as number;
  if (sum !== expected) throw refuse('The archive is damaged or no tar archive');
  const isPosix = header.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? parseText(header.subarray(345, 500)) : '';
  const name = parseText(header.subarray(0, 100));
  return {
    path: prefix ? `${prefix}/${name}` : name,
    mode: parseNumber(header.subarray(100, 108)),
    size: parseNumber(header.subarray(124, 136)),
    mtime: parseTime(header.subarray(136, 148)),
    type: String.fromCharCode(header[156] as number),
    target: parseText(header.subarray(157, 257)),
  };
}

/** Octal text, or base 256 with the first bit set (GNU). */
function parseNumber(field: Buffer): number {
  if ((field[0] as number) & 0x80) {
    const value = field
      .subarray(1)
      .reduce((sum, byte) => sum * 256 + byte, (field[0] as number) & 0x7f);
    if (!Number.isSafeInteger(value)) throw refuse('The archive holds a number that is too large');
    return value;
  }
  const text = field
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .trimStart();
  if (text === '') return 0;
  if (!/^[0-7]+$/.test(text)) throw refuse('The archive is damaged or no tar archive');
  return Number.parseInt(text, 8);
}

/** A time that cannot be read is none: it decides about nothing that is refused. */
function parseTime(field: Buffer): number {
  try {
    return parseNumber(field);
  } catch {
    return 0;
  }
}

/** Only names that are UTF-8 are taken: what two programs read differently is where escapes hide. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseText(field: Buffer): string {
  const end = field.indexOf(0);
  return decode(end < 0 ? field : field.subarray(0, end));
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuse('The archive holds a name that is not UTF-8');
  }
}

function readExtended(type: string, data: Buffer): Overrides {
  if (type === 'L') return { path: parseText(data) };
  if (type === 'K') return { target: parseText(data) };
  const overrides: { -readonly [Key in keyof Overrides]: Overrides[Key] } = {};
  for (const [key, value] of paxRecords(data)) {
    if (key === 'path') overrides.path = value;
    if (key === 'linkpath') overrides.target = value;
    if (key === 'size') overrides.size = paxSize(value);
    if (key === 'mtime') overrides.mtime = Math.floor(Number(value)) || 0;
    if (key.startsWith('GNU.sparse')) throw refuse('The archive holds a sparse file');
  }
  return overrides;
}

function paxSize(text: string): number {
  const size = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(size))
    throw refuse('The archive is damaged or no tar archive');
  return size;
}

/** `length key=value\n`, the length counting itself. */
function* paxRecords(data: Buffer): Generator<readonly [string, string]> {
  for (let at = 0; at < data.length;) {
    const space = data.indexOf(32, at);
    const length = space < 0 ? Number.NaN : Number(data.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at + 1 || at + length > data.length)
      throw refuse('The archive is damaged or no tar archive');
    const record = decode(data.subarray(space + 1, at + length - 1));
    const equals = record.indexOf('=');
    if (equals > 0) yield [record.slice(0, equals), record.slice(equals + 1)];
    at += length;
  }
}

function kindOf(type: string, path: string): TarEntry['kind'] {
  if (type === '5') return 'directory';
  if (type === '2') return 'symlink';
  if (type === '1') return 'hardlink';
  // Before ustar a directory was a file whose name ends with a slash.
  if (type === '0' || type === '\0' || type === '7')
    return path.endsWith('/') ? 'directory' : 'file';
  return 'other';
}
