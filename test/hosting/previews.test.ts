import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  inheritedSpec,
  parsePreviewKey,
  previewName,
} from '../../runtime/hosting/records/previews.ts';
import { createPreviews } from '../../runtime/hosting/previews/previews.ts';
import { readPush } from '../../runtime/hosting/previews/webhooks.ts';
import { describeWith, engines } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { type SshServer, startSshServer } from '../engines/ssh-server.ts';
import {
  type Delivery,
  fromGitea,
  fromGitHub,
  fromGitLab,
  type Told,
} from './pull-request-bodies.ts';
import { startServer, type TestServer } from './server.ts';

const COMMIT = 'ec26c3e57ca3a959ca5aad62de7213c562f8c821';
const HOSTS = { GitHub: fromGitHub, Gitea: fromGitea, GitLab: fromGitLab };
type Sender = (typeof HOSTS)[keyof typeof HOSTS];

describe.each(Object.entries(HOSTS))('a pull request of %s', (_name, from) => {
  const read = (told: Partial<Told>) => {
    const { body, headers } = from(
      { action: 'opened', number: 7, commit: COMMIT, ...told },
      'secret',
    );
    return readPush({ body: Buffer.from(body), headers });
  };

  it('is read', () => {
    expect(read({})).toEqual({
      ...{ kind: 'pull_request', action: 'open', number: 7, commit: COMMIT },
      ...{ branch: 'change', fork: false, at: Date.UTC(2026, 2, 1, 12) },
    });
  });

  it.each([
    ['opened', 'open'],
    ['synchronize', 'open'],
    ['reopened', 'open'],
    ['closed', 'close'],
    ['labeled', 'other'],
  ] as const)('that was %s is to %s', (action, means) => {
    expect(read({ action })).toMatchObject({ action: means });
  });

  it('is from a fork if its repository is another one, or gone', () => {
    expect(read({ fork: true })).toMatchObject({ fork: true });
    expect(read({ gone: true })).toMatchObject({ fork: true });
  });

  it('without a commit or a number is refused', () => {
    for (const wrong of [{ commit: '' }, { commit: '--upload-pack=x' }, { number: 0 }])
      expect(() => read(wrong)).toThrow('number and commit');
    expect(() => read({ number: 'x' as never })).toThrow('number and commit');
  });
});

describe('the name of a preview', () => {
  it('is a label of its domain, whatever the name of its app', () => {
    expect(previewName('shop', '7')).toBe('shop-pr-7');
    // What is given comes back, and means the same preview.
    expect(parsePreviewKey('pr-7')).toBe('pr-7');
    expect(previewName('shop', 'pr-7')).toBe('shop-pr-7');
    const long = [previewName('a'.repeat(63), '7'), previewName('a'.repeat(63), '8')];
    expect(long.map((name) => /^[a-z][a-z0-9-]{0,62}$/.test(name))).toEqual([true, true]);
    expect(new Set(long).size).toBe(2);
  });

  it.each(['', '-', 'a-', 'A', 'a b', 'a/b', 'a'.repeat(41), '../x'])(
    'is not made of %j',
    (key) => {
      expect(() => parsePreviewKey(key)).toThrow('key must have');
    },
  );
});

describe('what a preview takes over', () => {
  const spec = {
    ...{ domain: 'shop.test', aliases: ['a.test'], image: 'shop:1', port: 3000, replicas: 3 },
    ...{ volumes: [{ name: 'data', path: '/data' }], cron: [{ name: 'nightly' }] },
    ...{ ports: [{ port: 5432, target: 5432 }], processes: [{ name: 'worker' }], backup: {} },
    ...{ release: ['migrate'], build: { target: 'web' }, http: { allow: ['10.0.0.0/8'] } },
    ...{ project: 'shop', networks: ['back'], previews: { enabled: true }, composed: 'x' },
    ...{ a_field_of_tomorrow: true },
  } as never;
  const shown = { release: ['migrate'], build: { target: 'web' }, http: { allow: ['10.0.0.0/8'] } };

  it('is how the app runs, and none of its data, addresses and schedules', () => {
    expect(inheritedSpec(spec, { fork: false })).toEqual({
      ...{ port: 3000, ...shown },
      ...{ project: 'shop', networks: ['back'] },
    });
  });

  it('is not the network of its project, if a stranger wrote it', () => {
    expect(inheritedSpec(spec, { fork: true })).toEqual({ port: 3000, ...shown });
  });
});

describe('a preview by hand of an app in a project', () => {
  const shop = { id: 'a', name: 'shop', env: {}, secrets: {}, spec: { project: 'shop' } };
  const spec = {
    ...{ project: 'shop', networks: ['back'], image: 'shop:1' },
    preview: { of: 'shop', app_id: 'a', key: '7', ref: null, expires_at: '2099-01-01T00:00:00Z' },
  };
  const known = { id: 'b', name: 'shop-pr-7', spec };
  const core = {
    now: Date.now,
    model: { previews: { limit: 5, expire: 1000 } },
    apps: {
      all: () => [shop, known],
      byId: (id: string) => [shop, known].find((each) => each.id === id),
      update: async (id: string, changes: object) => ({ ...known, id, ...changes }),
    },
  };
  const previews = createPreviews(core as never, {} as never);
  const prepared = async (fork: boolean) =>
    (await previews.prepare(shop as never, { key: '7', ref: 'x', fork }))?.spec;

  it('leaves the network of the project when a fork takes its number', async () => {
    expect(await prepared(false)).toMatchObject({ project: 'shop', networks: [] });
    expect(await prepared(true)).toMatchObject({ project: null, networks: [], image: 'shop:1' });
  });
});

describeWith('docker', 'previews', () => {
  const { socket } = engines.find(({ kind }) => kind === 'docker') ?? { socket: '' };
  const folder = mkdtempSync(join(tmpdir(), 'tf-previews-'));
  const work = join(folder, 'work');
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-C', work, '-c', 'user.name=t', '-c', 'user.email=t@example.test', ...args],
      { encoding: 'utf8' },
    ).trim();
  let image: string;
  let ssh: SshServer;
  let server: TestServer;
  let secret: string;

  const commit = (page: string) => {
    writeFileSync(join(work, 'index.html'), page);
    git('add', '-A');
    git('commit', '-q', '-m', page);
    ssh.push(work);
    return git('rev-parse', 'HEAD');
  };
  const send = async ({ body, headers }: Delivery) =>
    server.api('POST', '/api/webhooks/shop', Buffer.from(body), {
      ...{ 'content-type': 'application/json', authorization: '' },
      ...headers,
    });
  const pull = (from: Sender, told: Omit<Told, 'at'> & { at?: string }) => send(from(told, secret));
  const app = async (name: string) => (await server.api('GET', `/api/apps/${name}`)).body;
  const previews = async () => (await server.api('GET', '/api/apps/shop/previews')).body.previews;
  const patch = (fields: object) => server.api('PATCH', '/api/apps/shop', { previews: fields });
  const byHand = (body: object) => server.api('POST', '/api/apps/shop/previews', body);
  /** Waits for at most two minutes: a build takes long on a busy machine. */
  const until = async (what: string, isTrue: () => Promise<boolean>) => {
    for (const end = Date.now() + 120_000; Date.now() < end;) {
      if (await isTrue()) return;
      await sleep(200);
    }
    throw new Error(`it did not become true: ${what}`);
  };
  const shows = (name: string, page: string) =>
    until(
      `${name} shows ${page}`,
      async () => (await server.visit(`${name}.apps.test`)).text === page,
    );
  const isGone = (name: string) =>
    until(
      `${name} is gone`,
      async () => (await server.api('GET', `/api/apps/${name}`)).status === 404,
    );

  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    ssh = await startSshServer();
    execFileSync('git', ['init', '-q', '-b', 'main', work]);
    writeFileSync(join(work, 'Dockerfile'), `FROM ${image}\nCOPY index.html /www/\n`);
    commit('main');
    const model = { git: { allowHttp: false, allowPrivate: true } };
    server = await startServer({
      socket,
      model: { ...model, previews: { limit: 2, expire: 72 * 3_600_000 } },
    });
    const env = { GREETING: 'hello', COLOUR: 'red' };
    const volumes = [{ name: 'data', path: '/data' }];
    await server.api('POST', '/api/apps', { name: 'shop', port: 8080, env, volumes });
    for (const key of ['API_KEY', 'DATABASE_URL'])
      await server.api('PUT', `/api/apps/shop/secrets/${key}`, { value: `value-of-${key}` });
    const { public_key } = (await server.api('POST', '/api/apps/shop/deploy-key')).body;
    ssh.allow(public_key);
    const main = { git: { url: ssh.url, ref: 'main' } };
    const deployed = await server.api('POST', '/api/apps/shop/deploy?wait=true', main);
    expect([deployed.status, deployed.body.error]).toEqual([200, undefined]);
    secret = (await server.api('PUT', '/api/apps/shop/webhook')).body.secret;
  });
  afterAll(async () => {
    await server?.end();
    await ssh?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are not made until the app says so, nor from a body that is not signed', async () => {
    const told = { action: 'opened', number: 7, commit: git('rev-parse', 'HEAD') } as const;
    expect((await pull(fromGitHub, told)).body).toEqual({ status: 'ignored' });
    expect((await send(fromGitHub(told, 'another secret'))).status).toBe(401);
    expect(await previews()).toEqual([]);
  });

  it.each(Object.entries(HOSTS))(
    'follow a pull request of %s from its opening to its end',
    async (name, from) => {
      await patch({ enabled: true, env: { COLOUR: 'blue' }, secrets: ['API_KEY', 'NONE'] });
      const opened = commit(`${name} opened`);
      const told = { number: 7, branch: 'change', commit: opened, action: 'opened' } as const;
      const made = await pull(from, { ...told, at: '2026-03-01T12:00:00Z' });
      expect([made.status, made.body]).toEqual([
        202,
        { status: 'deploying', deployment: 1, app: 'shop-pr-7' },
      ]);
      await shows('shop-pr-7', `${name} opened`);
      const preview = await app('shop-pr-7');
      expect(preview).toMatchObject({
        domain: 'shop-pr-7.apps.test',
        env: { GREETING: 'hello', COLOUR: 'blue', API_KEY: '********' },
        volumes: [],
        preview: { of: 'shop', key: '7', ref: 'change' },
      });
      expect(Object.keys(preview.env)).not.toContain('DATABASE_URL');
      const days = (Date.parse(preview.preview.expires_at) - Date.now()) / 86_400_000;
      expect(Math.round(days)).toBe(3);

      const closed = await pull(from, { ...told, action: 'closed', at: '2026-03-01T14:00:00Z' });
      expect([closed.status, closed.body]).toEqual([202, { status: 'removing', app: 'shop-pr-7' }]);
      await isGone('shop-pr-7');
      const again = await pull(from, { ...told, action: 'closed', at: '2026-03-01T14:00:01Z' });
      expect(again.body).toEqual({ status: 'ignored' });
      const { entries } = (await server.api('GET', '/api/system/audit?target=shop-pr-7')).body;
      expect(entries.slice(0, 2).map((entry: any) => entry.detail.action)).toEqual([
        ...['close', 'open'],
      ]);
    },
  );

  it('show the last push, also when deliveries arrive in another order', async () => {
    await patch({ enabled: true });
    const told = { number: 9, branch: 'change', action: 'opened' } as const;
    const opened = { ...told, commit: commit('opened'), at: '2026-03-01T12:00:00Z' };
    expect((await pull(fromGitHub, opened)).status).toBe(202);
    const push = { ...told, commit: commit('pushed'), action: 'synchronize' } as const;
    // The first build still runs: the commit waits for its end.
    expect((await pull(fromGitHub, { ...push, at: '2026-03-01T13:00:00Z' })).status).toBe(202);
    await shows('shop-pr-9', 'pushed');
    const late = { ...opened, action: 'reopened', at: '2026-03-01T12:30:00Z' } as const;
    expect((await pull(fromGitHub, late)).body).toEqual({ status: 'ignored' });
    expect((await pull(fromGitHub, { ...push, action: 'labeled' })).body).toEqual({
      status: 'ignored',
    });
    expect((await previews()).map((each: any) => each.name)).toEqual(['shop-pr-9']);
    expect((await server.visit('shop.apps.test')).text).toBe('main');
    // Reopened while the closed one is being removed, it is a new app.
    const { id } = await app('shop-pr-9');
    const closed = await pull(fromGitHub, {
      ...push,
      action: 'closed',
      at: '2026-03-01T14:00:00Z',
    });
    const again = { ...push, action: 'reopened', at: '2026-03-01T15:00:00Z' } as const;
    const reopened = await pull(fromGitHub, again);
    expect([closed.status, reopened.status]).toEqual([202, 202]);
    expect((await app('shop-pr-9')).id).not.toBe(id);
    expect((await server.api('DELETE', '/api/apps/shop/previews/9')).status).toBe(200);
  });

  it('of forks are made only if the app says so', async () => {
    const told = {
      number: 8,
      commit: git('rev-parse', 'HEAD'),
      action: 'opened',
      fork: true,
    } as const;
    await patch({ enabled: true, forks: false });
    for (const from of Object.values(HOSTS))
      expect((await pull(from, told)).body).toEqual({ status: 'ignored' });
    await patch({ forks: true });
    expect((await pull(fromGitHub, { ...told, action: 'reopened' })).status).toBe(202);
    await until('it runs', async () => (await app('shop-pr-8')).status === 'running');
    expect((await server.api('DELETE', '/api/apps/shop/previews/8')).status).toBe(200);
    expect((await server.api('DELETE', '/api/apps/shop/previews/8')).status).toBe(404);
    await patch({ forks: false });
  });

  it('by hand are made and updated from an image, and from git', async () => {
    const made = await byHand({ key: 'blue', image });
    expect([made.status, made.body.name, made.body.status]).toEqual([
      201,
      'shop-pr-blue',
      'running',
    ]);
    expect(made.body.preview).toMatchObject({ of: 'shop', key: 'blue', ref: null });
    const branch = { url: ssh.url, ref: 'main' };
    const again = await byHand({ key: 'blue', git: branch, expires_in: '1h' });
    expect([again.status, again.body.id]).toEqual([202, made.body.id]);
    expect(again.body.preview).toMatchObject({ ref: 'main' });
    expect(Date.parse(again.body.preview.expires_at)).toBeLessThan(Date.now() + 3_700_000);
    await shows('shop-pr-blue', git('log', '-1', '--format=%s'));
    expect((await server.api('DELETE', '/api/apps/shop/previews/pr-blue')).status).toBe(200);
    expect(await previews()).toEqual([]);
  });

  it('are refused when they would be something else', async () => {
    for (const body of [
      { key: 'a' },
      { key: 'a b', image },
      { key: 'a', image, git: { url: ssh.url } },
    ])
      expect((await byHand(body)).status).toBe(400);
    expect((await byHand({ key: 'a', image: '127.0.0.1:1/none:1' })).status).toBe(422);
    expect((await server.api('GET', '/api/apps/shop-pr-a')).status).toBe(404);
    await server.api('POST', '/api/apps', { name: 'shop-pr-mine' });
    expect((await byHand({ key: 'mine', image })).status).toBe(409);
    await server.api('DELETE', '/api/apps/shop-pr-mine');
    for (const fields of [
      { enabled: 1 },
      { expire: '3 days' },
      { env: { '1': 'x' } },
      { color: 1 },
    ])
      expect((await patch(fields)).status).toBe(400);
  });

  it('above the limit end with the oldest, and each at its time', async () => {
    for (const key of ['one', 'two', 'three'])
      expect(
        (await byHand({ key, image, ...(key === 'two' && { expires_in: '1s' }) })).status,
      ).toBe(201);
    await isGone('shop-pr-one');
    await isGone('shop-pr-two');
    expect((await previews()).map(({ name }: any) => name)).toEqual(['shop-pr-three']);
    const of = await server.api('POST', '/api/apps/shop-pr-three/previews', { key: 'x', image });
    expect(of.status).toBe(409);
  });

  it('end with their app', async () => {
    expect((await previews()).length).toBe(1);
    await server.api('DELETE', '/api/apps/shop?volumes=true');
    await isGone('shop-pr-three');
  });
});
