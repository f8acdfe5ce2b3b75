import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { engineJson } from '../engines/call-engine.ts';
import { runningContainerOf } from './containers-of.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

/** A script that ends at SIGTERM, as a program does. */
const loop = (script: string) => [
  'sh',
  '-c',
  `trap "exit 0" TERM; ${script}; while :; do sleep 0.2; done`,
];
const quick = { command: ['true'] };

describeEachEngine('a worker', ({ socket }) => {
  let server: TestServer;
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  const create = (fields: object) =>
    server.api('POST', '/api/apps', { image: web, port: null, health: quick, ...fields });
  const kill = async (app: string) => {
    const { Id } = await runningContainerOf(server, socket, app);
    const { State } = await engineJson<{ State: { Pid: number } }>(socket, {
      path: `/containers/${Id}/json`,
    });
    process.kill(State.Pid, 'SIGKILL');
  };

  it('has no port, domain and url, and its host leads nowhere', async () => {
    const { status, body } = await create({ name: 'mill', command: loop('echo "port=$PORT"') });
    expect({ status, ...body }).toMatchObject({
      ...{ status: 'running', port: null, domain: null, url: null },
    });
    expect((await server.visit('mill.apps.test')).status).toBe(404);
    expect((await server.api('GET', '/api/apps/mill/logs')).body).toBe('port=\n');
    expect((await server.api('GET', '/api/apps/mill/deployments/1')).body.port).toBeNull();
    const found = await server.api('GET', '/api/apps?q=mill.apps');
    expect(found.body.total).toBe(0);
    const named = await server.api('POST', '/api/apps', {
      name: 'flour',
      domain: 'mill.apps.test',
    });
    expect(named.status).toBe(201);
  });

  it('is ready when it has run ten seconds, and one that ends sooner fails', async () => {
    const begun = Date.now();
    const [stays, ends] = await Promise.all([
      create({ name: 'stays', command: loop('echo on'), health: {} }),
      create({ name: 'ends', command: ['sh', '-c', 'sleep 1; echo no queue; exit 3'], health: {} }),
    ]);
    expect(stays.body.status).toBe('running');
    expect(Date.now() - begun).toBeGreaterThan(10_000);
    expect(ends.status).toBe(502);
    expect(ends.body.error).toContain('It ended with exit code 3. Last line: no queue');
  });

  it('becomes an app with a port by the next deployment, and a worker again', async () => {
    await create({ name: 'both', command: loop(':') });
    await server.api('PATCH', '/api/apps/both', {
      port: 9000,
      command: null,
      health: { tcp: true },
    });
    expect((await server.visit('both.apps.test')).status).toBe(404);
    expect((await server.api('POST', '/api/apps/both/deploy', {})).status).toBe(200);
    expect((await server.visit('both.apps.test')).text).toBe('version 1\n');
    const back = { port: null, health: quick };
    await server.api('PATCH', '/api/apps/both', back);
    expect((await server.visit('both.apps.test')).text).toBe('version 1\n');
    await server.api('PATCH', '/api/apps/both?apply=true', back);
    expect((await server.visit('both.apps.test')).status).toBe(404);
  });

  it('is started again when it ends', async () => {
    await create({ name: 'again', command: loop('echo began') });
    await kill('again');
    const read = async () => (await server.api('GET', '/api/apps/again')).body;
    await expect.poll(async () => (await read()).restarts, { timeout: 40_000 }).toBe(1);
    await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('running');
    expect((await server.api('GET', '/api/apps/again/logs')).body).toBe('began\nbegan\n');
  });

  it('refuses a health check that needs a port, and a certificate', async () => {
    const { status, body } = await create({ name: 'asked', health: { path: '/up' } });
    expect([status, body.error]).toEqual([400, expect.stringContaining('use health.command')]);
    await server.api('POST', '/api/apps', { name: 'bare', port: null });
    const certified = await server.api('PUT', '/api/apps/bare/certificate', {
      certificate: 'a',
      key: 'b',
    });
    expect(certified.body.error).toBe('A worker has no domain');
  });
});
