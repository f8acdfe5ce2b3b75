// Tar as bytes, written without a library: hostile archives are made of what no library would write.

/** A member to write. The owner is the same for every one. */
export interface TarMember {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly target?: string;
  readonly size: number;
  readonly mode: number;
  /** Seconds since 1970; 0 when absent. The build caches of the engines do not look at it. */
  readonly mtime?: number;
}

const BLOCK = 512;
/** The two empty blocks at the end. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** The header block of a member, with a pax header before it when its names do not fit (POSIX.1-2017). */
export function tarHeader(member: TarMember): Buffer {
  const { path, target = '' } = member;
  const long =
    Buffer.byteLength(path) > 100 || Buffer.byteLength(target) > 100 || member.size > 0o77777777777;
  if (!long) return block(member, { path, target, type: TYPES[member.kind] });
  const records = Buffer.from(
    record('path', path) +
      (target ? record('linkpath', target) : '') +
      (member.size > 0o77777777777 ? record('size', String(member.size)) : ''),
  );
  const extended = block(
    { ...member, kind: 'file', size: records.length, mode: 0o644 },
    { path: 'PaxHeader', target: '', type: 'x' },
  );
  const short = block(member, { path: cut(path), target: cut(target), type: TYPES[member.kind] });
  return Buffer.concat([extended, records, tarPadding(records.length), short]);
}

/** What fills the last block of a member's data. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** A whole small file. */
export function tarFile(path: string, text: string, mtime = 0): Buffer {
  const data = Buffer.from(text);
  return Buffer.concat([
    tarHeader({ path, kind: 'file', size: data.length, mode: 0o644, mtime }),
    data,
    tarPadding(data.length),
  ]);
}

const TYPES = { file: '0', directory: '5', symlink: '2' } as const;

function block(
  { size, mode, mtime = 0 }: Pick<TarMember, 'size' | 'mode' | 'kind' | 'mtime'>,
  { path, target, type }: { path: string; target: string; type: string },
): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(Math.min(size, 0o77777777777), 11), 124);
  header.write(octal(mtime, 11), 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(target, 157, 100);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');

function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const digits = String(bytes + String(bytes).length).length;
  return `${bytes + digits}${rest}`;
}

/** Never ends inside a character. */
function cut(text: string): string {
  let short = text.slice(0, 100);
  while (Buffer.byteLength(short) > 100) short = short.slice(0, -1);
  return short;
}
