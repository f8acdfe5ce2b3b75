import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { containersOf } from './containers-of.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, type TestServer } from './server.ts';

describeEachEngine('a change that is not deployed', ({ socket }) => {
  let server: TestServer;
  let image: string;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  const app = async (name: string) => (await server.api('GET', `/api/apps/${name}`)).body;
  const patch = async (name: string, body: object, query = '') => {
    const { status } = await server.api('PATCH', `/api/apps/${name}${query}`, body);
    return status;
  };
  const container = async (name: string): Promise<string> =>
    (await containersOf(server, socket, name)).find(({ State }) => State === 'running')?.Id ?? '';
  const envOf = async (name: string) => {
    const command = ['sh', '-c', 'echo "$COLOR $TOKEN"'];
    return (await server.api('POST', `/api/apps/${name}/exec`, { command })).body.stdout?.trim();
  };
  const health = { path: '/', interval_s: 1, timeout_s: 1, retries: 1 };

  it('of the health check does not judge what serves, and the deployed one still does', async () => {
    await server.api('POST', '/api/apps', { name: 'judged', image, health });
    const before = await container('judged');
    expect(await patch('judged', { health: { path: '/new' } })).toBe(200);
    expect((await app('judged')).health.path).toBe('/new');
    await sleep(4000);
    expect(await app('judged')).toMatchObject({ status: 'running', restarts: 0 });
    expect(await container('judged')).toBe(before);
    await server.api('POST', '/api/apps/judged/exec', {
      command: ['sh', '-c', 'echo new > /www/new'],
    });
    // A start asks the deployed check too.
    expect((await server.api('POST', '/api/apps/judged/restart')).status).toBe(200);
    await server.api('POST', '/api/apps/judged/exec', {
      command: ['sh', '-c', 'mv /www/index.html /www/gone'],
    });
    await expect
      .poll(async () => (await app('judged')).restarts, { timeout: 30_000 })
      .toBeGreaterThan(0);
  });

  it('is not in a container that replaces one removed from outside', async () => {
    const env = { COLOR: 'red' };
    await server.api('POST', '/api/apps', { name: 'replaced', image, env });
    const before = await container('replaced');
    await server.api('PUT', '/api/apps/replaced/env', { COLOR: 'blue' });
    await server.api('PUT', '/api/apps/replaced/secrets/TOKEN', { value: 'not yet' });
    const change = { command: ['sh', '-c', 'exit 9'], resources: { memory_mb: 64 } };
    expect(await patch('replaced', change)).toBe(200);
    await callEngine(socket, { method: 'DELETE', path: `/containers/${before}?force=1` });
    const replaced = async () => {
      const { status } = await app('replaced');
      return status === 'running' && ![before, ''].includes(await container('replaced'));
    };
    await expect.poll(replaced, { timeout: 40_000 }).toBe(true);
    expect(await envOf('replaced')).toBe('red');
    const path = `/containers/${await container('replaced')}/json`;
    const { HostConfig } = await engineJson<{ HostConfig: { Memory: number } }>(socket, { path });
    expect(HostConfig.Memory).toBe(128 * 1024 * 1024);
    // It is deployed with the next deployment.
    expect(await patch('replaced', { command: null }, '?apply=true')).toBe(200);
    expect(await envOf('replaced')).toBe('blue not yet');
  });

  it('of the health check does not keep the old containers from coming back', async () => {
    const volumes = [{ name: 'data', path: '/data' }];
    await server.api('POST', '/api/apps', { name: 'returns', image, health, volumes });
    const model = { path: '/new', timeout_s: 1 };
    expect(await patch('returns', { health: model, command: ['false'] }, '?apply=true')).toBe(502);
    expect((await server.visit('returns.apps.test')).status).toBe(200);
    expect((await app('returns')).status).toBe('running');
  });

  it('outlives a restart of the server', async () => {
    const env = { COLOR: 'red' };
    await server.api('POST', '/api/apps', { name: 'kept', image, env });
    await server.api('PUT', '/api/apps/kept/env', { COLOR: 'blue' });
    await server.stop();
    server = await startServer({ socket, folder: server.folder });
    await server.api('POST', '/api/apps/kept/stop');
    for (const { Id } of await containersOf(server, socket, 'kept'))
      await callEngine(socket, { method: 'DELETE', path: `/containers/${Id}?force=1` });
    expect((await server.api('POST', '/api/apps/kept/start')).status).toBe(200);
    expect(await envOf('kept')).toBe('red');
  });
});
