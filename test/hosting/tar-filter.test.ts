import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spoolSource } from '../../runtime/hosting/source/spool.ts';
import { createListing, filterTar } from '../../runtime/hosting/source/tar-filter.ts';
import { readMembers } from '../../runtime/hosting/archives/tar-members.ts';
import { readTar, type TarEntry } from '../../runtime/hosting/archives/tar-read.ts';
import { TAR_END, tarFile } from './raw-tar.ts';
import { unpack } from '../../runtime/hosting/source/unpack.ts';
import { type Member, tarOf, withType } from './archives.ts';
import { hostileArchives } from './hostile.ts';

const limits = { entries: 100, file: 1000_000, total: 2000_000 };

async function* chunked(data: Buffer, size = data.length): AsyncGenerator<Buffer> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

async function filter(data: Buffer, given = limits, size?: number) {
  const listing = createListing();
  return {
    tar: Buffer.concat(await Array.fromAsync(filterTar(chunked(data, size), given, listing))),
    listing,
  };
}

async function entries(data: Buffer): Promise<(TarEntry & { text: string })[]> {
  const found: (TarEntry & { text: string })[] = [];
  for await (const { data: bytes, ...entry } of readTar(chunked(data)))
    found.push({ ...entry, text: Buffer.concat(await Array.fromAsync(bytes)).toString() });
  return found;
}

describe('the tar filter', () => {
  it.each(hostileArchives)('refuses %s', async (_, tar, message) => {
    await expect(filter(tar)).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(message),
    });
  });

  it('keeps what is in order, owned by root, with plain modes', async () => {
    const { tar, listing } = await filter(
      tarOf({
        'src/': { kind: 'directory', mode: 0o7777 },
        'src/run.sh': { data: Buffer.from('echo'), mode: 0o6777 },
        './link': { kind: 'symlink', target: 'src/run.sh' },
        'package.json': '{}',
      }),
    );
    expect(
      (await entries(tar)).map(({ path, kind, mode, target, text }) => [
        path,
        kind,
        mode.toString(8),
        target,
        text,
      ]),
    ).toEqual([
      ['src', 'directory', '755', '', ''],
      ['src/run.sh', 'file', '755', '', 'echo'],
      ['link', 'symlink', '777', 'src/run.sh', ''],
      ['package.json', 'file', '644', '', '{}'],
    ]);
    expect(Number.parseInt(tar.toString('latin1', 108, 116), 8)).toBe(0);
    expect([...listing.paths]).toEqual(['src/run.sh', 'link', 'package.json']);
    expect(listing.manifests.get('package.json')).toBe('{}');
  });

  it('leaves out history and local settings', async () => {
    const { tar } = await filter(
      tarOf({
        '.git/config': 'x',
        'a/.git/HEAD': 'x',
        '.env': 'SECRET=1',
        'a/.env': 'x',
        '.envrc': 'kept',
        '.gitignore': 'kept',
      }),
    );
    expect((await entries(tar)).map(({ path }) => path)).toEqual(['.envrc', '.gitignore']);
  });

  it('gives the same however the bytes are cut', async () => {
    const tar = tarOf({
      'a.txt': 'x'.repeat(1500),
      'b/c.txt': '',
      [`${'long/'.repeat(60)}name`]: 'deep',
      'd.txt': 'y'.repeat(512),
    });
    const whole = (await filter(tar)).tar;
    for (const size of [1, 7, 511, 512, 513, 1024])
      expect((await filter(tar, limits, size)).tar.equals(whole)).toBe(true);
  });

  it("writes what the system's tar reads, and reads what it writes", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tf-tar-'));
    const long = `${'deep/'.repeat(40)}${'name'.repeat(20)}`;
    mkdirSync(join(folder, 'in', 'deep/'.repeat(40)), { recursive: true });
    writeFileSync(join(folder, 'in', long), 'found');
    writeFileSync(join(folder, 'in', 'grüße.txt'), 'umlaut');
    symlinkSync('grüße.txt', join(folder, 'in', 'link'));
    for (const format of ['gnu', 'pax', 'ustar', 'v7'].slice(0, 2)) {
      const made = execFileSync(
        'tar',
        ['-C', join(folder, 'in'), `--format=${format}`, '-cf', '-', '.'],
        { maxBuffer: 1e8 },
      );
      const { tar } = await filter(made, { ...limits, entries: 1000 });
      rmSync(join(folder, 'out'), { recursive: true, force: true });
      mkdirSync(join(folder, 'out'));
      execFileSync('tar', ['-C', join(folder, 'out'), '-xf', '-'], { input: tar });
      expect(readFileSync(join(folder, 'out', long), 'utf8')).toBe('found');
      expect(readFileSync(join(folder, 'out', 'link'), 'utf8')).toBe('umlaut');
    }
    rmSync(folder, { recursive: true });
  });

  it('never gives out a path that leads out, whatever it is given', async () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', '..', '.', '', 'Dockerfile', '\\', 'ü'), {
        minLength: 1,
        maxLength: 5,
      })
      .map((parts) => parts.join('/'));
    const member = fc.oneof(
      fc.constant('text'),
      name.map((target) => ({ kind: 'symlink', target })),
      fc.constant({ kind: 'directory' }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, member), { minLength: 1, maxLength: 6 }),
        async (members) => {
          const result = await filter(tarOf(members as [string, Member][])).catch(
            (error: { status?: number }) => error,
          );
          if (!('tar' in result)) {
            expect(result.status).toBe(422);
            return;
          }
          const links = new Set<string>();
          for (const { path, kind, target } of await entries(result.tar)) {
            const parts = path.replace(/\/$/, '').split('/');
            expect(parts.includes('..') || path.startsWith('/')).toBe(false);
            for (let depth = 1; depth < parts.length; depth += 1)
              expect(links.has(parts.slice(0, depth).join('/'))).toBe(false);
            if (kind !== 'symlink') continue;
            links.add(path);
            expect(posix.join(posix.dirname(path), target)).not.toMatch(/^(\.\.|\/)/);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the members of an archive', () => {
  const big = tarOf({ first: 'text', second: 'x'.repeat(100_000) });

  it('end the call that sends them when nobody reads on, also while it waits for bytes', async () => {
    const sender = new Readable({ read() {} });
    sender.push(big.subarray(0, 1024));
    for await (const { header } of readMembers(sender)) {
      expect(header.name).toBe('first');
      break;
    }
    expect(sender.destroyed).toBe(true);
  });

  it('say in the words of the caller that the archive is cut off, and leave the failure of the sender', async () => {
    const read = async (chunks: AsyncIterable<Buffer>) => {
      for await (const { data } of readMembers(chunks, () => new Error('ours')))
        await Array.fromAsync(data);
    };
    await expect(read(chunked(big.subarray(0, 50_000)))).rejects.toThrow('ours');
    const broken = async function* () {
      yield big.subarray(0, 50_000);
      throw new Error('theirs');
    };
    await expect(read(broken())).rejects.toThrow('theirs');
    const closed = new Readable({ read() {} });
    closed.push(big.subarray(0, 1024));
    closed.once('data', () => setImmediate(() => closed.destroy()));
    await expect(read(closed)).rejects.toThrow('closed before its end');
  });
});

describe('unpacking', () => {
  const whole = { compressed: 10_000_000, total: 100_000_000, ratio: 200 };
  const run = async (data: Buffer, given = whole) =>
    Buffer.concat(await Array.fromAsync(unpack(chunked(data, 1000), given)));

  it('gives what was packed', async () => {
    const data = Buffer.from('some text '.repeat(10_000));
    expect((await run(gzipSync(data))).equals(data)).toBe(true);
  });

  it('refuses a bomb, by ratio and by size', async () => {
    await expect(run(gzipSync(Buffer.alloc(60_000_000)))).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/200 times/),
    });
    await expect(
      run(gzipSync(Buffer.alloc(60_000_000)), { ...whole, total: 1000_000 }),
    ).rejects.toMatchObject({ status: 422 });
  });

  it('refuses too much, what is no gzip, and what is cut off or damaged', async () => {
    const data = gzipSync(
      Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 7919) % 251)),
    );
    await expect(run(data, { ...whole, compressed: 100 })).rejects.toMatchObject({ status: 413 });
    await expect(run(Buffer.from('PK\x03\x04 a zip'))).rejects.toMatchObject({ status: 422 });
    await expect(run(data.subarray(0, data.length - 20))).rejects.toMatchObject({ status: 422 });
    data[30] = (data[30] as number) ^ 0xff;
    await expect(run(data)).rejects.toMatchObject({ status: 422 });
  });
});

describe('the time of a file', () => {
  const hour = 3600;
  const now = Math.floor(Date.now() / 1000);
  const times: readonly (readonly [string, number, 'kept' | 'now'])[] = [
    ['of yesterday', now - 24 * hour, 'kept'],
    ['of 1999', 915_148_800, 'kept'],
    ['that is none', 0, 'now'],
    ['of the day that zip begins with', 315_532_800, 'now'],
    ["of every package of npm's", 499_162_500, 'now'],
    ['in the future', now + 48 * hour, 'now'],
  ];
  it.each(times)('%s is %i, and %s', async (_, mtime, expected) => {
    const spool = await spoolSource(
      chunked(Buffer.concat([tarFile('a/b.js', 'x', mtime), TAR_END])),
      limits,
    );
    const read = spool.read({ folder: 'a', ignore: () => false, extra: { own: 'y' } });
    const [file, own] = await entries(Buffer.concat(await Array.fromAsync(read)));
    await spool.remove();
    if (expected === 'kept') expect(file?.mtime).toBe(mtime);
    else expect(Math.abs((file?.mtime ?? 0) - now)).toBeLessThan(60);
    expect(Math.abs((own?.mtime ?? 0) - now)).toBeLessThan(60);
  });

  it('is taken from a pax header, with parts of a second', async () => {
    const record = '30 mtime=1700000000.123456789\n';
    const extended = tarFile('PaxHeader', record.replace(/^\d+/, String(record.length)), 0);
    const { tar } = await filter(
      Buffer.concat([
        withType(extended.subarray(0, 512), 'x'),
        extended.subarray(512),
        tarFile('a', 'x', 5),
        TAR_END,
      ]),
    );
    expect((await entries(tar))[0]).toMatchObject({ path: 'a', mtime: 1_700_000_000 });
  });
});

describe('the spool', () => {
  it('gives a folder of the source, without what is ignored, with our own file', async () => {
    const spool = await spoolSource(
      chunked(tarOf({ 'app/a.js': 'a', 'app/node_modules/x.js': 'x', 'other/b.js': 'b' })),
      limits,
    );
    const read = spool.read({
      folder: 'app',
      ignore: (path) => path.startsWith('node_modules/'),
      extra: { Dockerfile: 'FROM x' },
    });
    expect(
      (await entries(Buffer.concat(await Array.fromAsync(read)))).map(({ path, text }) => [
        path,
        text,
      ]),
    ).toEqual([
      ['a.js', 'a'],
      ['Dockerfile', 'FROM x'],
    ]);
    await spool.remove();
  });

  it('is the same for the same source, so that a build can be told from another', async () => {
    const first = await spoolSource(chunked(tarOf({ a: 'x' })), limits);
    const second = await spoolSource(
      chunked(Buffer.concat([tarFile('./a', 'x'), TAR_END])),
      limits,
    );
    expect(first.sha256).toBe(second.sha256);
    await Promise.all([first.remove(), second.remove()]);
  });
});
