import { once } from 'node:events';
import { writeFileSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createDatabase, describeEachEngine, postgresUrl } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { engineJson } from '../engines/call-engine.ts';
import { startServer, token, type TestServer } from './server.ts';

describeEachEngine('settings of an app', ({ socket }) => {
  let server: TestServer;
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());
  const envOf = async (name: string) =>
    (await server.api('POST', `/api/apps/${name}/exec`, { command: ['env'] })).body
      .stdout as string;

  it('come into the container with the next deploy, or at once', async () => {
    await server.api('POST', '/api/apps', { name: 'env', image: web, env: { A: '1', B: '2' } });
    expect(await envOf('env')).toMatch(/^A=1$/m);
    expect(await envOf('env')).toMatch(/^B=2$/m);
    expect((await server.api('PUT', '/api/apps/env/env', { A: '3' })).body.env).toEqual({ A: '3' });
    expect(await envOf('env')).toMatch(/^A=1$/m);
    await server.api('POST', '/api/apps/env/deploy', {});
    expect(await envOf('env')).toMatch(/^A=3$/m);
    expect(await envOf('env')).not.toMatch(/^B=/m);
    const patched = await server.api('PATCH', '/api/apps/env?apply=true', {
      env: { A: '4' },
      resources: { memory_mb: 64 },
      replicas: 2,
      aliases: ['www.example.test'],
    });
    expect(patched.body).toMatchObject({
      env: { A: '4' },
      resources: { memory_mb: 64, cpus: 1, pids: 256 },
      replicas: 2,
      deployment: 3,
    });
    expect(await envOf('env')).toMatch(/^A=4$/m);
    expect((await server.visit('www.example.test')).status).toBe(200);
    const stats = (await server.api('GET', '/api/apps/env/stats')).body;
    expect(stats.replicas.map(({ memory_limit_bytes }: any) => memory_limit_bytes)).toEqual([
      64 * 2 ** 20,
      64 * 2 ** 20,
    ]);
    await server.api('DELETE', '/api/apps/env');
  });

  it('that are secret are given to the app and never shown', async () => {
    await server.api('POST', '/api/apps', { name: 'vault', image: web });
    const answer = await server.api('PUT', '/api/apps/vault/secrets/API_KEY', {
      value: 'hunter2-hunter2',
    });
    expect(answer.body.env).toEqual({ API_KEY: '********' });
    await server.api('POST', '/api/apps/vault/deploy', {});
    expect(await envOf('vault')).toMatch(/^API_KEY=hunter2-hunter2$/m);
    // A set that was read and written back leaves it as it is.
    await server.api('PUT', '/api/apps/vault/env', {
      X: '1',
      ...(await server.api('GET', '/api/apps/vault')).body.env,
    });
    await server.api('POST', '/api/apps/vault/deploy', {});
    expect(await envOf('vault')).toMatch(/^API_KEY=hunter2-hunter2$/m);
    for (const path of [
      '/api/apps',
      '/api/apps/vault',
      '/api/system/audit',
      '/api/apps/vault/deployments',
    ])
      expect(JSON.stringify((await server.api('GET', path)).body)).not.toContain('hunter2');
    for (const row of await server.kernel.store.db.selectFrom('hosting_apps').selectAll().execute())
      expect(JSON.stringify(row)).not.toContain('hunter2');
    expect((await server.api('DELETE', '/api/apps/vault/secrets/API_KEY')).body.env).toEqual({
      X: '1',
    });
    expect((await server.api('DELETE', '/api/apps/vault/secrets/API_KEY')).status).toBe(404);
    expect(
      (await server.api('PUT', '/api/apps/vault/secrets/bad-key', { value: 'x' })).status,
    ).toBe(400);
    await server.api('DELETE', '/api/apps/vault');
  });

  it('that are wrong are refused, by name, and nothing is made', async () => {
    const refused: [Record<string, unknown>, RegExp][] = [
      [{}, /name is required/],
      [{ name: 'Shop' }, /name/],
      [{ name: '../x' }, /name/],
      [{ name: 'api' }, /reserved/],
      [{ name: 'x', colour: 'red' }, /colour is not a known field/],
      [{ name: 'x', port: '80' }, /port must be integer/],
      [{ name: 'x', port: 70_000 }, /port/],
      [{ name: 'x', image: 'a b' }, /image/],
      [{ name: 'x', image: '--privileged' }, /image/],
      [{ name: 'x', domain: 'not a domain' }, /domain/],
      [{ name: 'x', domain: '127.0.0.1' }, /domain/],
      [{ name: 'x', env: { '1A': 'x' } }, /env/],
      [{ name: 'x', env: { A: { b: 1 } } }, /env/],
      [{ name: 'x', volumes: [{ name: 'a', path: '/../etc' }] }, /volumes/],
      [{ name: 'x', volumes: [{ name: '../a', path: '/data' }] }, /volumes/],
      [{ name: 'x', volumes: [{ name: 'a', path: '/data' }], replicas: 2 }, /replicas must be 1/],
      [{ name: 'x', replicas: 0 }, /replicas/],
      [{ name: 'x', aliases: ['x.apps.test'] }, /aliases/],
      [{ name: 'x', resources: { memory_mb: 1 } }, /memory/],
      [{ name: 'x', health: { path: 'no-slash' } }, /health/],
    ];
    for (const [body, message] of refused) {
      const answer = await server.api('POST', '/api/apps', body);
      expect([body, answer.status]).toEqual([body, 400]);
      expect(answer.body.error).toMatch(message);
    }
    expect((await server.api('GET', '/api/apps')).body.total).toBe(0);
    expect(
      (await server.api('POST', '/api/apps', undefined, { 'content-type': 'application/json' }))
        .status,
    ).toBe(400);
  });

  it('an image that is not there fails with a reason', async () => {
    const answer = await server.api('POST', '/api/apps', {
      name: 'ghost',
      image: 'localhost/no-such-image:1',
    });
    expect(answer).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('no-such-image') },
    });
    expect((await server.api('GET', '/api/apps/ghost')).status).toBe(404);
  });

  it('lists are paged, filtered and searched', async () => {
    for (const name of ['list-a', 'list-b', 'list-c', 'other'])
      await server.api('POST', '/api/apps', { name });
    const names = async (query: string) => (await server.api('GET', `/api/apps?${query}`)).body;
    const first = await names('limit=2');
    expect([first.apps.map(({ name }: any) => name), first.total]).toEqual([
      ['list-a', 'list-b'],
      4,
    ]);
    expect(
      (await names(`limit=2&cursor=${first.next_cursor}`)).apps.map(({ name }: any) => name),
    ).toEqual(['list-c', 'other']);
    expect((await names('q=list')).total).toBe(3);
    expect((await names('status=running')).total).toBe(0);
    expect((await server.api('GET', '/api/apps?status=happy')).status).toBe(400);
    for (const name of ['list-a', 'list-b', 'list-c', 'other'])
      await server.api('DELETE', `/api/apps/${name}`);
  });

  it('templates are listed openly, and make an app with secrets of its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tf-templates-'));
    mkdirSync(join(folder, 'templates'));
    writeFileSync(
      join(folder, 'templates', 'mine.yaml'),
      `name: Mine\nimage: ${web}\nport: 8080\nvolumes: [{ name: data, path: /data }]\nenv:\n  - { key: TOKEN, generate: 24 }\n  - { key: URL, default: "{{url}}" }\n  - { key: OWNER, required: true, description: who owns it }\n`,
    );
    const own = await startServer({ socket, folder });
    const { body } = await own.api('GET', '/api/templates', undefined, { authorization: '' });
    expect(body.total).toBe(body.templates.length);
    expect(body.total).toBeGreaterThan(30);
    for (const { image } of body.templates) expect(image).toMatch(/:(?!latest$)[^:/]+$/);
    expect(body.templates.find(({ id }: any) => id === 'postgres')).toMatchObject({
      port: 5432,
      category: 'database',
      env: expect.arrayContaining([
        expect.objectContaining({ key: 'POSTGRES_PASSWORD', secret: true }),
      ]),
    });
    expect(
      (await own.api('POST', '/api/templates/mine/deploy', { name: 'inst' })).body.error,
    ).toMatch(/OWNER is required/);
    expect((await own.api('POST', '/api/templates/none/deploy', { name: 'inst' })).status).toBe(
      404,
    );
    const made = await own.api('POST', '/api/templates/mine/deploy', {
      name: 'inst',
      env: { OWNER: 'me', EXTRA: '1' },
    });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      status: 'running',
      env: { OWNER: 'me', EXTRA: '1', TOKEN: '********', URL: made.body.url },
      source: { kind: 'template', template: 'mine' },
    });
    const inside = (await own.api('POST', '/api/apps/inst/exec', { command: ['env'] })).body.stdout;
    // What was made up is told once, to who made the app.
    const [, value] = /^TOKEN=([A-Za-z0-9]{24})$/m.exec(inside) ?? [];
    expect(made.body.generated).toEqual({ TOKEN: value });
    for (const path of [
      '/api/apps/inst',
      '/api/apps',
      '/api/apps/inst/deployments',
      '/api/system/audit',
    ])
      expect(JSON.stringify((await own.api('GET', path)).body)).not.toMatch(
        new RegExp(`generated|${value}`),
      );
    await own.end();
  });

  let tries = 0;
  it('each change is in the audit log, and told as an event', async () => {
    const events: string[] = [];
    const listening = request(
      `${server.url}/api/events`,
      { headers: { authorization: `Bearer ${token}` }, agent: false },
      (answer) =>
        void answer
          .setEncoding('utf8')
          .on('data', (text) => events.push(text))
          .on('error', () => {}),
    );
    await once(listening.on('error', () => {}).end(), 'response');
    const name = `seen-${(tries += 1)}`;
    await server.api('POST', '/api/apps', {
      name,
      image: web,
      env: { SECRETISH: 'value-not-logged' },
    });
    await server.api('POST', `/api/apps/${name}/stop`);
    await server.api('DELETE', `/api/apps/${name}`);
    await expect
      .poll(() => events.join(''))
      .toMatch(
        new RegExp(
          `event: app\\ndata: \\{"app":"${name}","status":"running"[^]*"status":"stopped"[^]*event: removed\\ndata: \\{"app":"${name}"\\}`,
        ),
      );
    expect(events.join('')).toContain(
      `event: deployment\ndata: {"app":"${name}","number":1,"status":"healthy"}`,
    );
    listening.destroy();
    const { entries } = (await server.api('GET', `/api/system/audit?app=${name}`)).body;
    expect(entries.map(({ action, actor, target }: any) => [action, actor, target])).toEqual([
      ['deleteApp', 'host', name],
      ['stopApp', 'host', name],
      ['createApp', 'host', name],
    ]);
    expect(entries[0].ip).toBe('127.0.0.1');
    expect(JSON.stringify(entries)).not.toContain('value-not-logged');
  });

  it('volumes outlive an app unless it is asked for', async () => {
    const volume = { volumes: [{ name: 'data', path: '/data' }] };
    const read = async () =>
      (await server.api('POST', '/api/apps/store/exec', { command: ['cat', '/data/x'] })).body
        .stdout;
    await server.api('POST', '/api/apps', { name: 'store', image: web, ...volume });
    await server.api('POST', '/api/apps/store/exec', {
      command: ['sh', '-c', 'echo old > /data/x'],
    });
    await server.api('DELETE', '/api/apps/store');
    await server.api('POST', '/api/apps', { name: 'store', image: web, ...volume });
    expect(await read()).toBe('old\n');
    await server.api('DELETE', '/api/apps/store?volumes=true');
    await server.api('POST', '/api/apps', { name: 'store', image: web, ...volume });
    expect(await read()).toBe('');
    await server.api('DELETE', '/api/apps/store?volumes=true');
  });

  it('only the last deployments keep their images', async () => {
    const small = await startServer({
      socket,
      model: { deploys: { keep: 2, readyTimeout: 20_000, drain: 1000 } },
    });
    await small.api('POST', '/api/apps', { name: 'keep', image: web });
    for (let turn = 0; turn < 3; turn += 1) await small.api('POST', '/api/apps/keep/deploy', {});
    const instance = (
      await small.kernel.store.db
        .selectFrom('hosting_settings')
        .select('value')
        .where('key', '=', 'instance')
        .executeTakeFirstOrThrow()
    )['value'];
    const tags = async () => {
      const images = await engineJson<{ RepoTags: string[] | null }[]>(socket, {
        path: '/images/json',
      });
      return images
        .flatMap(({ RepoTags }) => RepoTags ?? [])
        .filter((tag) => tag.startsWith(`localhost/twofold-${instance}/keep:`))
        .map((tag) => tag.split(':')[1])
        .sort();
    };
    // An old container that takes its time to end keeps its image for as long.
    await expect.poll(tags, { timeout: 30_000 }).toEqual(['3', '4']);
    expect((await small.api('POST', '/api/system/prune')).body).toMatchObject({
      images: expect.any(Number),
      reclaimed_bytes: expect.any(Number),
    });
    await small.end();
  });

  it('a server without users seals with a key of its own', async () => {
    const bare = await startServer({ socket, env: { JWT_SECRET: '' } });
    await bare.api('POST', '/api/apps', { name: 'sealed', env: { A: 'b' } });
    await bare.stop();
    expect(readFileSync(join(bare.folder, 'data/hosting.key'), 'utf8')).toMatch(/^[\w-]{43}\n$/);
    const again = await startServer({ socket, folder: bare.folder, env: { JWT_SECRET: '' } });
    expect((await again.api('GET', '/api/apps/sealed')).body.env).toEqual({ A: 'b' });
    await again.end();
  });

  it.skipIf(!postgresUrl)('are the same on PostgreSQL', async () => {
    const database = await createDatabase();
    const other = await startServer({ socket, database: database.url });
    await other.api('POST', '/api/apps', { name: 'elephant', image: web });
    await other.api('POST', '/api/apps/elephant/deploy', {});
    expect((await other.visit('elephant.apps.test')).status).toBe(200);
    expect((await other.api('POST', '/api/apps', { name: 'elephant' })).status).toBe(409);
    expect((await other.api('GET', '/api/apps/elephant/deployments')).body.total).toBe(2);
    expect((await other.api('GET', '/api/system/audit')).body.entries).toHaveLength(2);
    await other.end();
    await database.drop();
  });
});
