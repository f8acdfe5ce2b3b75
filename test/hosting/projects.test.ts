import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { runningContainerOf } from './containers-of.ts';
import { importImage } from '../engines/import-image.ts';
import { holdPacketRules } from '../engines/packet-rules.ts';
import { startServer, type TestServer } from './server.ts';

describeEachEngine('a project', ({ socket }) => {
  let server: TestServer;
  let web: string;
  // From the first network on, until the tests of what is closed have ended.
  let giveBack: (() => void) | undefined;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    giveBack = await holdPacketRules();
    server = await startServer({ socket });
  }, 300_000);
  afterAll(async () => {
    giveBack?.();
    await server?.end();
  }, 60_000);

  const create = async (name: string, more: object = {}) => {
    const made = await server.api('POST', '/api/apps', { name, image: web, ...more });
    expect([name, made.status, made.body.error]).toEqual([name, 201, undefined]);
    return made.body;
  };
  const run = async (app: string, ...command: string[]) =>
    (await server.api('POST', `/api/apps/${app}/exec`, { command, timeout_s: 20 })).body;
  const get = (app: string, host: string, port = 8080) =>
    run(app, 'timeout', '3', 'wget', '-q', '-O', '-', `http://${host}:${port}/`);
  const addressesOf = async (app: string): Promise<string[]> => {
    const { NetworkSettings } = await runningContainerOf(server, socket, app);
    return Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress);
  };
  const networks = async () =>
    (await engineJson<{ Name: string }[]>(socket, { path: '/networks' })).map(({ Name }) => Name);

  it('its apps reach each other by name and by short name, other apps do not reach them', async () => {
    await create('shop-db', { project: 'shop' });
    await create('shop-web', { project: 'shop' });
    await create('stranger');
    await create('other-web', { project: 'other' });
    for (const host of ['shop-db', 'db', 'web'])
      expect([host, await get('shop-web', host)]).toMatchObject([host, { stdout: 'version 1\n' }]);
    const [address] = await addressesOf('shop-db');
    expect((await get('shop-web', address!)).stdout).toBe('version 1\n');
    for (const app of ['stranger', 'other-web'])
      for (const host of ['shop-db', 'db', address!]) {
        const { exit_code } = await get(app, host);
        expect([app, host, exit_code]).not.toEqual([app, host, 0]);
      }
    expect((await get('shop-web', 'stranger')).exit_code).not.toBe(0);
    expect((await server.visit('shop-web.apps.test')).text).toBe('version 1\n');
  }, 90_000);

  it('stays closed when another program has asked the engine for its networks', async () => {
    await create('late-db', { project: 'late' });
    await create('outsider');
    const again = (action: string) =>
      Promise.all(
        ['late-db', 'outsider'].map((name) => server.api('POST', `/api/apps/${name}/${action}`)),
      );
    await again('stop');
    // Podman forgets by this that its networks are closed to each other.
    await networks();
    await again('start');
    const [address] = await addressesOf('late-db');
    expect((await get('late-db', address!)).stdout).toBe('version 1\n');
    expect((await get('outsider', address!)).exit_code).not.toBe(0);
    expect(await networks()).not.toContain('twofold-read-again');
    await server.api('DELETE', '/api/projects/late');
    await server.api('DELETE', '/api/apps/outsider');
    giveBack?.();
  }, 60_000);

  it('is listed with its apps, and deleted with them and its network', async () => {
    const list = (await server.api('GET', '/api/projects')).body;
    const names = (project: { apps: { name: string }[] }) => project.apps.map(({ name }) => name);
    expect(list.total).toBe(2);
    expect(list.projects.map((each: any) => [each.name, names(each)])).toEqual([
      ['other', ['other-web']],
      ['shop', ['shop-db', 'shop-web']],
    ]);
    const one = await server.api('GET', '/api/projects/shop');
    expect([one.body.name, names(one.body)]).toEqual(['shop', ['shop-db', 'shop-web']]);
    expect((await networks()).filter((name) => name.endsWith('.shop')).length).toBe(1);
    expect((await server.api('DELETE', '/api/projects/shop')).status).toBe(200);
    expect((await networks()).filter((name) => name.endsWith('.shop'))).toEqual([]);
    expect((await server.api('GET', '/api/projects/shop')).status).toBe(404);
    expect((await server.api('DELETE', '/api/projects/shop')).status).toBe(404);
    expect((await server.api('GET', '/api/apps/stranger')).status).toBe(200);
    for (const name of ['stranger', 'other-web']) await server.api('DELETE', `/api/apps/${name}`);
  }, 60_000);

  it('its apps share a volume, which is there until the last of them is deleted with it', async () => {
    const volumes = [{ name: 'data', path: '/data', shared: true }];
    await create('twin-a', { project: 'twin', volumes });
    await create('twin-b', { project: 'twin', volumes });
    await run('twin-a', 'sh', '-c', 'echo kept > /data/note');
    expect((await run('twin-b', 'cat', '/data/note')).stdout).toBe('kept\n');
    expect((await server.api('DELETE', '/api/apps/twin-a?volumes=true')).status).toBe(200);
    expect((await run('twin-b', 'cat', '/data/note')).stdout).toBe('kept\n');
    const find = async () =>
      (
        await engineJson<{ Volumes: { Name: string }[] | null }>(socket, { path: '/volumes' })
      ).Volumes?.filter(({ Name }) => Name.endsWith('.twin.data')).length ?? 0;
    expect(await find()).toBe(1);
    await server.api('DELETE', '/api/projects/twin?volumes=true');
    expect(await find()).toBe(0);
  }, 60_000);

  it('its apps may all be new at the same moment: they share one network', async () => {
    const mark = `n${randomBytes(4).toString('hex')}`;
    const ours = async () => (await networks()).filter((name) => name.includes(mark)).toSorted();
    const rush = Array.from({ length: 12 }, (_, index) => `${mark}-${index}`);
    await Promise.all(rush.map((name) => create(name, { project: mark })));
    for (const project of [`${mark}1`, `${mark}2`])
      await Promise.all(['a', 'b'].map((name) => create(`${project}-${name}`, { project })));
    const services = ['a', 'b', 'c'].map((name) => `  ${name}: { image: '${web}' }`);
    const composed = await server.api('POST', `/api/projects/${mark}3/compose`, {
      compose: `services:\n${services.join('\n')}\n`,
    });
    expect([composed.status, composed.body.error]).toEqual([200, undefined]);
    expect((await ours()).map((name) => name.split('.')[1])).toEqual(
      [mark].concat(['1', '2', '3'].map((each) => `${mark}${each}`)),
    );
    expect((await get(`${mark}-0`, `${mark}-11`)).stdout).toBe('version 1\n');
    expect((await get(`${mark}2-a`, 'b')).stdout).toBe('version 1\n');
    await server.clear();
    expect(await ours()).toEqual([]);
  });

  it('a container starts as its app says, with its files', async () => {
    const content = Buffer.from([0, 255, 10, 7]).toString('base64');
    const made = await create('strict', {
      ...{ entrypoint: ['sh', '-c'], command: ['/bin/serve'], user: '1000:1000' },
      ...{ working_dir: '/www', init: false, stop_grace_period: 3 },
      files: [
        { path: '/etc/app/key', content, encoding: 'base64' },
        {
          path: '/bin/serve',
          content: '#!/bin/sh\nexec httpd -f -p $PORT -h /www\n',
          executable: true,
        },
      ],
    });
    expect(made.files).toEqual([
      {
        path: '/etc/app/key',
        bytes: 4,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        executable: false,
      },
      { path: '/bin/serve', bytes: 41, sha256: expect.any(String), executable: true },
    ]);
    expect(made).toMatchObject({ user: '1000:1000', working_dir: '/www', stop_grace_period: 3 });
    expect((await run('strict', 'sh', '-c', 'id -u; pwd; od -An -tx1 /etc/app/key')).stdout).toBe(
      '1000\n/www\n 00 ff 0a 07\n',
    );
    const written = await run('strict', 'sh', '-c', 'echo x > /etc/app/key');
    expect(written.exit_code).not.toBe(0);
    expect((await run('strict', 'cat', '/proc/1/comm')).stdout).toBe('httpd\n');
    const changed = { files: [{ path: '/etc/app/key', content: 'new' }], entrypoint: null };
    await server.api('PATCH', '/api/apps/strict?apply=true', {
      ...changed,
      command: null,
      user: null,
    });
    expect((await run('strict', 'cat', '/etc/app/key')).stdout).toBe('new');
  }, 60_000);
});

describe('the fields of a project and of a container', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ socket: '/nowhere' });
  }, 30_000);
  afterAll(() => server.end());

  it('are refused when they are wrong, and nothing is made', async () => {
    const file = { path: '/etc/key', content: 'x' };
    const wrong: readonly object[] = [
      { project: 'Shop' },
      { project: '' },
      { entrypoint: [] },
      { entrypoint: 'sh' },
      { user: 'a b' },
      { working_dir: 'www' },
      { stop_grace_period: -1 },
      { init: 'yes' },
      { files: [{ ...file, path: 'etc/key' }] },
      { files: [{ ...file, path: '/etc/../key' }] },
      { files: [{ ...file, path: '/proc/key' }] },
      { files: [{ ...file, path: '/etc//key' }] },
      { files: [file, file] },
      { files: [{ ...file, more: 1 }] },
      { files: [{ ...file, content: 'x'.repeat(1024 * 1024 + 1) }] },
      { volumes: [{ name: 'data', path: '/data', shared: true }] },
      { volumes: [{ name: 'data', path: '/data', external: true }] },
      { networks: ['a'] },
    ];
    for (const fields of wrong) {
      const { status } = await server.api('POST', '/api/apps', { name: 'x', ...fields });
      expect([JSON.stringify(fields).slice(0, 60), status]).toEqual([expect.any(String), 400]);
    }
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
  });

  it('files are sealed in the database, and never read back', async () => {
    const files = [{ path: '/etc/key', content: 'a very secret key' }];
    const made = await server.api('POST', '/api/apps', { name: 'x', files, project: 'shop' });
    expect([made.status, made.body.project]).toEqual([201, 'shop']);
    const rows = await server.kernel.store.db.selectFrom('hosting_apps').selectAll().execute();
    const stored = JSON.stringify([made.body, rows]);
    expect(stored).not.toMatch(/very secret|YSB2ZXJ5/);
    const freed = await server.api('PATCH', '/api/apps/x', { project: null });
    expect(freed.body.project).toBeNull();
    expect(freed.body.files.length).toBe(1);
  });
});
