import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeEachEngine } from '../engines/available.ts';
import { callEngine, engineJson } from '../engines/call-engine.ts';
import { importImage } from '../engines/import-image.ts';
import { sourceForm, tarGzOf } from './archives.ts';
import { startServer, type TestServer } from './server.ts';

const WEB = 'docker.io/twofold-test/web:1';

/** Three stages, of which the first is the slow one, and what the last one takes changes. */
const stages = (word: string) => ({
  Dockerfile: [
    `FROM ${WEB} AS tools`,
    'RUN head -c 3000000 /dev/urandom > /tool && echo tools are made',
    `FROM ${WEB} AS made`,
    'COPY --from=tools /tool /tool',
    'COPY word /word',
    'RUN mkdir /out && cat /word > /out/index.html',
    `FROM ${WEB}`,
    'COPY --from=made /out /site',
    'CMD ["sh", "-c", "exec httpd -f -p $PORT -h /site"]',
  ].join('\n'),
  word,
});

describeEachEngine('deploying', ({ kind, socket }) => {
  let server: TestServer;
  const folder = `twofold-rules-${randomBytes(4).toString('hex')}`;
  beforeAll(async () => {
    await importImage(socket, 'twofold-test/web:1');
    await importImage(socket, 'twofold-test/web:2');
    server = await startServer({
      socket,
      model: { deploys: { keep: 2, readyTimeout: 4000, drain: 1000 } },
    });
  });
  afterAll(() => server?.end());

  const upload = (name: string, files: Record<string, string>) =>
    server.api('POST', '/api/deploy?wait=true', sourceForm({ name }, tarGzOf(files)));
  const get = async (path: string) => (await server.api('GET', path)).body;
  const instance = async () =>
    (await server.kernel.store.db
      .selectFrom('hosting_settings')
      .select('value')
      .where('key', '=', 'instance')
      .executeTakeFirstOrThrow()) as { value: string };

  it('leaves no stage of a build behind without a name, builds from its cache, and prune frees it', async () => {
    const dangling = async () => {
      const filters = encodeURIComponent(JSON.stringify({ dangling: ['true'] }));
      const all = await engineJson<{ Id: string }[]>(socket, {
        path: `/images/json?filters=${filters}`,
      });
      return all.map(({ Id }) => Id);
    };
    const before = await dangling();
    // Builds of other tests have images without a name for a moment, on the same engine.
    const left = async () => (await dangling()).filter((id) => !before.includes(id));
    const { value } = await instance();
    const tags = async () =>
      (await engineJson<{ RepoTags: string[] | null }[]>(socket, { path: '/images/json' }))
        .flatMap(({ RepoTags }) => RepoTags ?? [])
        .filter((tag) => tag.includes(`twofold-${value}`));
    for (let turn = 1; turn <= 4; turn += 1) {
      const { status, body } = await upload('staged', stages(`turn ${turn}`));
      expect([status, body.error]).toEqual([200, undefined]);
      expect((await server.visit('staged.apps.test')).text).toBe(`turn ${turn}`);
      const log = await get(`/api/apps/staged/deployments/${turn}/logs`);
      expect([turn, /^tools are made$/m.test(log)]).toEqual([turn, turn === 1]);
      await expect.poll(left).toEqual([]);
    }
    const broken = { ...stages('broken'), Dockerfile: `FROM ${WEB}\nRUN echo x > /x\nRUN exit 3` };
    expect((await upload('staged', broken)).status).toBe(422);
    await expect.poll(left).toEqual([]);
    const kept = await tags();
    expect(kept.filter((tag) => tag.includes('-cache/')).length).toBeGreaterThan(0);
    expect(kept.filter((tag) => !tag.includes('-cache/')).length).toBe(2);
    await upload('staged', stages('again'));
    const { body } = await server.api('POST', '/api/system/prune');
    expect(body.images).toBeGreaterThan(0);
    expect((await tags()).filter((tag) => tag.includes('-cache/'))).toEqual([]);
    expect(body.reclaimed_bytes).toBeGreaterThan(kind === 'docker' ? 2_500_000 : 0);
    expect((await server.visit('staged.apps.test')).text).toBe('again');
    await server.api('DELETE', '/api/apps/staged');
    expect(await tags()).toEqual([]);
  }, 240_000);

  it('of a new app whose image cannot be had is 422, and the name and the domain are free', async () => {
    const image = 'localhost:1/nothing/here:1';
    const body = { name: 'unborn', image, domain: 'unborn.example.test' };
    expect((await server.api('POST', '/api/apps', body)).status).toBe(422);
    expect((await server.api('GET', '/api/apps/unborn')).status).toBe(404);
    expect((await server.api('POST', '/api/apps', { ...body, image: WEB })).status).toBe(201);
    // The same of an app that serves: it is told, and serves on.
    const again = await server.api('POST', '/api/apps/unborn/deploy', { image });
    expect([again.status, again.body.error]).toEqual([422, expect.stringContaining(image)]);
    expect((await get('/api/apps/unborn')).status).toBe('running');
    await server.api('DELETE', '/api/apps/unborn');
  });

  it('of a new app that does not become ready is 502, and it stays with its record', async () => {
    const answer = await server.api('POST', '/api/apps', {
      name: 'silent',
      image: WEB,
      command: ['sleep', '100'],
    });
    expect(answer.status).toBe(502);
    expect((await get('/api/apps/silent')).status).toBe('failed');
    expect((await get('/api/apps/silent/deployments')).deployments).toMatchObject([
      { status: 'failed', reason: expect.stringMatching(/did not become ready/) },
    ]);
    await server.api('DELETE', '/api/apps/silent');
  });

  it('can be done again by who has read that the last one is healthy, or has failed', async () => {
    await server.api('POST', '/api/apps', { name: 'eager', image: WEB });
    for (let turn = 2; turn < 8; turn += 1) {
      const fails = turn % 3 === 0;
      const path = `/api/apps/eager/deployments/${turn}`;
      const sent = fails
        ? server.api('POST', '/api/apps/eager/deploy', { image: 'localhost:1/nothing:1' })
        : server.api('POST', '/api/apps/eager/deploy', { image: WEB });
      await expect
        .poll(async () => (await get(path)).status, { interval: 5, timeout: 20_000 })
        .toBe(fails ? 'failed' : 'healthy');
      const next = await server.api('POST', '/api/apps/eager/restart');
      expect([turn, next.status]).toEqual([turn, 200]);
      expect((await sent).status).toBe(fails ? 422 : 200);
    }
    await server.api('DELETE', '/api/apps/eager');
  });

  it('with an empty body repeats the last source that was given, also when it failed', async () => {
    await server.api('POST', '/api/apps', { name: 'repeat', image: WEB });
    const git = { url: 'https://git.example.invalid/shop.git', ref: 'main' };
    expect((await server.api('POST', '/api/apps', { name: 'first-git' })).status).toBe(201);
    await server.kernel.store.db
      .insertInto('hosting_deployments')
      .values({
        app_id: (await get('/api/apps/first-git')).id,
        number: 1,
        status: 'failed',
        trigger: 'api',
        source: JSON.stringify({ kind: 'git', ...git }),
        created_at: new Date().toISOString(),
      })
      .execute();
    // The address leads nowhere: that it is asked for at all is what matters.
    const repeated = await server.api('POST', '/api/apps/first-git/deploy', {});
    expect([repeated.status, repeated.body.error]).toEqual([
      400,
      'git.url names a host that is not known',
    ]);
    await server.api('POST', '/api/apps/repeat/deploy', { image: 'localhost:1/nothing:1' });
    const failing = await server.api('POST', '/api/apps/repeat/deploy', {});
    expect([failing.status, failing.body.error]).toEqual([
      422,
      expect.stringContaining('localhost:1/nothing:1'),
    ]);
    const { deployments } = await get('/api/apps/repeat/deployments');
    expect(deployments[0].source).toEqual({ kind: 'image', image: 'localhost:1/nothing:1' });
    for (const name of ['repeat', 'first-git']) await server.api('DELETE', `/api/apps/${name}`);
  });

  it('waits for both, the command and the port, where the health check has a command', async () => {
    const health = { command: ['true'], interval_s: 1, timeout_s: 1, retries: 1 };
    const silent = { name: 'half', image: WEB, health, command: ['sleep', '100'] };
    expect((await server.api('POST', '/api/apps', silent)).status).toBe(502);
    const listening = { name: 'half-too', image: WEB, health: { ...health, command: ['false'] } };
    expect((await server.api('POST', '/api/apps', listening)).status).toBe(502);
    expect(
      (await server.api('POST', '/api/apps', { name: 'whole', image: WEB, health })).status,
    ).toBe(201);
    for (const name of ['half', 'half-too', 'whole'])
      await server.api('DELETE', `/api/apps/${name}`);
  });

  it("takes no volume of somebody else's for its own, and deletes none", async () => {
    const { value } = await instance();
    const name = `twofold-${value}-keeper-data`;
    await engineJson(socket, {
      method: 'POST',
      path: '/volumes/create',
      json: { Name: name, Labels: { owner: folder } },
    });
    const volumes = [{ name: 'data', path: '/data' }];
    const made = await server.api('POST', '/api/apps', { name: 'keeper', image: WEB, volumes });
    expect([made.status, made.body.error]).toEqual([409, expect.stringContaining(name)]);
    const gone = await server.api('DELETE', '/api/apps/keeper?volumes=true');
    expect([gone.status, gone.body.error]).toEqual([409, expect.stringContaining(name)]);
    expect((await callEngine(socket, { path: `/volumes/${name}` })).status).toBe(200);
    expect((await server.api('DELETE', '/api/apps/keeper')).status).toBe(200);
    await callEngine(socket, { method: 'DELETE', path: `/volumes/${name}` });
  });
});
