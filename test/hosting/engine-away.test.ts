import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { startReceiver } from './notification-receiver.ts';
import { startServer, type TestServer } from './server.ts';

/** A socket that leads to an engine while it is open. */
function createDoor(path: string, target: string) {
  let server: Server | undefined;
  const sockets = new Set<Socket>();
  const open = () =>
    new Promise<void>((resolve) => {
      server = createServer((client) => {
        const engine = connect(target);
        for (const socket of [client, engine]) {
          sockets.add(socket);
          socket
            .on('error', () => {})
            .on('close', () => (client.destroy(), engine.destroy(), sockets.delete(socket)));
        }
        client.pipe(engine).pipe(client);
      }).listen(path, resolve);
    });
  return {
    open: async () => (server?.listening ? undefined : await open()),
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        if (server) server.close(() => resolve());
        else resolve();
      }),
  };
}

describeEachEngine('an engine that is away', ({ kind, socket }) => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-door-'));
  const door = createDoor(join(folder, 'engine.sock'), socket);
  let server: TestServer;
  let web: string;
  beforeAll(async () => void (web = await importImage(socket, 'twofold-test/web:1')));
  beforeEach(async () => {
    await door.close();
    server = await startServer({ socket: join(folder, 'engine.sock') });
  });
  afterEach(async () => {
    await back();
    await server.end();
  });
  afterAll(async () => {
    await door.close();
    rmSync(folder, { recursive: true });
  });
  const health = async () => (await server.api('GET', '/api/health')).body;
  const back = async () => {
    await door.open();
    await expect
      .poll(health, { timeout: 30_000 })
      .toMatchObject({ podman: 'connected', engine: kind });
  };
  const make = async () => {
    const { status, body } = await server.api('POST', '/api/apps', { name: 'early', image: web });
    expect([status, body.error ?? null]).toEqual([201, null]);
  };

  it('is told to receivers, once when it is away and once when it is back', async () => {
    const receiver = await startReceiver();
    const { url } = receiver;
    await server.api('PUT', '/api/notifications/ops', {
      kind: 'webhook',
      url,
      events: ['engine.*'],
    });
    const told = () => receiver.deliveries.map(({ body }) => body['type']);
    await back();
    await door.close();
    await expect.poll(told, { timeout: 40_000 }).toEqual(['engine.away']);
    await back();
    await expect.poll(told, { timeout: 40_000 }).toEqual(['engine.away', 'engine.back']);
    await receiver.close();
  });

  it('at the start is survived, and found when it comes', async () => {
    expect(await health()).toMatchObject({ status: 'ok', podman: 'disconnected', engine: null });
    expect((await server.api('GET', '/api/apps')).body).toEqual({ apps: [], total: 0 });
    const refused = await server.api('POST', '/api/apps', { name: 'early', image: web });
    expect([refused.status, refused.body]).toEqual([
      503,
      { error: 'The container engine is away' },
    ]);
    expect((await server.api('GET', '/api/apps/early')).status).toBe(404);
    await back();
    await make();
  });

  it('later is survived: apps are served, calls say so, and it is found again', async () => {
    await back();
    await make();
    await door.close();
    expect(await health()).toMatchObject({ status: 'ok', podman: 'disconnected' });
    expect((await server.visit('early.apps.test')).text).toBe('version 1\n');
    for (const action of ['stop', 'restart'])
      expect([action, (await server.api('POST', `/api/apps/early/${action}`)).status]).toEqual([
        action,
        503,
      ]);
    expect((await server.api('GET', '/api/apps/early')).body.status).toBe('running');
    await back();
    const restarted = (await server.api('POST', '/api/apps/early/restart')).body;
    expect([restarted.status, restarted.error ?? null]).toEqual(['running', null]);
    expect((await server.visit('early.apps.test')).text).toBe('version 1\n');
  });

  it('at the start after a server was killed does not hold up the end of what that server deployed', async () => {
    await back();
    await make();
    await door.close();
    // What a killed server leaves: a deployment that nobody carries on.
    const { db } = server.kernel.store;
    const app = await db.selectFrom('hosting_apps').select('id').executeTakeFirstOrThrow();
    await db
      .insertInto('hosting_deployments')
      .values({
        app_id: app['id'],
        number: 2,
        status: 'building',
        trigger: 'upload',
        source: 'null',
        created_at: new Date().toISOString(),
      })
      .execute();
    await server.stop();
    server = await startServer({ socket: join(folder, 'engine.sock'), folder: server.folder });
    const { deployments } = (await server.api('GET', '/api/apps/early/deployments')).body;
    expect(deployments).toMatchObject([
      { number: 2, status: 'failed', reason: 'The server stopped during this deployment' },
      { number: 1, status: 'healthy', current: true },
    ]);
  });

  it('in the middle of a deployment fails that deployment, and the old one serves on', async () => {
    await back();
    await make();
    await server.api('PATCH', '/api/apps/early', { health: { path: '/never' } });
    const deploying = server.api('POST', '/api/apps/early/deploy', {});
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await door.close();
    expect((await deploying).status).toBe(503);
    expect((await server.visit('early.apps.test')).text).toBe('version 1\n');
    await back();
    const { deployments } = (await server.api('GET', '/api/apps/early/deployments')).body;
    expect(deployments[0]).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('container engine'),
    });
    expect((await server.visit('early.apps.test')).text).toBe('version 1\n');
  });
});

describe('an engine that is not the one asked for', () => {
  it('is not used', async () => {
    const server = await startServer({ socket: '/nonexistent/engine.sock', kind: 'podman' });
    expect((await server.api('GET', '/api/health')).body).toMatchObject({ podman: 'disconnected' });
    expect((await server.api('GET', '/api/templates')).body.total).toBeGreaterThan(30);
    await server.end();
  });
});
