import { execFile } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Header, pack } from 'tar-stream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { encrypt } from '../../runtime/hosting/backups/cipher.ts';
import { readBytes } from '../../runtime/hosting/read-bytes.ts';
import { root } from '../source-files.ts';
import { describeEachEngine, engines } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { selfSigned } from './ingress-client.ts';
import { startServer, token, type TestServer } from './server.ts';

const IMAGE = 'docker.io/twofold-test/web:1';

/** Serves its volume, and its environment as a file of it. */
const SERVE = 'env > /data/env; exec httpd -f -p "$PORT" -h /data';
/** A page that writes: the words of its query are a line of a file before it answers. */
const WRITE = `#!/bin/sh\necho "$QUERY_STRING" >> /data/lines\nprintf 'Content-Type: text/plain\\r\\n\\r\\nwritten'\n`;

/** What an app sees of its files: names, owners, modes, content. */
const LOOK =
  'cd /data && find . ! -name env ! -name lines | sort | while read f; do stat -c \'%n %u:%g %a %F\' "$f"; done && find . -type f ! -name env ! -name lines | sort | while read f; do sha256sum "$f"; done && readlink soft';

/** Has a certificate: plain requests to it are sent on to TLS. */
const SAFE = 'safe.shop.test';

/** The fingerprint of the certificate that a server shows. */
async function shownBy({ api }: TestServer, servername: string): Promise<string | undefined> {
  const { https } = (await api('GET', '/api/system/config')).body.ingress;
  const socket = connect({ host: '127.0.0.1', port: https, servername, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerX509Certificate() ?? {};
  socket.destroy();
  return fingerprint256;
}

function host(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, DEPLOY_TOKEN: token, MOVE_FROM_TOKEN: token };
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [join(root, 'generator/bin.js'), 'host', 'move', ...words],
      { env },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  );
}

/** An app as a source sends it. */
const DESCRIPTION = {
  ...{ version: 1, from: '9.9.9', secrets: {}, deployed: null },
  app: { name: 'evil', volumes: [{ name: 'data', path: '/data' }] },
};

type Member = Pick<Header, 'name'> & Partial<Header> & { readonly text?: string };
const file = (name: string, more: Partial<Member> = {}): Member => ({ name, text: 'x', ...more });
const FOLDER: Member = { name: 'copy/data/', type: 'directory' };

/** A stream with these members, encrypted. */
async function streamOf(key: Buffer, description: object, members: readonly Member[]) {
  const archive = pack();
  archive.entry({ name: 'move.json' }, JSON.stringify(description));
  for (const { text = '', ...header } of members) archive.entry(header, text);
  archive.finalize();
  return readBytes(encrypt(archive as AsyncIterable<Buffer>, key));
}

const image = (...members: readonly Member[]) => {
  const archive = pack();
  for (const { text = '', ...header } of members) archive.entry(header, text);
  archive.finalize();
  return readBytes(archive as AsyncIterable<Buffer>).then((bytes) =>
    file('image/00000001', { text: bytes as never }),
  );
};

const MANIFEST = JSON.stringify([{ Config: 'c.json', RepoTags: ['a:1'], Layers: [] }]);

/** What a hostile source sends, and a part of the answer. */
const HOSTILE: readonly (readonly [string, object, () => Promise<readonly Member[]>, string])[] = [
  ['a path that leads out', {}, async () => [FOLDER, file('copy/data/../../x')], 'not a path'],
  [
    'a device',
    {},
    async () => [
      FOLDER,
      { name: 'copy/data/d', type: 'character-device', devmajor: 1, devminor: 3 },
    ],
    'a volume cannot have',
  ],
  [
    'a file through a link',
    {},
    async () => [
      FOLDER,
      { name: 'copy/data/etc', type: 'symlink', linkname: '/etc' },
      file('copy/data/etc/passwd'),
    ],
    'through a symbolic link',
  ],
  [
    'a hard link that leads out',
    {},
    async () => [
      FOLDER,
      { name: 'copy/data/l', type: 'link', linkname: 'copy/data/../../etc/passwd' },
    ],
    'hard link',
  ],
  ['a volume of another app', {}, async () => [file('copy/other/x')], 'no volume'],
  ['a member that is none', {}, async () => [file('hello')], 'member'],
  [
    'a variable that is none',
    { app: { name: 'evil', env: { 'A B': '1' } } },
    async () => [],
    'env',
  ],
  ['a secret that is none', { secrets: { '1A': 'x' } }, async () => [], 'secrets'],
  ['a name that is reserved', { app: { name: 'admin' } }, async () => [], 'reserved'],
  ['a field of a later version', { later: 1 }, async () => [], 'later'],
  [
    'a volume in /proc',
    { app: { name: 'evil', volumes: [{ name: 'p', path: '/proc/x' }] } },
    async () => [],
    'not allowed',
  ],
  [
    'a backup target that is not here',
    { app: { name: 'evil', backup: { target: 'cloud' } } },
    async () => [],
    'PUT /api/backup-targets/cloud at the new server',
  ],
  [
    'the host of the server',
    { app: { name: 'evil', domain: 'new.test' } },
    async () => [],
    'new.test',
  ],
  ['an image without a manifest', {}, async () => [await image(file('c.json'))], 'no manifest'],
  [
    'two images',
    {},
    async () => [
      await image(
        file('manifest.json', { text: `[${MANIFEST.slice(1, -1)},${MANIFEST.slice(1, -1)}]` }),
      ),
    ],
    'exactly one image',
  ],
  [
    'an image with a path that leads out',
    {},
    async () => [await image(file('../x'), file('manifest.json', { text: MANIFEST }))],
    'its image has a member',
  ],
];

describeEachEngine('a move to another server, from an app', ({ kind, socket }) => {
  const other = engines.find((engine) => engine.kind !== kind);
  if (!other)
    return it.skip('needs the other engine too: eval "$(npx node test/engines/start.ts)"', () => {});
  let source: TestServer;
  let target: TestServer;
  const exec = async ({ api }: TestServer, command: string) => {
    const { body } = await api('POST', '/api/apps/shop/exec', { command: ['sh', '-c', command] });
    expect(body).toMatchObject({ exit_code: 0 });
    return body.stdout as string;
  };

  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    [source, target] = await Promise.all([
      startServer({ socket, env: { APP_URL: 'http://old.test' } }),
      startServer({ socket: other.socket, env: { APP_URL: 'http://new.test' } }),
    ]);
  });
  afterAll(async () => {
    await source?.end();
    await target?.end();
  });

  it('refuses what no source sends, and keeps nothing of it', async () => {
    const key = randomBytes(32);
    const send = (move: string, body: Uint8Array, given = key) =>
      target.api('POST', `/api/apps/import?move=${move}&part=1&step=last`, body, {
        'x-move-key': given.toString('base64'),
      });
    const id = () => randomBytes(16).toString('hex');
    for (const [name, change, members, words] of HOSTILE) {
      const answer = await send(
        id(),
        await streamOf(key, { ...DESCRIPTION, ...change }, await members()),
      );
      expect([name, answer.status >= 400 && answer.status < 500, answer.body.error]).toEqual([
        name,
        true,
        expect.stringContaining(words),
      ]);
    }
    const good = await streamOf(key, DESCRIPTION, [FOLDER]);
    expect((await send(id(), good, randomBytes(32))).body.error).toContain('another key');
    const flipped = Buffer.from(good);
    flipped[good.length - 20]! ^= 1;
    expect((await send(id(), flipped)).status).toBe(422);
    expect((await send(id(), good.subarray(0, good.length - 30))).status).toBe(422);
    expect((await target.api('GET', '/api/apps')).body.total).toBe(0);

    const move = id();
    expect((await send(move, good)).body).toMatchObject({ state: 'started' });
    expect((await target.api('GET', '/api/apps/evil')).body.status).toBe('created');
    const kept = await target.api('POST', `/api/apps/import/${move}/keep`, { proof: 'x' });
    expect(kept.status).toBe(404);
    expect((await target.api('POST', `/api/apps/import?move=${move}&step=cancel`)).status).toBe(
      200,
    );
    expect((await target.api('GET', '/api/apps/evil')).status).toBe(404);
  });

  it('takes everything along, and the source passes requests on', async () => {
    // Gone when this is tried again.
    for (const { api } of [source, target]) await api('DELETE', '/api/apps/shop?volumes=true');
    const created = await source.api('POST', '/api/apps', {
      ...{ name: 'shop', image: IMAGE, domain: 'shop.test', aliases: ['www.shop.test', SAFE] },
      ...{ command: ['sh', '-c', SERVE], env: { COLOR: 'blue' }, cron: [] },
      volumes: [{ name: 'data', path: '/data' }],
      http: { basic_auth: [{ user: 'ada', password: 'secret' }] },
    });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    await source.api('PUT', '/api/apps/shop/secrets/TOKEN', { value: 'not-for-eyes' });
    await source.api('PATCH', '/api/apps/shop?apply=true', {});
    await exec(
      source,
      `cd /data && mkdir -p a/b && head -c 3000000 /dev/urandom > a/b/big && echo hello > a/note
       ln a/note hard && ln -s a/note soft && chmod 640 a/note && chown 1000:1000 a/b . && chmod 755 .`,
    );
    await exec(
      source,
      `mkdir /data/cgi-bin && cat > /data/cgi-bin/write <<'END'\n${WRITE}END\nchmod 755 /data/cgi-bin/write`,
    );
    const pair = selfSigned(SAFE);
    expect((await source.api('PUT', '/api/apps/shop/certificate', pair)).status).toBe(200);
    const before = await exec(source, LOOK);
    const servers = ['--from', source.url, '--to', target.url];
    const move = '0'.repeat(32);
    const none = await source.api('GET', `/api/apps/shop/export?move=${move}`);
    expect([none.status, none.body.code]).toEqual([404, undefined]);
    const nowhere = await source.api('POST', '/api/apps/shop/export', {
      ...{ move, step: 'copy', key: randomBytes(32).toString('base64'), to: 'http://127.0.0.1:1' },
    });
    expect([nowhere.status, nowhere.body.error]).toEqual([
      422,
      expect.stringContaining('must reach the target'),
    ]);

    const dry = await host('shop', ...servers, '--dry-run', '--json');
    expect([dry.code, JSON.parse(dry.out)]).toEqual([
      0,
      expect.objectContaining({ dry_run: true, domains: ['shop.test', 'www.shop.test', SAFE] }),
    ]);
    expect((await target.api('GET', '/api/apps')).body.total).toBe(0);

    const startTime = async () => (await exec(source, 'cat /proc/1/stat')).split(' ')[21];
    const started = await startTime();
    const vault = { kind: 'local', path: join(source.folder, 'vault') };
    await source.api('PUT', '/api/backup-targets/vault', vault);
    await source.api('PATCH', '/api/apps/shop', { backup: { target: 'vault' } });
    for (const options of [['--dry-run'], []]) {
      const { code, out } = await host('shop', ...servers, '--json', ...options);
      expect([code, out]).toEqual([
        2,
        expect.stringContaining('add it with PUT /api/backup-targets/vault at the new server'),
      ]);
    }
    // It was not stopped.
    expect(await startTime()).toBe(started);
    await target.api('PUT', '/api/backup-targets/vault', vault);

    const authorization = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
    const writing = new AbortController();
    const written: number[] = [];
    const writer = (async () => {
      for (let line = 1; !writing.signal.aborted; line += 1) {
        const headers = { authorization };
        const answer = await source
          .visit('shop.test', `/cgi-bin/write?${line}`, { headers })
          .catch(() => null);
        if (answer?.status === 200 && answer.text === 'written') written.push(line);
      }
    })();
    const moved = await host('shop', ...servers, '--json');
    // Some lines reach the target through the source.
    const soFar = written.length;
    await vi.waitFor(() => expect(written.length).toBeGreaterThan(soFar + 5), { timeout: 30_000 });
    writing.abort();
    await writer;
    expect([moved.code, moved.code === 0 ? '' : moved.out]).toEqual([0, '']);
    expect(JSON.parse(moved.out)).toMatchObject({ ok: true, app: 'shop', to: target.url });

    expect(await exec(target, LOOK)).toBe(before);
    // What was answered is there, also what was written while the copy was made.
    const lines = (await exec(target, 'cat /data/lines')).trim().split('\n').map(Number);
    expect(written.filter((line) => !lines.includes(line))).toEqual([]);
    expect([written[0], lines.length < written.length + 20]).toEqual([1, true]);
    expect(await shownBy(target, SAFE)).toBe(new X509Certificate(pair.certificate).fingerprint256);
    const there = (await target.api('GET', '/api/apps/shop')).body;
    expect(there).toMatchObject({ status: 'running', domain: 'shop.test', image: IMAGE });
    expect(there.backup).toMatchObject({ target: 'vault' });
    expect(there.env).toEqual({ COLOR: 'blue', TOKEN: '********' });
    const here = (await source.api('GET', '/api/apps/shop')).body;
    expect(here).toMatchObject({ status: 'stopped', moved: { to: target.url } });

    const passed = await source.visit('www.shop.test', '/env', { headers: { authorization } });
    expect([passed.status, passed.text]).toEqual([200, expect.stringContaining('COLOR=blue')]);
    expect(passed.text).toContain('TOKEN=not-for-eyes');
    expect((await source.visit('shop.test', '/env')).status).toBe(401);
    const again = await host('shop', ...servers, '--json');
    expect([again.code, again.out]).toEqual([2, expect.stringContaining('has moved to')]);
  });
});
