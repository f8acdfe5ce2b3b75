import { createServer } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startServer, testModel, type TestServer } from './server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.end();
  server = undefined;
});

describeEachEngine('an app behind a published port', ({ socket }) => {
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
  });

  it('is served, restarted and replaced, whatever port the engine gives', async () => {
    server = await startServer({ socket, env: { HOSTING_REACH: 'port' } });
    await server.api('POST', '/api/apps', { name: 'mac', image: web });
    const seen = async () => (await server?.visit('mac.apps.test'))?.text;
    expect(await seen()).toBe('version 1\n');
    await server.api('POST', '/api/apps/mac/restart');
    expect(await seen()).toBe('version 1\n');
    await server.api('POST', '/api/apps/mac/deploy', {
      image: await importImage(socket, 'twofold-test/web:2'),
    });
    expect(await seen()).toBe('version 2\n');
  });

  it('is not taken for ready while nobody listens behind the port', async () => {
    server = await startServer({
      socket,
      env: { HOSTING_REACH: 'port' },
      model: { deploys: { keep: 5, readyTimeout: 1500, drain: 1000 } },
    });
    const answer = await server.api('POST', '/api/apps', {
      name: 'deaf',
      image: web,
      command: ['sleep', '60'],
    });
    expect(answer.status).toBe(502);
    expect(answer.body.error).toMatch(/did not answer within/);
  });

  it('that says how it is well is asked again and again, and started again when it is not', async () => {
    server = await startServer({ socket });
    const health = { command: ['test', '!', '-e', '/tmp/sick'], interval_s: 0.5, retries: 2 };
    await server.api('POST', '/api/apps', { name: 'patient', image: web, health });
    await server.api('POST', '/api/apps/patient/exec', { command: ['touch', '/tmp/sick'] });
    await expect
      .poll(async () => (await server?.api('GET', '/api/apps/patient'))?.body.restarts, {
        timeout: 20_000,
      })
      .toBeGreaterThan(0);
    await server.api('PATCH', '/api/apps/patient', { health: { path: '/nothing-here' } });
    expect((await server.api('POST', '/api/apps/patient/stop')).status).toBe(200);
  });
});

describe('a port that is taken', () => {
  it('does not keep the API from starting, and one line says how to mend it', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const { port } = holder.address() as { port: number };
    const lines: string[] = [];
    const { ingress } = testModel();
    server = await startServer({
      socket: '/nonexistent.sock',
      model: { ingress: { ...ingress, http: port } },
      logTo: { write: (line) => void lines.push(line) },
    });
    expect((await server.api('GET', '/api/apps')).body).toEqual({ apps: [], total: 0 });
    expect(lines.filter((line) => line.includes('hosting.ingress.http'))).toHaveLength(1);
    holder.close();
  });
});
