import { describe, expect, it } from 'vitest';
import { isPrivateAddress } from '../../runtime/core/http/private-address.ts';
import { assertPublicAddress } from '../../runtime/hosting/source/base-images.ts';
import { inspectDockerfile, assertTriggers } from '../../runtime/hosting/source/dockerfile.ts';
import { generateDockerfile } from '../../runtime/hosting/source/generate.ts';
import { assertGitRef, parseGitUrl, resolveGitHost } from '../../runtime/hosting/source/git-url.ts';
import { readForm } from '../../runtime/hosting/source/multipart.ts';
import { planBuild } from '../../runtime/hosting/source/plan.ts';
import {
  APP_NAME,
  assertAppName,
  assertImage,
  parseDomain,
} from '../../runtime/hosting/records/names.ts';
import { hostileDockerfiles } from './hostile.ts';

const policy = { allowAddUrl: false, from: ['*'] };

describe('the Dockerfile policy', () => {
  it.each(hostileDockerfiles)('refuses %s', (_, text, message) => {
    expect(() => inspectDockerfile(text, policy)).toThrow(
      expect.objectContaining({ status: 422, message: expect.stringMatching(message) }),
    );
  });

  it('takes an image of a private registry that is named', () => {
    expect(
      inspectDockerfile('FROM localhost:5000/base:1', {
        allowAddUrl: false,
        from: ['*', 'localhost:5000/*'],
      }).images,
    ).toEqual(['localhost:5000/base:1']);
  });

  it('refuses a registry whose name leads into a private network, and what an image would do to every build', async () => {
    const find = async (host: string) =>
      ({ 'evil.test': ['1.1.1.1', '127.0.0.1'], 'fine.test': ['1.1.1.1'] })[host] ?? [];
    await expect(assertPublicAddress('evil.test/x', find)).rejects.toMatchObject({ status: 422 });
    for (const image of ['fine.test:5000/x', 'unknown.test/x', 'node:24', 'library/node'])
      await assertPublicAddress(image, find);
    expect(() => assertTriggers(['RUN true', 'ADD http://127.0.0.1/x /x'], policy)).toThrow(
      expect.objectContaining({ status: 422 }),
    );
    assertTriggers(['COPY . /app', 'RUN true'], policy);
  });

  it('knows the images that a file builds on', () => {
    expect(
      inspectDockerfile(
        'ARG V=24\nFROM --platform=$BUILDPLATFORM node:${V:-1} AS build\nFROM nginx:${TAG:-1.27}\nCOPY --from=build /a /b\nCOPY --from=ghcr.io/a/tool:1 /c /d\n',
        policy,
      ).images,
    ).toEqual(['node:24', 'nginx:1.27', 'ghcr.io/a/tool:1']);
  });

  it('lets ordinary files through', () => {
    inspectDockerfile(
      '# syntax=docker/dockerfile:1\nARG V=22\nFROM --platform=$BUILDPLATFORM node:${V} AS build\nADD local.tar.gz /x\nADD ["a b", "/c"]\nRUN curl https://x.test\nFROM build\nCOPY --from=build /a /b\nCOPY --from=0 /a /b\n',
      policy,
    );
    inspectDockerfile('FROM a\nADD http://x.test/y /y', { ...policy, allowAddUrl: true });
  });

  it('holds FROM to a list', () => {
    const listed = { allowAddUrl: false, from: ['docker.io/library/*', 'ghcr.io/ours/base'] };
    for (const image of [
      'node:24',
      'library/node',
      'docker.io/library/node@sha256:1',
      'ghcr.io/ours/base:2',
      'scratch',
    ])
      inspectDockerfile(`FROM ${image}`, listed);
    for (const image of [
      'ghcr.io/ours/base2',
      'evil/node',
      'docker.io/evil/node',
      'quay.io/library/node',
      '$X',
    ]) {
      expect(() => inspectDockerfile(`FROM ${image}`, listed), image).toThrow(/not allowed/);
    }
    expect(() => inspectDockerfile('FROM node\nCOPY --from=evil/x /a /b', listed)).toThrow(
      /not allowed/,
    );
  });
});

describe('names', () => {
  it('are checked before anything else', () => {
    for (const name of ['a', 'shop', 'a-1', 'x'.repeat(63)]) assertAppName(name);
    for (const name of [
      '',
      'A',
      '1a',
      '-a',
      'a_b',
      'a.b',
      'a/b',
      '../a',
      'x'.repeat(64),
      'a\n',
      'api',
      'localhost',
    ])
      expect(() => assertAppName(name), name).toThrow(expect.objectContaining({ status: 400 }));
    expect(APP_NAME).toBe('^[a-z][a-z0-9-]{0,62}$');
  });

  it('of images follow the grammar of references', () => {
    for (const image of [
      'nginx',
      'nginx:1.27',
      'library/nginx',
      'ghcr.io/a/b-c_d.e:v1',
      'localhost:5000/x',
      `a@sha256:${'0'.repeat(64)}`,
    ])
      assertImage(image);
    for (const image of [
      '',
      'A',
      '-a',
      'a b',
      'a:',
      'http://a',
      'a@sha256:12',
      '../a',
      'a:b:c',
      'a;b',
      'a\n',
    ])
      expect(() => assertImage(image), image).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('of domains are kept in one form', () => {
    expect(parseDomain('Shop.Example.COM.')).toBe('shop.example.com');
    expect(parseDomain('grüße.example')).toBe('xn--gre-6ka8l.example');
    expect(parseDomain('*.example.com')).toBe('*.example.com');
    for (const text of [
      '',
      '.',
      'a..b',
      '127.0.0.1',
      '::1',
      'a b',
      'a/b',
      '*',
      '*.com',
      'http://a',
      'a:80',
      `${'a'.repeat(64)}.b`,
      '-a.b',
    ])
      expect(() => parseDomain(text), text).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('git addresses', () => {
  const strict = { allowHttp: false, allowPrivate: false };
  it('are https or ssh', () => {
    expect(parseGitUrl('https://x.test/a/b.git', strict)).toEqual({
      url: 'https://x.test/a/b.git',
      host: 'x.test',
      port: 443,
      protocol: 'https:',
    });
    expect(parseGitUrl('git@x.test:a/b.git', strict).url).toBe('ssh://git@x.test/a/b.git');
    for (const url of [
      '/etc',
      './x',
      'file:///etc',
      'ext::sh -c id',
      'git://x/y',
      'http://x.test/a',
      'https://u:p@x.test/a',
      'https://u@x.test/a',
      'ssh://-oProxyCommand=id/x',
      '--upload-pack=id',
      'https://x.test',
      'https://x.test/a b',
      '-o@x.test:y',
      'ssh://-x@h/y',
    ]) {
      expect(() => parseGitUrl(url, strict), url).toThrow(expect.objectContaining({ status: 400 }));
    }
    expect(parseGitUrl('http://x.test/a', { ...strict, allowHttp: true }).port).toBe(80);
  });

  it('of private networks are refused', async () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '172.20.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '0.0.0.0',
      '100.64.1.1',
      '::1',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
    ])
      expect(isPrivateAddress(address), address).toBe(true);
    for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1'])
      expect(isPrivateAddress(address), address).toBe(false);
    for (const url of [
      'https://127.0.0.1/a',
      'https://[::1]/a',
      'https://localhost/a',
      'https://2130706433/a',
    ])
      await expect(resolveGitHost(parseGitUrl(url, strict), strict), url).rejects.toMatchObject({
        status: 400,
      });
  });

  it('name branches, tags and commits, never options', () => {
    for (const ref of ['main', 'feature/x', 'v1.2.3', 'a'.repeat(40)]) assertGitRef(ref);
    for (const ref of [
      '',
      '-x',
      '--upload-pack=id',
      'a..b',
      'a b',
      'a:b',
      'x.lock',
      'a//b',
      'a@{1}',
      '/a',
      'a/',
    ])
      expect(() => assertGitRef(ref), ref).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('a build plan', () => {
  const listing = (files: Record<string, string>) => ({
    paths: new Set(Object.keys(files)),
    manifests: new Map(Object.entries(files)),
    bytes: 0,
  });
  const kinds: [string, Record<string, string>][] = [
    ['node (npm)', { 'package.json': '{"scripts":{"start":"node ."}}', 'package-lock.json': '' }],
    ['node (pnpm)', { 'package.json': '{"main":"a.js"}', 'pnpm-lock.yaml': '' }],
    ['node (yarn)', { 'package.json': '{"main":"a.js"}', 'yarn.lock': '' }],
    ['node (bun)', { 'package.json': '{"main":"a.js"}', 'bun.lock': '' }],
    ['python', { 'requirements.txt': '', 'main.py': '' }],
    ['go', { 'go.mod': 'module x\ngo 1.22', 'main.go': '' }],
    ['ruby', { Gemfile: '', 'config.ru': '' }],
    ['php', { 'index.php': '' }],
    ['rust', { 'Cargo.toml': '[package]\nname = "x"' }],
    ['java (maven)', { 'pom.xml': '' }],
    ['java (gradle)', { 'build.gradle': '' }],
    ['.net', { 'x.csproj': '' }],
    ['static', { 'index.html': '' }],
  ];
  it.each(kinds)('is made for %s, unprivileged and within the policy', (kind, files) => {
    const plan = planBuild(listing(files), { policy });
    expect(plan.kind).toBe(kind);
    const text = Object.values(plan.extra)[0] ?? '';
    expect(text).toMatch(/^USER (?!root|0)|nonroot/m);
    if (kind !== 'static' && kind !== 'php')
      expect(text.match(/^FROM /gm)?.length).toBeGreaterThan(1);
  });

  it("uses the source's own Dockerfile, that of a folder, or that of the only folder", () => {
    expect(
      planBuild(listing({ Dockerfile: 'FROM a', 'package.json': '{"main":"x"}' }), { policy }),
    ).toMatchObject({ kind: 'Dockerfile', folder: '', extra: {} });
    expect(
      planBuild(listing({ 'api/Dockerfile': 'FROM a', 'web/index.html': '' }), {
        policy,
        path: './api/',
      }),
    ).toMatchObject({ folder: 'api' });
    expect(
      planBuild(listing({ 'shop-1/Dockerfile': 'FROM a', 'shop-1/x': '' }), { policy }),
    ).toMatchObject({ folder: 'shop-1' });
    expect(() => planBuild(listing({ 'a/x': '', 'b/y': '' }), { policy })).toThrow(/no Dockerfile/);
    expect(() => planBuild(listing({ x: '' }), { policy, path: '../etc' })).toThrow(
      expect.objectContaining({ status: 400 }),
    );
    expect(() => planBuild(listing({ Dockerfile: 'FROM a\nADD http://x /y' }), { policy })).toThrow(
      expect.objectContaining({ status: 422 }),
    );
  });

  it("does not let a project's own words become instructions", () => {
    const made = generateDockerfile({
      has: (path) => path === 'package.json',
      find: () => undefined,
      text: (path) =>
        path === 'package.json'
          ? '{"scripts":{"start":"x"},"engines":{"node":"24\\nRUN id"}}'
          : path === 'Procfile'
            ? 'web: echo "hi"; \\'
            : undefined,
    });
    expect(made?.text).toContain('CMD ["sh", "-c", "echo \\"hi\\"; \\\\"]');
    expect(made?.text).not.toContain('RUN id');
  });
});

async function* nothing(): AsyncGenerator<Buffer> {}

describe('a form', () => {
  const form = (parts: [string, string][], boundary = 'xyz') =>
    Buffer.from(
      parts
        .map(
          ([name, text]) =>
            `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`,
        )
        .join('') + `--${boundary}--\r\n`,
    );
  async function read(data: Buffer, size: number) {
    async function* cut() {
      for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
    }
    const found: [string, string][] = [];
    for await (const { name, data: bytes } of readForm(cut(), 'multipart/form-data; boundary=xyz'))
      found.push([name, Buffer.concat(await Array.fromAsync(bytes)).toString('latin1')]);
    return found;
  }
  it('is read however it is cut', async () => {
    const parts: [string, string][] = [
      ['config', '{"a":1}'],
      ['empty', ''],
      ['source', 'line\r\n--xy\r\n\r\n--xyzz not it'.replace('--xyzz', '--xyy')],
      ['last', '\r\n'],
    ];
    for (const size of [1, 2, 3, 10, 1000])
      expect(await read(form(parts), size), `cut at ${size}`).toEqual(parts);
  });
  it('skips what its reader leaves of a part', async () => {
    async function* whole() {
      yield form([
        ['a', 'x'.repeat(300_000)],
        ['b', 'read'],
      ]);
    }
    const names: string[] = [];
    for await (const { name, data: bytes } of readForm(
      whole(),
      'multipart/form-data; boundary="xyz"',
    )) {
      names.push(name);
      if (name === 'b') expect(String(await Array.fromAsync(bytes))).toBe('read');
    }
    expect(names).toEqual(['a', 'b']);
  });
  it('with too many parts, or with too much around them, is refused', async () => {
    const many = Array.from({ length: 21 }, (_, at): [string, string] => [`p${at}`, 'x']);
    await expect(read(form(many), 100)).rejects.toMatchObject({ status: 400 });
    const around = Buffer.concat([form([['a', 'b']]), Buffer.alloc(3_000_000)]);
    await expect(read(around, 10_000)).rejects.toMatchObject({ status: 400 });
    await expect(
      read(Buffer.concat([Buffer.alloc(3_000_000), around]), 10_000),
    ).rejects.toMatchObject({
      status: 400,
    });
  });
  it('gives its reader the failure of the connection', async () => {
    async function* broken() {
      yield form([['a', 'x'.repeat(1000)]]).subarray(0, 500);
      throw new Error('the connection is gone');
    }
    const readAll = async () => {
      for await (const { data: bytes } of readForm(broken(), 'multipart/form-data; boundary=xyz'))
        await Array.fromAsync(bytes);
    };
    await expect(readAll()).rejects.toThrow('the connection is gone');
  });
  it('that is cut off or no form is refused', async () => {
    await expect(read(form([['a', 'b']]).subarray(0, 60), 10)).rejects.toMatchObject({
      status: 400,
    });
    await expect(read(Buffer.from('hello'), 2)).rejects.toMatchObject({ status: 400 });
    await expect(read(Buffer.from(`--xyz\r\nX: ${'y'.repeat(10_000)}`), 999)).rejects.toMatchObject(
      { status: 400 },
    );
    await expect(read(Buffer.from(`--xyz\r\nX: y\r\n\r\nz\r\n--xyz--\r\n`), 9)).resolves.toEqual(
      [],
    );
    for (const type of ['application/json', 'multipart/form-data', ''])
      await expect(readForm(nothing(), type).next()).rejects.toMatchObject({ status: 415 });
  });
});
