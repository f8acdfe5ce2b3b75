import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { startLoad } from './load.ts';
import { startServer, type TestServer } from './server.ts';
import { canRunSwarm, startSwarm, type SwarmCluster } from './swarm-cluster.ts';

const wanted =
  canRunSwarm &&
  (process.env['TEST_DOCKER_SOCKET'] !== undefined || process.env['CI'] !== undefined);

describe.skipIf(!wanted)('a swarm of three machines', () => {
  let cluster: SwarmCluster;
  let server: TestServer;
  let images: string[];

  beforeAll(async () => {
    cluster = await startSwarm(3);
    for (const { socket } of cluster.nodes)
      images = [
        await importImage(socket, 'twofold-test/web:1'),
        await importImage(socket, 'twofold-test/web:2'),
      ];
    server = await startServer({ kind: 'swarm' as never, socket: cluster.nodes[0]!.socket });
  }, 180_000);
  afterAll(async () => {
    await server?.end();
    await cluster?.stop();
  }, 120_000);

  /** Machines that run the app's tasks. */
  const places = async () => {
    const tasks = await engineJson<
      { NodeID: string; Status: { State: string }; DesiredState: string }[]
    >(cluster.nodes[0]!.socket, { path: '/tasks' });
    return tasks
      .filter(
        ({ Status, DesiredState }) => Status.State === 'running' && DesiredState === 'running',
      )
      .map(({ NodeID }) => NodeID);
  };

  it('is known as one', async () => {
    expect((await server.api('GET', '/api/health')).body).toMatchObject({
      podman: 'connected',
      engine: 'swarm',
    });
  });

  it('spreads an app, and replaces it without failing a request', async () => {
    await server.api('DELETE', '/api/apps/wide'); // Of an earlier try.
    const created = await server.api('POST', '/api/apps', {
      name: 'wide',
      image: images[0],
      replicas: 3,
    });
    expect([created.status, created.body.status, created.body.error]).toEqual([
      201,
      'running',
      undefined,
    ]);
    expect(new Set(await places()).size).toBe(3);
    const load = startLoad({ port: server.ingress, host: 'wide.apps.test', clients: 4, pause: 5 });
    for (const image of [images[1], images[0]])
      expect((await server.api('POST', '/api/apps/wide/deploy', { image })).body).toMatchObject({
        status: 'healthy',
      });
    const { failures, bodies } = await load.stop();
    expect(failures).toEqual([]);
    expect(bodies).toEqual(new Set(['version 1\n', 'version 2\n']));
    expect(
      (await server.api('GET', '/api/apps/wide/logs?tail=100000')).body.match(/version 1 starts/g),
    ).toHaveLength(3);
  }, 180_000);

  it('keeps the old deployment when the new one does not come up', async () => {
    await server.api('PATCH', '/api/apps/wide', {
      command: ['sh', '-c', 'echo no config; exit 3'],
      replicas: 1,
    });
    const failed = await server.api('POST', '/api/apps/wide/deploy', { image: images[1] });
    expect([failed.status, failed.body.error]).toEqual([
      502,
      expect.stringMatching(/did not become ready/),
    ]);
    expect((await places()).length).toBe(3);
    expect((await server.visit('wide.apps.test')).text).toBe('version 1\n');
    await server.api('PATCH', '/api/apps/wide', { command: null, replicas: 3 });
  }, 180_000);

  it('stops and starts an app', async () => {
    expect((await server.api('POST', '/api/apps/wide/stop')).body.status).toBe('stopped');
    expect((await server.visit('wide.apps.test')).status).toBe(503);
    expect(await places()).toEqual([]);
    expect((await server.api('POST', '/api/apps/wide/start')).body.status).toBe('running');
    expect((await server.visit('wide.apps.test')).text).toBe('version 1\n');
  }, 120_000);

  it('brings what ran on a lost machine back on another, and serves meanwhile', async () => {
    const lost = cluster.nodes[2]!;
    const load = startLoad({ port: server.ingress, host: 'wide.apps.test', clients: 4, pause: 10 });
    const began = Date.now();
    await lost.kill();
    const ids = await engineJson<{ ID: string; Status: { State: string } }[]>(
      cluster.nodes[0]!.socket,
      { path: '/nodes' },
    );
    expect(ids).toHaveLength(3);
    await expect
      .poll(
        async () =>
          (
            await engineJson<{ Status: { State: string } }[]>(cluster.nodes[0]!.socket, {
              path: '/nodes',
            })
          ).filter(({ Status }) => Status.State === 'down').length,
        { timeout: 60_000 },
      )
      .toBe(1);
    await expect
      .poll(async () => (await server.api('GET', '/api/apps/wide')).body.restarts, {
        timeout: 60_000,
      })
      .toBeGreaterThan(0);
    await expect
      .poll(async () => (await places()).length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(3);
    console.log(
      `three tasks again ${((Date.now() - began) / 1000).toFixed(1)} s after a machine was lost`,
    );
    const { failures, ok } = await load.stop();
    console.log(`${failures.length} of ${ok + failures.length} requests failed meanwhile`);
    expect(failures.length).toBeLessThanOrEqual(ok / 200);
    expect((await server.api('GET', '/api/apps/wide')).body.status).toBe('running');
  }, 180_000);
});
