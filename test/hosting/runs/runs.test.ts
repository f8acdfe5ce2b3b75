import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../../engines/available.ts';
import { callEngine, engineJson } from '../../engines/call-engine.ts';
import { importImage } from '../../engines/import-image.ts';
import { startServer, type TestServer } from '../server.ts';

const sh = (script: string) => ['sh', '-c', script];
const SLEEP = sh('trap "exit 5" TERM; echo up; while :; do sleep 0.1; done');

describeEachEngine('runs', ({ socket }) => {
  let server: TestServer;
  beforeAll(async () => {
    const image = await importImage(socket, 'twofold-test/web:1');
    server = await startServer({ socket });
    const created = await server.api('POST', '/api/apps', {
      ...{ name: 'shop', image, env: { WORD: 'hi' }, volumes: [{ name: 'data', path: '/data' }] },
    });
    expect(created.status).toBe(201);
    await server.api('PUT', '/api/apps/shop/secrets/KEY', { value: 'hunter2-hunter2' });
  });
  afterAll(() => server?.end());

  const start = (body: object, query = '') =>
    server.api('POST', `/api/apps/shop/runs${query}`, body);
  const read = async (id: string) => (await server.api('GET', `/api/apps/shop/runs/${id}`)).body;
  const logs = async (id: string) =>
    (await server.api('GET', `/api/apps/shop/runs/${id}/logs`)).body as string;
  const containersOf = async (id: string) => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.run=${id}`] }));
    const path = `/containers/json?all=1&filters=${filters}`;
    return engineJson<{ Id: string }[]>(socket, { path });
  };

  it('has the env, secrets, volumes and network of the app, and its output is kept without secrets', async () => {
    const script =
      'echo "$WORD $KEY"; echo $TWOFOLD_RUN; echo kept > /data/file; wget -qO- http://shop:8080/ >&2';
    const { status, body } = await start({ command: sh(script) }, '?wait=true');
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        ...{ id: expect.any(String), app: 'shop', cron: null, command: sh(script) },
        ...{ status: 'done', exit_code: 0 },
        started_at: expect.any(String),
        finished_at: expect.any(String),
      },
    });
    const lines = (await logs(body.id)).trim().split('\n');
    expect(lines.toSorted()).toEqual(['hi ********', body.id, 'version 1'].toSorted());
    expect(await containersOf(body.id)).toEqual([]);
    const kept = await server.api('POST', '/api/apps/shop/exec', {
      command: ['cat', '/data/file'],
    });
    expect(kept.body.stdout).toBe('kept\n');
  });

  it('answers 202 at once, is listed while it runs, and is stopped by DELETE', async () => {
    const { status, body, headers } = await start({ command: SLEEP });
    expect([status, body.status, body.exit_code]).toEqual([202, 'running', null]);
    expect(headers.get('location')).toBe(`/api/apps/shop/runs/${body.id}`);
    await expect.poll(() => logs(body.id), { timeout: 10_000 }).toBe('up\n');
    const running = await server.api('GET', '/api/apps/shop/runs?status=running');
    expect(running.body).toMatchObject({ total: 1, runs: [{ id: body.id }] });
    const stopped = await server.api('DELETE', `/api/apps/shop/runs/${body.id}`);
    expect(stopped.body).toMatchObject({ status: 'stopped', exit_code: 5 });
    expect((await server.api('DELETE', `/api/apps/shop/runs/${body.id}`)).body).toEqual(
      await read(body.id),
    );
    expect(await containersOf(body.id)).toEqual([]);
    expect((await server.api('GET', '/api/apps/shop')).body).toMatchObject({
      ...{ status: 'running', restarts: 0 },
    });
  });

  it('says how a command failed, ran too long, could not be started, or was removed by someone', async () => {
    const [failed, late, unknown, lost] = await Promise.all([
      start({ command: sh('echo no; exit 3') }, '?wait=true'),
      start({ command: SLEEP, timeout_s: 1 }, '?wait=true'),
      start({ command: ['/no/such/program'] }, '?wait=true'),
      start({ command: SLEEP }).then(async ({ body }) => {
        await expect.poll(() => logs(body.id), { timeout: 10_000 }).toBe('up\n');
        const [container] = await containersOf(body.id);
        await callEngine(socket, {
          method: 'DELETE',
          path: `/containers/${container!.Id}?force=1`,
        });
        await expect.poll(async () => (await read(body.id)).status).not.toBe('running');
        return { body: await read(body.id) };
      }),
    ]);
    expect(failed.body).toMatchObject({ status: 'failed', exit_code: 3 });
    expect(await logs(failed.body.id)).toBe('no\n');
    expect(late.body).toMatchObject({ status: 'timeout', exit_code: 5 });
    expect(unknown.body.status).toBe('failed');
    expect(await logs(unknown.body.id)).toMatch(/no such file or directory/i);
    expect(lost.body).toMatchObject({ status: 'lost', exit_code: null });
  });

  it('keeps the last 100 runs, and the end of a long output', async () => {
    const { store } = server.kernel;
    const { body } = await start(
      { command: sh('i=0; while [ $i -lt 30000 ]; do echo "line number $i"; i=$((i+1)); done') },
      '?wait=true',
    );
    const text = await logs(body.id);
    expect(text.length).toBeLessThanOrEqual(256 * 1024);
    expect(text.startsWith('line number ')).toBe(true);
    expect(text.endsWith('line number 29999\n')).toBe(true);
    const row = await store.db
      .selectFrom('hosting_runs')
      .selectAll()
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow();
    for (let i = 0; i < 120; i += 1)
      await store.db
        .insertInto('hosting_runs')
        .values({ ...row, id: `00000000-0000-7000-8000-${String(i).padStart(12, '0')}` })
        .execute();
    await start({ command: ['true'] }, '?wait=true');
    const { runs, total } = (await server.api('GET', '/api/apps/shop/runs')).body;
    expect([runs.length, total]).toEqual([100, 100]);
    expect(runs.map(({ id }: { id: string }) => id)).toContain(body.id);
  });

  it('stops with its app, and does not begin without a deployment', async () => {
    const { body } = await start({ command: SLEEP });
    await expect.poll(() => logs(body.id), { timeout: 10_000 }).toBe('up\n');
    await server.api('POST', '/api/apps/shop/stop');
    expect((await read(body.id)).status).toBe('stopped');
    expect((await start({ command: ['true'] })).status).toBe(409);
    await server.api('POST', '/api/apps/shop/start');
    const again = await start({ command: SLEEP });
    await server.api('POST', '/api/apps', { name: 'bare' });
    expect((await server.api('POST', '/api/apps/bare/runs', { command: ['true'] })).body).toEqual({
      error: 'App has not been deployed yet',
    });
    await server.api('DELETE', '/api/apps/shop?volumes=true');
    expect(await containersOf(again.body.id)).toEqual([]);
    expect((await server.api('GET', `/api/apps/shop/runs/${again.body.id}`)).status).toBe(404);
  });
});
