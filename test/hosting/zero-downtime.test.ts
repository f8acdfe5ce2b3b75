import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startLoad } from './load.ts';
import { startServer, type TestServer } from './server.ts';

describeEachEngine('under load', ({ socket }) => {
  let server: TestServer;
  let images: string[];

  beforeAll(async () => {
    images = [await importImage(socket, 'twofold-test/web:1'), await importImage(socket, 'twofold-test/web:2')];
    server = await startServer({ socket });
  }, 60_000);
  afterEach(() => server?.clear(), 60_000);
  afterAll(() => server?.end(), 60_000);

  it('ten deploys fail no request', async () => {
    await server.api('POST', '/api/apps', { name: 'busy', image: images[0] });
    const load = startLoad({ port: server.ingress, host: 'busy.apps.test', clients: 16 });
    for (let turn = 1; turn <= 10; turn += 1) {
      const deployed = await server.api('POST', '/api/apps/busy/deploy', { image: images[turn % 2] });
      expect(deployed.body).toMatchObject({ status: 'healthy', number: turn + 1 });
    }
    const { ok, failures, bodies } = await load.stop();
    expect(failures).toEqual([]);
    expect(bodies).toEqual(new Set(['version 1\n', 'version 2\n']));
    expect(ok).toBeGreaterThan(100);
    await server.api('DELETE', '/api/apps/busy');
  }, 120_000);

  it('deploys of an app with a volume make requests wait, and fail none', async () => {
    await server.api('POST', '/api/apps', { name: 'stateful', image: images[0], volumes: [{ name: 'data', path: '/data' }] });
    await server.api('POST', '/api/apps/stateful/exec', { command: ['sh', '-c', 'echo kept > /data/note'] });
    const load = startLoad({ port: server.ingress, host: 'stateful.apps.test', clients: 4, pause: 5 });
    for (let turn = 1; turn <= 3; turn += 1) await server.api('POST', '/api/apps/stateful/deploy', { image: images[turn % 2] });
    const { failures, bodies } = await load.stop();
    expect(failures).toEqual([]);
    expect(bodies.size).toBe(2);
    expect((await server.api('POST', '/api/apps/stateful/exec', { command: ['cat', '/data/note'] })).body.stdout).toBe('kept\n');
    await server.api('DELETE', '/api/apps/stateful?volumes=true');
  }, 120_000);

  it('restarts of several replicas fail no request', async () => {
    const created = await server.api('POST', '/api/apps', { name: 'many', image: images[0], replicas: 3 });
    expect(created.body.status).toBe('running');
    const load = startLoad({ port: server.ingress, host: 'many.apps.test', clients: 8 });
    for (let turn = 0; turn < 3; turn += 1) expect((await server.api('POST', '/api/apps/many/restart')).status).toBe(200);
    const { failures } = await load.stop();
    expect(failures).toEqual([]);
    await server.api('DELETE', '/api/apps/many');
  }, 120_000);

  it('one operation at a time runs on an app', async () => {
    await server.api('POST', '/api/apps', { name: 'one', image: images[0] });
    const answers = await Promise.all(Array.from({ length: 4 }, () => server.api('POST', '/api/apps/one/deploy', { image: images[1] })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    await server.api('DELETE', '/api/apps/one');
  }, 60_000);
});
