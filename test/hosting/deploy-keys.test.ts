import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyPair, readPrivateKey, readPublicKey } from '../../runtime/hosting/ssh/keys.ts';
import { describeWith, engines } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { type SshServer, startSshServer } from '../engines/ssh-server.ts';
import { startServer, type TestServer } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tf-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A key that `ssh-keygen` made. */
function makeKey(name: string, ...options: readonly string[]) {
  const file = join(folder, name);
  const args = ['-q', '-N', '', '-C', name, '-f', file, ...options];
  execFileSync('ssh-keygen', args);
  const read = (...more: string[]) =>
    execFileSync('ssh-keygen', [...more, '-f', file], { encoding: 'utf8' }).trim();
  return {
    private: execFileSync('cat', [file], { encoding: 'utf8' }),
    public: execFileSync('cat', [`${file}.pub`], { encoding: 'utf8' }).trim(),
    fingerprint: read('-l').split(' ')[1] as string,
  };
}

describe('a key', () => {
  it('that was made has all of its 32 bytes, also where the first is zero', () => {
    const lengths = Array.from({ length: 1000 }, () => {
      const { publicKey } = createKeyPair('twofold-shop');
      return Buffer.from(publicKey.line.split(' ')[1] as string, 'base64').length;
    });
    expect(new Set(lengths)).toEqual(new Set([51]));
  });

  it('that was made is read by OpenSSH, whatever its bytes', () => {
    for (let index = 0; index < 20; index += 1) {
      const { privateKey, publicKey } = createKeyPair('twofold-shop');
      const file = join(folder, `made-${index}`);
      writeFileSync(file, privateKey, { mode: 0o600 });
      const keygen = (option: string) =>
        execFileSync('ssh-keygen', [option, '-f', file], { encoding: 'utf8' }).trim();
      expect(keygen('-y')).toBe(publicKey.line);
      expect(keygen('-l').split(' ')[1]).toBe(publicKey.fingerprint);
    }
  });

  it.each([
    ['ed25519', []],
    ['ecdsa', []],
    ['rsa', ['-b', '2048']],
    ['rsa', ['-b', '2048', '-m', 'PEM']],
  ])('of OpenSSH is read: %s %j', (type, options) => {
    const key = makeKey(`own-${type}-${options.length}`, '-t', type, ...options);
    const found = readPrivateKey(key.private.replaceAll('\n', '\r\n'));
    expect(found?.publicKey.fingerprint).toBe(key.fingerprint);
    expect(found?.publicKey.line.split(' ').slice(0, 2)).toEqual(key.public.split(' ').slice(0, 2));
    expect(readPublicKey(key.public)).toEqual({ line: key.public, fingerprint: key.fingerprint });
  });

  it('that is none is refused', () => {
    const { private: text, public: line } = makeKey('own', '-t', 'ed25519');
    const locked = makeKey('locked', '-t', 'ed25519', '-N', 'a passphrase').private;
    const damaged = text.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
    for (const wrong of ['', 'x', line, locked, damaged, `${text.slice(0, 200)}\n`])
      expect([wrong, readPrivateKey(wrong)]).toEqual([wrong, null]);
    for (const wrong of ['', 'x', text, 'ssh-ed25519 AAAA', `${line}\n${line}`, `* ${line}`])
      expect([wrong, readPublicKey(wrong)]).toEqual([wrong, null]);
  });
});

describeWith('docker', 'a git server over SSH', () => {
  const { socket } = engines.find(({ kind }) => kind === 'docker') ?? { socket: '' };
  const git = { allowHttp: false, allowPrivate: true };
  let ssh: SshServer;
  let server: TestServer;
  let host: string;
  beforeAll(async () => {
    const image = await importImage(socket, 'twofold-test/web:1');
    ssh = await startSshServer();
    host = `127.0.0.1:${ssh.port}`;
    commit({ Dockerfile: `FROM ${image}\nCOPY index.html /www/\n`, 'index.html': 'by ssh' });
    server = await startServer({ socket, model: { git } });
    await server.api('POST', '/api/apps', { name: 'shop' });
  });
  afterAll(async () => {
    await server?.end();
    await ssh?.stop();
  });

  function commit(files: Record<string, string>): void {
    const work = mkdtempSync(join(folder, 'work-'));
    const run = (...args: string[]) =>
      execFileSync('git', ['-C', work, '-c', 'user.name=t', '-c', 'user.email=t@t.test', ...args]);
    run('init', '-q', '-b', 'main');
    for (const [path, text] of Object.entries(files)) writeFileSync(join(work, path), text);
    run('add', '-A');
    run('commit', '-q', '-m', 'change');
    ssh.push(work);
  }
  const deploy = () =>
    server.api('POST', '/api/apps/shop/deploy?wait=true', { git: { url: ssh.url, ref: 'main' } });
  const hosts = async () => (await server.api('GET', '/api/git/hosts')).body;
  const cloneFolders = () =>
    readdirSync(tmpdir()).filter((n) => n.startsWith(`twofold-git-${process.pid}-`));

  it('refuses an app without a key, which says how to get one', async () => {
    const refused = await deploy();
    expect([refused.status, refused.body.error]).toEqual([
      422,
      expect.stringContaining('POST /api/apps/:name/deploy-key'),
    ]);
    expect(await hosts()).toEqual({ hosts: [], total: 0 });
    expect((await server.api('GET', '/api/apps/shop/deploy-key')).status).toBe(404);
  });

  it('is cloned from with the key that was made, and its host key is pinned', async () => {
    const made = await server.api('POST', '/api/apps/shop/deploy-key');
    expect([made.status, made.body]).toEqual([
      201,
      {
        public_key: expect.stringMatching(/^ssh-ed25519 \S+ twofold-shop$/),
        fingerprint: expect.stringMatching(/^SHA256:\S{43}$/),
      },
    ]);
    expect((await server.api('GET', '/api/apps/shop/deploy-key')).body).toEqual(made.body);
    const early = await deploy();
    expect([early.status, early.body.error]).toEqual([
      422,
      expect.stringContaining('refuses the deploy key'),
    ]);
    ssh.allow(made.body.public_key);
    const done = await deploy();
    expect([done.status, done.body.error]).toEqual([200, undefined]);
    expect((await server.visit('shop.apps.test')).text).toBe('by ssh');
    expect(await hosts()).toEqual({
      hosts: [expect.objectContaining({ host, source: 'clone' })],
      total: 1,
    });
    const rows = await server.kernel.store.db.selectFrom('hosting_settings').selectAll().execute();
    const known = JSON.stringify([rows, (await server.api('GET', '/api/system/audit')).body]);
    expect(known).not.toContain('PRIVATE KEY');
    expect(cloneFolders()).toEqual([]);
  });

  it('with another host key is refused with both fingerprints, until a person sets it', async () => {
    const [pinned] = (await hosts()).hosts;
    const key = await ssh.exchangeHostKey();
    const changed = readPublicKey(key)?.fingerprint as string;
    const refused = await deploy();
    expect([refused.status, refused.body.error]).toEqual([422, expect.stringContaining(changed)]);
    expect(refused.body.error).toContain(pinned.fingerprint);
    expect((await hosts()).hosts).toEqual([pinned]);
    expect((await server.visit('shop.apps.test')).text).toBe('by ssh');

    const put = await server.api('PUT', `/api/git/hosts/${host}`, { public_key: key });
    expect(put.body).toMatchObject({ host, fingerprint: changed, source: 'api' });
    expect((await deploy()).status).toBe(200);

    // Without a pinned key, the next clone pins the one that it meets.
    expect((await server.api('DELETE', `/api/git/hosts/${host}`)).status).toBe(200);
    expect((await server.api('DELETE', `/api/git/hosts/${host}`)).status).toBe(404);
    expect((await deploy()).status).toBe(200);
    expect((await hosts()).hosts).toEqual([
      expect.objectContaining({ fingerprint: changed, source: 'clone' }),
    ]);
  });

  it('is cloned from with a key of its own, and not after that was deleted', async () => {
    const key = makeKey('brought', '-t', 'rsa', '-b', '2048');
    ssh.allow(key.public);
    const put = await server.api('PUT', '/api/apps/shop/deploy-key', { private_key: key.private });
    expect([put.status, put.body.fingerprint]).toEqual([200, key.fingerprint]);
    expect((await deploy()).status).toBe(200);
    const wrong = await server.api('PUT', '/api/apps/shop/deploy-key', { private_key: key.public });
    expect(wrong.status).toBe(400);
    expect((await server.api('DELETE', '/api/apps/shop/deploy-key')).status).toBe(200);
    expect((await deploy()).status).toBe(422);
    expect((await server.api('DELETE', '/api/apps/shop/deploy-key')).status).toBe(404);
  });

  it.each(['not a host', 'a/b', 'ssh:%2F%2Fgit.example.com', '-oProxyCommand=x'])(
    'is not named %s',
    async (name) => {
      const body = { public_key: makeKey(`host-${Math.random()}`, '-t', 'ed25519').public };
      const path = `/api/git/hosts/${name.replaceAll('/', '%2F')}`;
      expect((await server.api('PUT', path, body)).status).toBe(400);
    },
  );

  it('leaves no key behind when a server was killed in a clone', async () => {
    const pid = 999_999_999; // No process can have this id.
    const left = join(tmpdir(), `twofold-git-${pid}-killed`);
    mkdirSync(join(left, 'ssh'), { recursive: true });
    writeFileSync(join(left, 'ssh', 'key'), 'a private key', { mode: 0o600 });
    const next = await startServer({ socket: '/nonexistent.sock' });
    expect(existsSync(left)).toBe(false);
    await next.end();
  });
});
