import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { containersOf } from './containers-of.ts';
import { importImage } from '../engines/import-image.ts';
import { startLoad } from './load.ts';
import { scraper, startServer, type TestServer } from './server.ts';

describeEachEngine('supervision', ({ socket }) => {
  let server: TestServer;
  let web: string;
  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterEach(() => server?.clear());
  afterAll(() => server?.end());

  const containers = (app: string) => containersOf(server, socket, app);
  // Podman's own kill waits for what only an event brings, so that the process itself is ended.
  const kill = async (id: string) => {
    const { State } = await engineJson<{ State: { Pid: number } }>(socket, {
      path: `/containers/${id}/json`,
    });
    process.kill(State.Pid, 'SIGKILL');
  };
  const app = async (name: string) => (await server.api('GET', `/api/apps/${name}`)).body;

  it('starts again what ends by itself, while requests wait', async () => {
    const made = await server.api('POST', '/api/apps', { name: 'phoenix', image: web });
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    const [container] = await containers('phoenix');
    await kill(container!.Id);
    await expect.poll(async () => (await app('phoenix')).restarts, { timeout: 40_000 }).toBe(1);
    expect((await server.visit('phoenix.apps.test')).text).toBe('version 1\n');
    expect((await app('phoenix')).status).toBe('running');
    await server.api('DELETE', '/api/apps/phoenix');
  });

  it('sends requests to the other replicas when one dies, and fails none that may be sent twice', async () => {
    const made = await server.api('POST', '/api/apps', { name: 'hydra', image: web, replicas: 3 });
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    const load = startLoad({ port: server.ingress, host: 'hydra.apps.test', clients: 4, pause: 2 });
    for (const { Id } of (await containers('hydra')).slice(0, 2)) {
      await kill(Id);
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    const { failures, ok } = await load.stop();
    expect(failures).toEqual([]);
    expect(ok).toBeGreaterThan(0);
    await server.api('DELETE', '/api/apps/hydra');
  });

  it('gives up on what ends again and again, and says why', async () => {
    await server.api('POST', '/api/apps', {
      name: 'sisyphus',
      image: web,
      command: [
        'sh',
        '-c',
        'httpd -p $PORT -h /www; sleep 0.4; echo "the stone rolls" >&2; exit 9',
      ],
    });
    await expect
      .poll(async () => (await app('sisyphus')).status, { timeout: 90_000 })
      .toBe('crashed');
    expect((await app('sisyphus')).error).toMatch(/exit code 9.*the stone rolls/);
    expect((await app('sisyphus')).restarts).toBe(4);
    expect(['exited', 'stopped']).toContain((await containers('sisyphus'))[0]?.State);
    expect((await server.visit('sisyphus.apps.test')).status).toBe(503);
    await server.api('DELETE', '/api/apps/sisyphus');
  });

  it('says restarting, and then crashed, of what comes up no more', async () => {
    await server.api('POST', '/api/apps', {
      name: 'once',
      image: web,
      command: [
        'sh',
        '-c',
        'if [ -e /tmp/once ]; then exit 3; fi; touch /tmp/once; httpd -p $PORT -h /www; sleep 2; exit 3',
      ],
    });
    expect((await app('once')).status).toBe('running');
    const seen = new Set<string>();
    const look = async () => {
      const { status } = await app('once');
      seen.add(status);
      return status;
    };
    await expect.poll(look, { timeout: 90_000, interval: 100 }).toBe('crashed');
    expect([...seen].filter((status) => status !== 'running')).toEqual(['restarting', 'crashed']);
    expect((await app('once')).error).toMatch(/ended 5 times within ten minutes.*exit code 3/);
    expect((await server.api('POST', '/api/apps/once/deploy', {})).status).toBe(200);
    expect((await app('once')).error).toBeUndefined();
    await server.api('DELETE', '/api/apps/once');
  });

  it.each([
    ['removed', (id: string) => ({ method: 'DELETE' as const, path: `/containers/${id}?force=1` })],
    ['stopped', (id: string) => ({ method: 'POST' as const, path: `/containers/${id}/stop?t=1` })],
  ] as const)(
    'brings back what is %s from outside, and says so until the next deploy',
    async (how, end) => {
      const name = `${how}-app`;
      await server.api('POST', '/api/apps', { name, image: web });
      const [container] = await containers(name);
      const states = new Set<string>();
      expect((await callEngine(socket, end(container!.Id))).status).toBeLessThan(300);
      const look = async () => {
        const { status, error } = await app(name);
        states.add(status);
        return [status, error];
      };
      await expect
        .poll(look, { timeout: 35_000, interval: 50 })
        .toEqual(['running', expect.stringMatching(`was ${how} from outside$`)]);
      expect([...states]).toContain('restarting');
      expect((await server.visit(`${name}.apps.test`)).text).toBe('version 1\n');
      expect((await server.api('POST', `/api/apps/${name}/deploy`, {})).status).toBe(200);
      expect((await app(name)).error).toBeUndefined();
      await server.api('DELETE', `/api/apps/${name}`);
    },
  );

  it('lets a user stop what keeps ending', async () => {
    await server.api('POST', '/api/apps', {
      name: 'loop',
      image: web,
      command: ['sh', '-c', 'httpd -p $PORT -h /www; sleep 0.4; exit 1'],
    });
    await expect
      .poll(async () => (await app('loop')).restarts, { timeout: 40_000 })
      .toBeGreaterThan(0);
    expect((await server.api('POST', '/api/apps/loop/stop')).body.status).toBe('stopped');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await app('loop')).status).toBe('stopped');
    await server.api('DELETE', '/api/apps/loop');
  });

  it('finds out at the start what has happened without the server', async () => {
    for (const name of ['stopped-behind', 'removed-behind', 'fine'])
      await server.api('POST', '/api/apps', { name, image: web });
    await server.stop();
    const [stopped] = await containers('stopped-behind');
    const [removed] = await containers('removed-behind');
    await kill(stopped!.Id);
    await callEngine(socket, { method: 'DELETE', path: `/containers/${removed!.Id}?force=1` });
    server = await startServer({ socket, folder: server.folder });
    for (const name of ['stopped-behind', 'removed-behind', 'fine']) {
      expect((await server.visit(`${name}.apps.test`)).text).toBe('version 1\n');
      expect((await app(name)).status).toBe('running');
      await server.api('DELETE', `/api/apps/${name}`);
    }
  });

  it('undoes a deployment that a killed server left half done', async () => {
    await server.api('POST', '/api/apps', { name: 'half', image: web });
    const [first] = await containers('half');
    const id = (await app('half')).id;
    // What the database and the engine hold when the process is gone between create and switch.
    await server.kernel.store.db
      .insertInto('hosting_deployments')
      .values({
        app_id: id,
        number: 2,
        status: 'deploying',
        trigger: 'api',
        source: '{"kind":"image","image":"x"}',
        created_at: new Date().toISOString(),
      })
      .execute();
    const Labels = { ...first!.Labels, 'twofold.deployment': '2' };
    await engineJson(socket, {
      method: 'POST',
      path: '/containers/create',
      json: { Image: web, Labels },
    });
    await server.stop();
    server = await startServer({ socket, folder: server.folder });
    // The engine may be too busy for the first attempt, which is repeated within seconds.
    await expect
      .poll(async () => (await containers('half')).map(({ Id }) => Id), { timeout: 20_000 })
      .toEqual([first!.Id]);
    expect((await server.api('GET', '/api/apps/half/deployments/2')).body).toMatchObject({
      status: 'failed',
      reason: 'The server stopped during this deployment',
    });
    expect((await server.visit('half.apps.test')).text).toBe('version 1\n');
    await server.api('DELETE', '/api/apps/half');
  });

  it('leaves alone what is not its own: other containers, and those of another server', async () => {
    const { Id: foreign } = await engineJson<{ Id: string }>(socket, {
      method: 'POST',
      path: '/containers/create',
      json: { Image: web, Labels: { 'twofold-test': 'foreign' } },
    });
    const other = await startServer({ socket });
    await other.api('POST', '/api/apps', { name: 'shop', image: web });
    await server.api('POST', '/api/apps', { name: 'shop', image: web });
    await server.stop();
    server = await startServer({ socket, folder: server.folder });
    expect((await server.api('DELETE', '/api/apps/shop')).status).toBe(200);
    expect((await other.visit('shop.apps.test')).text).toBe('version 1\n');
    expect((await callEngine(socket, { path: `/containers/${foreign}/json` })).status).toBe(200);
    await other.end();
    await callEngine(socket, { method: 'DELETE', path: `/containers/${foreign}?force=1` });
  });

  it('runs commands in an app, and measures it', async () => {
    await server.api('POST', '/api/apps', { name: 'meter', image: web });
    const run = (command: string[], more = {}) =>
      server.api('POST', '/api/apps/meter/exec', { command, ...more });
    expect((await run(['sh', '-c', 'echo out; echo err >&2; exit 4'])).body).toEqual({
      exit_code: 4,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
    });
    expect((await run(['sleep', '30'], { timeout_s: 0.5 })).body).toMatchObject({
      exit_code: 124,
      truncated: true,
    });
    expect((await run(['sh', '-c', 'head -c 3000000 /dev/zero'])).body).toMatchObject({
      truncated: true,
    });
    expect((await server.api('POST', '/api/apps/meter/exec', { command: 'ls' })).status).toBe(400);
    await server.api('GET', '/api/apps/meter/stats');
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { body } = await server.api('GET', '/api/apps/meter/stats');
    expect(body).toMatchObject({ app: 'meter', status: 'running', restarts: 0 });
    expect(body.memory_bytes).toBeGreaterThan(10_000);
    expect(body.replicas[0].memory_limit_bytes).toBe(128 * 1024 * 1024);
    expect(body.cpu_percent).toBeGreaterThanOrEqual(0);
    expect((await server.api('GET', '/metrics', undefined, scraper)).body).toMatch(
      /^twofold_app_memory_bytes\{app="meter",replica="0"\} \d+$/m,
    );
    await server.api('DELETE', '/api/apps/meter');
  });
});
