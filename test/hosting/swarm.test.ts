import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineJson } from '../engines/call-engine.ts';
import { freePort } from '../engines/free-port.ts';
import { importImage } from '../engines/import-image.ts';
import { startPushRegistry } from '../engines/push-registry.ts';
import { sourceForm, tarGzOf } from './archives.ts';
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
    server = await startServer({ kind: 'swarm', socket: cluster.nodes[0]!.socket });
  });
  afterAll(async () => {
    await server?.end();
    await cluster?.stop();
  });

  interface SwarmTask {
    readonly NodeID: string;
    readonly Status: { readonly State: string };
    readonly DesiredState: string;
    readonly Spec: { readonly ContainerSpec: { readonly Labels?: Record<string, string> } };
  }
  const onManager = <T>(path: string) => engineJson<T>(cluster.nodes[0]!.socket, { path });
  /** Machines that run the tasks of apps. */
  const placesOf = async (app: string | null) =>
    (await onManager<SwarmTask[]>('/tasks'))
      .filter((task) => task.Status.State === 'running' && task.DesiredState === 'running')
      .filter(({ Spec }) => !app || Spec.ContainerSpec.Labels?.['twofold.name'] === app)
      .map(({ NodeID }) => NodeID);
  const places = () => placesOf(null);
  const placeOf = async (app: string) => (await placesOf(app))[0];
  const configs = async () => (await onManager<unknown[]>('/configs')).length;
  const echoByTcp = async (port: number) => {
    const socket = connect(port, '127.0.0.1');
    socket.end('hello');
    const [data] = await once(socket, 'data');
    return String(data);
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
  });

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
  });

  it('stops and starts an app', async () => {
    expect((await server.api('POST', '/api/apps/wide/stop')).body.status).toBe('stopped');
    expect((await server.visit('wide.apps.test')).status).toBe(503);
    expect(await places()).toEqual([]);
    expect((await server.api('POST', '/api/apps/wide/start')).body.status).toBe('running');
    expect((await server.visit('wide.apps.test')).text).toBe('version 1\n');
  });

  it('runs the ports, files, processes, commands and schedules of an app', async () => {
    const tcp = await freePort();
    const listen = 'nc -ll -p 9000 -e cat & httpd -f -p "$PORT" -h /www & ';
    const created = await server.api('POST', '/api/apps', {
      ...{ name: 'all', image: images[0], replicas: 2, command: ['sh', '-c', `${listen}wait`] },
      files: [{ path: '/www/told.txt', content: 'by a config' }],
      ports: [{ port: tcp, target: 9000 }],
      processes: [{ name: 'mill', command: ['sh', '-c', 'echo grinds; exec sleep 1000'] }],
      release: ['sh', '-c', 'cat /www/told.txt; echo; echo released'],
      cron: [{ name: 'tick', schedule: '* * * * * *', command: ['echo', 'tick'] }],
      stop_grace_period: 1,
    });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    // More than one machine has the file and answers.
    expect(new Set(await places()).size).toBeGreaterThan(1);
    for (let turn = 0; turn < 4; turn += 1)
      expect((await server.visit('all.apps.test', '/told.txt')).text).toBe('by a config');
    expect(await echoByTcp(tcp)).toBe('hello');
    expect((await server.api('GET', '/api/apps/all/logs?process=mill')).body).toBe('grinds\n');
    const runs = async () => (await server.api('GET', '/api/apps/all/runs')).body.runs;
    const released = (await runs()).at(-1);
    const log = await server.api('GET', `/api/apps/all/runs/${released.id}/logs`);
    expect(log.body).toBe('by a config\nreleased\n');
    const run = (body: object) => server.api('POST', '/api/apps/all/runs?wait=true', body);
    const failed = await run({ command: ['sh', '-c', 'echo no; exit 3'] });
    expect(failed.body).toMatchObject({ status: 'failed', exit_code: 3 });
    const late = await run({ command: ['sleep', '1000'], timeout_s: 1 });
    expect(late.body.status).toBe('timeout');
    const ticks = async () =>
      (await runs()).filter((each: any) => each.cron === 'tick' && each.status === 'done');
    await expect.poll(async () => (await ticks()).length, { timeout: 60_000 }).toBeGreaterThan(1);
    // No config is left of an app that is gone.
    expect(await configs()).toBeGreaterThan(0);
    expect((await server.api('DELETE', '/api/apps/all')).status).toBe(200);
    await expect.poll(configs, { timeout: 30_000 }).toBe(0);
  });

  it('keeps an app with a volume where the volume is, and backs it up there', async () => {
    const created = await server.api('POST', '/api/apps', {
      ...{ name: 'stored', image: images[0], volumes: [{ name: 'data', path: '/data' }] },
    });
    expect([created.status, created.body.error]).toEqual([201, undefined]);
    const exec = async (command: string) =>
      (await server.api('POST', '/api/apps/stored/exec', { command: ['sh', '-c', command] })).body
        .stdout;
    await exec('echo first > /data/note');
    const backup = await server.api('POST', '/api/apps/stored/backups?wait=true');
    expect([backup.status, backup.body.status]).toEqual([200, 'done']);
    const path = `/api/apps/stored/backups/${backup.body.id}`;
    expect((await server.api('POST', `${path}/verify?wait=true`)).body).toMatchObject({
      ...{ error: null, verified_at: expect.any(String) },
    });
    await exec('echo second > /data/note');
    const restored = await server.api('POST', `${path}/restore?wait=true`, { confirm: 'stored' });
    expect([restored.status, await exec('cat /data/note')]).toEqual([200, 'first\n']);
    expect((await server.api('DELETE', '/api/apps/stored?volumes=true')).status).toBe(200);
  });

  it('says what it cannot: 501 for a command in an app of another machine', async () => {
    const created = await server.api('POST', '/api/apps', { name: 'far', image: images[0] });
    expect(created.body.status).toBe('running');
    const own = await engineJson<{ Swarm: { NodeID: string } }>(cluster.nodes[0]!.socket, {
      path: '/info',
    });
    // Swarm puts a new task on the machine with the fewest: `wide` has one on each.
    for (let turn = 0; (await placeOf('far')) === own.Swarm.NodeID && turn < 5; turn += 1)
      await server.api('POST', '/api/apps/far/deploy', {});
    expect(await placeOf('far')).not.toBe(own.Swarm.NodeID);
    const refused = await server.api('POST', '/api/apps/far/exec', { command: ['true'] });
    expect([refused.status, refused.body.error]).toEqual([
      ...[501, expect.stringContaining('another machine of the swarm')],
    ]);
    const near = { health: { command: ['true'] } };
    await server.api('PATCH', '/api/apps/far?apply=true', near);
    const done = await server.api('POST', '/api/apps/far/exec', { command: ['echo', 'here'] });
    expect([done.status, done.body.stdout]).toEqual([200, 'here\n']);
    await server.api('DELETE', '/api/apps/far');
  });

  it('pushes what it builds to hosting.registry, and runs it by its digest on any machine', async () => {
    const registry = await startPushRegistry(cluster.gateway);
    const where = `${registry.host}/team`;
    const pushing = await startServer({
      ...{ kind: 'swarm', socket: cluster.nodes[0]!.socket },
      model: { registry: where },
    });
    const build = (version: string) =>
      pushing.api(
        'POST',
        '/api/deploy?wait=true',
        sourceForm(
          { name: 'built', replicas: 3 },
          tarGzOf({ Dockerfile: `FROM ${images[0]}\nRUN echo ${version} > /www/index.html\n` }),
        ),
      );
    try {
      const refused = await build('none');
      expect([refused.status, refused.body.error]).toEqual([
        422,
        expect.stringContaining(`PUT /api/registries/${registry.host}`),
      ]);
      const { name, password } = registry.user!;
      await pushing.api('PUT', `/api/registries/${registry.host}`, { username: name, password });
      for (const version of ['one', 'two']) {
        const built = await build(version);
        expect([built.status, built.body.error]).toEqual([200, undefined]);
        const app = (await pushing.api('GET', '/api/apps/built')).body;
        expect(app.image).toMatch(new RegExp(`^${where}/built@sha256:[0-9a-f]{64}$`));
        expect(new Set(await placesOf('built')).size).toBe(3);
        expect((await pushing.visit('built.apps.test')).text).toBe(`${version}\n`);
      }
      expect(new Set(registry.pulled.map(({ from }) => from)).size).toBeGreaterThan(1);
      await pushing.api('POST', '/api/apps/built/rollback');
      expect((await pushing.visit('built.apps.test')).text).toBe('one\n');
      const { log } = (await pushing.api('GET', '/api/apps/built/deployments/2')).body;
      expect(JSON.stringify(log ?? '')).not.toContain(password);
      // The tag for the push is gone, and the image is kept by the server's own.
      const left = await engineJson<{ RepoTags: string[] | null }[]>(cluster.nodes[0]!.socket, {
        path: '/images/json',
      });
      const tags = left.flatMap(({ RepoTags }) => RepoTags ?? []);
      expect(tags.filter((tag) => tag.startsWith(registry.host))).toEqual([]);
    } finally {
      await pushing.end();
      registry.close();
    }
  }, 240_000);

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
  });
});
