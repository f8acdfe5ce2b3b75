/**
 * What the tar filter gives out is safe whatever goes in. A slice runs with every test; a million cases, or any number,
 * once by hand: `FUZZ_RUNS=1000000 npx vitest run test/hosting/tar-fuzz.test.ts` (and `FUZZ_SEED` to see a run again).
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AppError } from '../../runtime/core/errors.ts';
import { createListing, filterTar } from '../../runtime/hosting/source/tar-filter.ts';
import { TAR_END } from './raw-tar.ts';
import { withChecksum } from './archives.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 3000);
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const limits = { entries: 20, file: 3000, total: 6000 };

/** A member as an attacker writes one: any type, any name, sizes that lie. */
interface Member {
  readonly name: string;
  readonly type: string;
  readonly target: string;
  readonly data: Uint8Array;
  readonly size: 'true' | 'more' | 'less' | 'huge' | 'base 256' | 'negative';
  readonly prefix: string;
  readonly mode: number;
  readonly pax: readonly (readonly [string, string])[];
  readonly long: boolean;
}

const part = fc.constantFrom(
  'a',
  'b',
  'c',
  '..',
  '.',
  '',
  'Dockerfile',
  '\\',
  '\0',
  'ü',
  '.git',
  '.env',
  'C:',
  '\n',
  '~',
  '-x',
  ' ',
  'x'.repeat(101),
  '\u202e',
);
const plain = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', 'Dockerfile', 'ü'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('/'));
// Most of it has to be in order: what lies behind the first mistake is never read.
const name = fc.oneof(
  { weight: 9, arbitrary: plain },
  {
    weight: 1,
    arbitrary: fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')),
  },
);
const member: fc.Arbitrary<Member> = fc.record({
  name,
  type: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom('0', '0', '5', '2') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '1',
        '3',
        '4',
        '6',
        '7',
        'S',
        'g',
        'x',
        'L',
        'K',
        '\0',
        'V',
        'D',
        'Z',
      ),
    },
  ),
  target: name,
  data: fc.uint8Array({ maxLength: 1200 }),
  size: fc.oneof(
    { weight: 19, arbitrary: fc.constant('true' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'more' as const,
        'less' as const,
        'huge' as const,
        'base 256' as const,
        'negative' as const,
      ),
    },
  ),
  prefix: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: name }),
  mode: fc.integer({ min: 0, max: 0o7777 }),
  pax: fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.tuple(
          fc.constantFrom('path', 'linkpath', 'size', 'GNU.sparse.name', 'mtime', 'path\0'),
          fc.oneof(name, fc.nat().map(String)),
        ),
        { maxLength: 2 },
      ),
    },
  ),
  long: fc.oneof(
    { weight: 5, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

function header(fields: {
  name: string;
  type: string;
  target?: string;
  size: string | Buffer;
  prefix?: string;
  mode?: number;
}): Buffer {
  const block = Buffer.alloc(512);
  block.write(fields.name, 0, 100);
  block.write(`${(fields.mode ?? 0o644).toString(8).padStart(7, '0')}\0`, 100);
  if (typeof fields.size === 'string') block.write(fields.size, 124, 12, 'latin1');
  else fields.size.copy(block, 124);
  block.write(fields.type, 156, 1, 'latin1');
  block.write(fields.target ?? '', 157, 100);
  block.write('ustar\x0000', 257, 8, 'latin1');
  block.write(fields.prefix ?? '', 345, 155);
  return withChecksum(block);
}

const octal = (size: number) => `${size.toString(8).padStart(11, '0')}\0`;
const padded = (data: Uint8Array) =>
  Buffer.concat([data, Buffer.alloc((512 - (data.length % 512)) % 512)]);

function sizeField({ size, data }: Member): string | Buffer {
  if (size === 'negative') return Buffer.alloc(12, 0xff);
  if (size === 'huge') return '77777777777\0';
  if (size === 'base 256')
    return Buffer.concat([
      Buffer.from([0x80]),
      Buffer.alloc(7),
      Buffer.from([0, 0, data.length >> 8, data.length & 255]),
    ]);
  return octal(Math.max(0, data.length + (size === 'more' ? 700 : size === 'less' ? -700 : 0)));
}

function toBytes(given: Member): Buffer {
  const parts: Buffer[] = [];
  if (given.long)
    parts.push(
      header({ name: '././@LongLink', type: 'L', size: octal(Buffer.byteLength(given.name) + 1) }),
      padded(Buffer.from(`${given.name}\0`)),
    );
  if (given.pax.length > 0) {
    const records = Buffer.concat(given.pax.map(([key, value]) => record(key, value)));
    parts.push(header({ name: 'pax', type: 'x', size: octal(records.length) }), padded(records));
  }
  const data =
    '25'.includes(given.type) && given.data.length % 8 > 0 ? Buffer.alloc(0) : given.data;
  parts.push(header({ ...given, size: sizeField({ ...given, data }) }), padded(data));
  return Buffer.concat(parts);
}

function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length)
    length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** Members, then bytes changed and cut off anywhere; checksums made right again, or nearly every change would end at one. */
const archive = fc
  .tuple(
    fc.array(member, { minLength: 1, maxLength: 5 }),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }) },
    ),
    fc.boolean(),
    fc.option(fc.nat(), { nil: undefined, freq: 8 }),
  )
  .map(([members, changes, mend, cut]) => {
    const bytes = Buffer.concat([...members.map(toBytes), TAR_END]);
    for (const [at, value] of changes) bytes[at % bytes.length] = value;
    if (mend)
      for (const [at] of changes)
        withChecksum(
          bytes.subarray(
            Math.floor((at % bytes.length) / 512) * 512,
            Math.floor((at % bytes.length) / 512) * 512 + 512,
          ),
        );
    return cut === undefined ? bytes : bytes.subarray(0, cut % bytes.length);
  });

async function* pieces(data: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

/** Reads what came out with a reader of its own, which knows only what the filter may write, and refuses the rest. */
function assertSafe(tar: Buffer): void {
  const links = new Set<string>();
  const seen = new Set<string>();
  let long: { path?: string; target?: string } = {};
  let at = 0;
  for (; tar[at] !== 0;) {
    const block = tar.subarray(at, at + 512);
    const text = (from: number, to: number) =>
      block.toString('utf8', from, to).replace(/\0[^]*$/, '');
    const type = String.fromCharCode(block[156] as number);
    const size = Number.parseInt(text(124, 136), 8);
    const data = tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
    if (type === 'x' || type === 'L' || type === 'K') {
      for (const [, key, value] of data
        .toString('utf8')
        .matchAll(/\d+ (path|linkpath)=([^\n]*)\n/g))
        long = { ...long, [key === 'path' ? 'path' : 'target']: value as string };
      if (type !== 'x')
        long = {
          ...long,
          [type === 'L' ? 'path' : 'target']: data.toString('utf8').replace(/\0$/, ''),
        };
      continue;
    }
    const path = long.path ?? [text(345, 500), text(0, 100)].filter(Boolean).join('/');
    const target = long.target ?? text(157, 257);
    long = {};
    if (!['0', '2', '5'].includes(type)) throw new Error(`type ${type}`);
    if (Number.parseInt(text(108, 116), 8) !== 0 || Number.parseInt(text(116, 124), 8) !== 0)
      throw new Error('an owner');
    if (type === '0' && (Number.parseInt(text(100, 108), 8) & ~0o755) !== 0)
      throw new Error('a mode');
    const parts = path.replace(/\/$/, '').split('/');
    if (
      path.startsWith('/') ||
      parts.some((each) => each === '' || each === '.' || each === '..') ||
      /\p{Cc}/u.test(path)
    )
      throw new Error(`the path ${JSON.stringify(path)}`);
    if (parts.includes('.git') || (parts.at(-1) === '.env' && type !== '5'))
      throw new Error('what is left out');
    for (let depth = 1; depth < parts.length; depth += 1)
      if (links.has(parts.slice(0, depth).join('/'))) throw new Error('below a link');
    if (type !== '5' && seen.has(parts.join('/'))) throw new Error('twice');
    seen.add(parts.join('/'));
    if (type !== '2') continue;
    links.add(parts.join('/'));
    let depth = parts.length - 1;
    for (const each of target.split('/')) {
      depth += each === '..' ? -1 : each === '' || each === '.' ? 0 : 1;
      if (depth < 0) throw new Error(`the link ${JSON.stringify(target)}`);
    }
    if (target === '' || target.startsWith('/')) throw new Error('a link to the root');
  }
  if (tar.length - at !== TAR_END.length || tar.subarray(at).some((byte) => byte !== 0))
    throw new Error('something at the end');
}

it(
  `the tar filter gives out nothing that leads out, in ${runs} archives (seed ${seed})`,
  async () => {
    const counts = { passed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(archive, fc.constantFrom(1, 100, 512, 1_000_000), async (bytes, size) => {
        const read = () =>
          Array.fromAsync(
            filterTar(
              pieces(bytes, bytes.length > 8000 ? 1_000_000 : Math.max(size, 64)),
              limits,
              createListing(),
            ),
          );
        const result = await read().catch((error: unknown) => error);
        if (Array.isArray(result)) {
          counts.passed += 1;
          const tar = Buffer.concat(result as Buffer[]);
          assertSafe(tar);
          // What is safe goes through a second time as it is.
          expect(
            Buffer.concat(
              await Array.fromAsync(
                filterTar(pieces(tar, 1_000_000), { ...limits, total: 20_000 }, createListing()),
              ),
            ).equals(tar),
          ).toBe(true);
        } else {
          counts.refused += 1;
          if (!(result instanceof AppError) || result.status !== 422) throw result;
        }
      }),
      { numRuns: runs, seed, ...(runs > 10_000 && { endOnFailure: true }) },
    );
    if (runs > 10_000)
      console.log(
        `${runs} archives, seed ${seed}: ${counts.passed} went through and were safe, ${counts.refused} were refused`,
      );
    expect(Math.min(counts.passed, counts.refused)).toBeGreaterThan(runs / 100);
  },
  runs > 10_000 ? 0 : 60_000,
);
