import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

describeEachEngine('apps', ({ kind, socket }) => {
  let server: TestServer;
  let web: string;
  let next: string;

  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    next = await importImage(socket, 'twofold-test/web:2');
    server = await startServer({ socket });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  it('tell the health of the engine without a token', async () => {
    const { status, body } = await server.api('GET', '/api/health', undefined, {
      authorization: '',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'ok', podman: 'connected', engine: kind });
    expect(Date.parse(body.timestamp)).toBeGreaterThan(Date.now() - 60_000);
  });

  it('need a token for everything else', async () => {
    for (const path of [
      '/api/apps',
      '/api/apps/shop',
      '/api/system/info',
      '/api/system/config',
      '/api/events',
    ]) {
      const { status, body } = await server.api('GET', path, undefined, { authorization: '' });
      expect([path, status, body]).toEqual([path, 401, { error: 'Unauthorized' }]);
    }
  });

  it('are made, deployed, reached, listed and deleted', async () => {
    const created = await server.api('POST', '/api/apps', {
      name: 'shop',
      image: web,
      env: { GREETING: 'hi', NUMBER: 1 },
    });
    expect(created.body).toMatchObject({
      name: 'shop',
      status: 'running',
      domain: 'shop.apps.test',
      image: web,
      deployment: 1,
      env: { GREETING: 'hi', NUMBER: '1' },
    });
    expect(created.status).toBe(201);
    expect(created.body.port).toBe(8080);
    expect(await server.visit('shop.apps.test')).toMatchObject({
      status: 200,
      text: 'version 1\n',
    });

    const list = await server.api('GET', '/api/apps');
    expect(list.body).toMatchObject({
      total: 1,
      apps: [{ id: created.body.id, name: 'shop', status: 'running' }],
    });
    expect((await server.api('GET', '/api/apps/shop')).body.id).toBe(created.body.id);

    expect((await server.api('POST', '/api/apps', { name: 'shop' })).status).toBe(409);
    expect(
      (await server.api('POST', '/api/apps', { name: 'other', domain: 'Shop.Apps.Test' })).body,
    ).toEqual({ error: 'Domain shop.apps.test already in use by another app' });

    expect((await server.api('DELETE', '/api/apps/shop')).body).toEqual({ status: 'deleted' });
    expect((await server.api('GET', '/api/apps/shop')).status).toBe(404);
    expect((await server.visit('shop.apps.test')).status).toBe(404);
  });

  it('stop, start and restart', async () => {
    expect((await server.api('POST', '/api/apps', { name: 'lamp' })).body.status).toBe('created');
    // It has a page that says that it does not run; a host that no app has is 404.
    expect((await server.visit('lamp.apps.test')).status).toBe(503);
    expect((await server.api('POST', '/api/apps/lamp/start')).body).toEqual({
      error: 'App has not been deployed yet',
    });
    const deployed = await server.api('POST', '/api/apps/lamp/deploy', { image: web });
    expect([deployed.status, deployed.body.status]).toEqual([200, 'healthy']);
    expect((await server.api('POST', '/api/apps/lamp/start')).body.status).toBe('running');
    expect((await server.api('POST', '/api/apps/lamp/stop')).body.status).toBe('stopped');
    expect((await server.visit('lamp.apps.test')).status).toBe(503);
    expect((await server.api('POST', '/api/apps/lamp/stop')).body.status).toBe('stopped');
    expect((await server.api('POST', '/api/apps/lamp/start')).body.status).toBe('running');
    expect((await server.visit('lamp.apps.test')).text).toBe('version 1\n');
    expect((await server.api('POST', '/api/apps/lamp/restart')).body.status).toBe('running');
    expect((await server.visit('lamp.apps.test')).text).toBe('version 1\n');
    await server.api('DELETE', '/api/apps/lamp');
  });

  it('show what they printed, a hundred lines unless told otherwise', async () => {
    await server.api('POST', '/api/apps', {
      name: 'talk',
      image: web,
      command: [
        'sh',
        '-c',
        'i=0; while [ $i -lt 250 ]; do echo line $i; i=$((i+1)); done; exec httpd -f -p $PORT -h /www',
      ],
    });
    const lines = (text: string) => text.trimEnd().split('\n');
    const all = await server.api('GET', '/api/apps/talk/logs?tail=1000');
    expect(all.headers.get('content-type')).toContain('text/plain');
    expect(lines(all.body)).toEqual(Array.from({ length: 250 }, (_, index) => `line ${index}`));
    expect(lines((await server.api('GET', '/api/apps/talk/logs')).body)).toHaveLength(100);
    expect((await server.api('GET', '/api/apps/talk/logs?tail=2')).body).toBe(
      'line 248\nline 249\n',
    );
    expect((await server.api('GET', '/api/apps/talk/logs?tail=0')).body).toBe('');
    expect((await server.api('GET', '/api/apps/talk/logs?tail=x')).status).toBe(400);
    expect((await server.api('GET', '/api/apps/talk/logs?tail=1&timestamps=true')).body).toMatch(
      /^\d{4}-\d\d-\d\dT\S+ line 249\n$/,
    );
    await server.api('DELETE', '/api/apps/talk');
  });

  it('survive a restart of the server, running on without it', async () => {
    await server.api('POST', '/api/apps', { name: 'kept', image: web });
    await server.api('POST', '/api/apps', { name: 'rest', image: web });
    await server.api('POST', '/api/apps/rest/stop');
    const before = (await server.api('GET', '/api/apps')).body;
    await server.stop();
    server = await startServer({ socket, folder: server.folder });
    expect(
      (await server.api('GET', '/api/apps')).body.apps.map(({ name, status, id }: any) => [
        name,
        status,
        id,
      ]),
    ).toEqual(before.apps.map(({ name, status, id }: any) => [name, status, id]));
    expect((await server.visit('kept.apps.test')).text).toBe('version 1\n');
    expect((await server.visit('rest.apps.test')).status).toBe(503);
    for (const name of ['kept', 'rest']) await server.api('DELETE', `/api/apps/${name}`);
  });

  it('go back to an earlier deployment', async () => {
    await server.api('POST', '/api/apps', { name: 'time', image: web });
    await server.api('POST', '/api/apps/time/deploy', { image: next });
    expect((await server.visit('time.apps.test')).text).toBe('version 2\n');
    const back = await server.api('POST', '/api/apps/time/rollback');
    expect(back.body).toMatchObject({
      number: 3,
      status: 'healthy',
      trigger: 'rollback',
      image: web,
    });
    expect((await server.visit('time.apps.test')).text).toBe('version 1\n');
    const { body } = await server.api('GET', '/api/apps/time/deployments');
    expect(
      body.deployments.map(({ number, status, current }: any) => [number, status, current]),
    ).toEqual([
      [3, 'healthy', true],
      [2, 'superseded', false],
      [1, 'superseded', false],
    ]);
    expect((await server.api('POST', '/api/apps/time/rollback', { deployment: 9 })).status).toBe(
      404,
    );
    await server.api('DELETE', '/api/apps/time');
  });

  it('keep serving the old deployment when the new one does not come up, and say why', async () => {
    await server.api('POST', '/api/apps', { name: 'safe', image: web });
    await server.api('PATCH', '/api/apps/safe', {
      command: ['sh', '-c', 'echo "cannot find the config" >&2; exit 3'],
    });
    const failed = await server.api('POST', '/api/apps/safe/deploy', { image: next });
    expect(failed.status).toBe(502);
    expect(failed.body.error).toMatch(/did not become ready.*exit code 3/);
    expect((await server.visit('safe.apps.test')).text).toBe('version 1\n');
    expect((await server.api('GET', '/api/apps/safe')).body.status).toBe('running');
    expect((await server.api('GET', '/api/apps/safe/deployments/2')).body).toMatchObject({
      status: 'failed',
      log: ['cannot find the config'],
      current: false,
    });
    await server.api('DELETE', '/api/apps/safe');
  });

  it('tell about the server and its settings', async () => {
    const info = (await server.api('GET', '/api/system/info')).body;
    expect(info).toMatchObject({ engine: { kind }, podman: 'connected', arch: process.arch });
    expect(info.cpus).toBeGreaterThan(0);
    expect((await server.api('GET', '/api/system/config')).body).toMatchObject({
      domain: 'apps.test',
      limits: { defaults: { port: 8080 } },
    });
  });
});
