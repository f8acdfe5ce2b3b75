import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEnginesAtOnce } from '../../engines/available.ts';
import { engineJson } from '../../engines/call-engine.ts';
import { containersOf } from '../containers-of.ts';
import { importImage } from '../../engines/import-image.ts';
import { startServer, type TestServer } from '../server.ts';

const sh = (script: string) => ['sh', '-c', script];
/** A program that ends at SIGTERM. */
const worker = (word: string) =>
  sh(`trap "exit 0" TERM; echo "${word} port=$PORT"; while :; do sleep 0.2; done`);

describeEnginesAtOnce('release and processes', ({ socket }) => {
  let server: TestServer;
  let image: string;
  beforeAll(async () => {
    image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
  });
  afterAll(() => server?.end());

  const containers = async (app: string) => {
    const all = await containersOf(server, socket, app);
    return all.map(({ Id, State, Labels }) => ({
      ...{ id: Id, state: State, process: Labels['twofold.process'] ?? null },
      deployment: Number(Labels['twofold.deployment']),
    }));
  };
  const logs = async (app: string, query = '') =>
    (await server.api('GET', `/api/apps/${app}/logs${query}`)).body as string;

  it('runs the release command before the first container and before each next deployment', async () => {
    const release = sh('echo migrated $WORD');
    const created = await server.api('POST', '/api/apps', {
      ...{ name: 'till', image, release, env: { WORD: 'well' } },
    });
    expect([created.status, created.body.release]).toEqual([201, release]);
    await server.api('POST', '/api/apps/till/deploy', {});
    const { runs } = (await server.api('GET', '/api/apps/till/runs')).body;
    expect(runs).toMatchObject([
      { status: 'done', command: release },
      { status: 'done', command: release },
    ]);
    const log = await server.api('GET', `/api/apps/till/runs/${runs[0].id}/logs`);
    expect(log.body).toBe('migrated well\n');
  });

  it('fails the deployment when it fails, and the old one was never touched', async () => {
    const before = await containers('till');
    await server.api('PATCH', '/api/apps/till', { release: sh('echo no such table; exit 3') });
    const { status, body } = await server.api('POST', '/api/apps/till/deploy', {});
    expect([status, body.error]).toEqual([
      502,
      'The release command ended with exit code 3. Last line: no such table',
    ]);
    expect(await containers('till')).toEqual(before);
    const failed = await server.api('GET', '/api/apps/till/deployments/3');
    expect(failed.body).toMatchObject({ status: 'failed', log: ['no such table'] });
    expect((await server.api('GET', '/api/apps/till')).body).toMatchObject({
      ...{ status: 'running', deployment: 2 },
    });
  });

  it('is stopped with the deployment when the app is deleted', async ({ expect }) => {
    await server.api('PATCH', '/api/apps/till', { release: sh('trap "exit 1" TERM; sleep 60') });
    const deploy = server.api('POST', '/api/apps/till/deploy', {});
    const going = async () => (await server.api('GET', '/api/apps/till/runs?status=running')).body;
    await expect.poll(async () => (await going()).total, { timeout: 10_000 }).toBe(1);
    expect((await server.api('DELETE', '/api/apps/till')).status).toBe(200);
    expect((await deploy).status).not.toBe(200);
    expect(await containers('till')).toEqual([]);
  });

  it('runs processes beside the app without a port, replaces them with it, and starts them again', async ({
    expect,
  }) => {
    const processes = [
      { name: 'queue', command: worker('one'), replicas: 2, resources: { memory_mb: 32 } },
    ];
    const { status, body } = await server.api('POST', '/api/apps', {
      ...{ name: 'mill', image, processes },
    });
    expect([status, body.processes]).toEqual([201, processes]);
    expect(
      (await containers('mill')).map(({ process, state }) => `${process} ${state}`).toSorted(),
    ).toEqual(['null running', 'queue running', 'queue running']);
    expect(await logs('mill', '?process=queue')).toBe('one port=\none port=\n');
    expect(await logs('mill')).toContain('version 1 starts');
    expect(await logs('mill')).not.toContain('one');
    expect((await server.api('GET', '/api/apps/mill/logs?process=other')).status).toBe(404);
    // Requests go to the app itself only.
    for (let i = 0; i < 6; i += 1)
      expect((await server.visit('mill.apps.test')).text).toBe('version 1\n');

    const victim = (await containers('mill')).find(({ process }) => process === 'queue')!;
    const { State } = await engineJson<{ State: { Pid: number } }>(socket, {
      path: `/containers/${victim.id}/json`,
    });
    process.kill(State.Pid, 'SIGKILL');
    const read = async () => (await server.api('GET', '/api/apps/mill')).body;
    await expect.poll(async () => (await read()).restarts, { timeout: 20_000 }).toBe(1);
    expect((await read()).status).toBe('running');

    const next = [{ name: 'queue', command: worker('two') }];
    const changed = await server.api('PATCH', '/api/apps/mill?apply=true', { processes: next });
    expect(changed.status).toBe(200);
    await expect
      .poll(async () => (await containers('mill')).map((each) => each.deployment), {
        timeout: 20_000,
      })
      .toEqual([2, 2]);
    expect(await logs('mill', '?process=queue')).toBe('two port=\n');

    const broken = [{ name: 'queue', command: sh('echo no; exit 7') }];
    const failed = await server.api('PATCH', '/api/apps/mill?apply=true', { processes: broken });
    expect([failed.status, failed.body.error]).toEqual([
      502,
      'App did not become ready: process queue: It ended with exit code 7. Last line: no',
    ]);
    expect((await containers('mill')).map((each) => each.deployment)).toEqual([2, 2]);
    await server.api('POST', '/api/apps/mill/stop');
    expect((await containers('mill')).map(({ state }) => state)).toEqual(['exited', 'exited']);
    await server.api('POST', '/api/apps/mill/start');
    expect((await containers('mill')).map(({ state }) => state)).toEqual(['running', 'running']);
  });
});
