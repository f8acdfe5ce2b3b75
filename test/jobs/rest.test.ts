import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auth } from '../../runtime/auth/index.ts';
import type { JobOf } from '../../runtime/core/jobs/types.ts';
import { databases, type JobServer, newDatabase, type Place, SDL, startJobs } from './server.ts';

const KEY = 'root-key-of-the-tests-0123456789';
const ROLES = '{ list: [Owner, Member], default: Member, first: Owner }';
const env = { JWT_SECRET: 'a secret of the tests that is long enough', API_KEY: KEY };
const USER = `${SDL} type User { id: ID! email: String! @unique name: String }`;
const PATH = '/api/system/jobs';

const jobs: Record<string, JobOf<any>> = {
  letter: { input: 'Letter', run: () => {} },
  yearly: { schedule: '0 8 1 1 *', timezone: 'Europe/Berlin', run: () => {} },
  broken: {
    attempts: 1,
    run: () => {
      throw new Error('it is broken');
    },
  },
};

describe.each(databases)('/api/system/jobs on %s', (database) => {
  let place: Place;
  let server: JobServer;
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { 'X-API-Key': KEY },
  ) => {
    const answer = await fetch(server.url + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  const keyWith = async (...scopes: string[]) => {
    const made = await call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes });
    return { 'X-API-Key': made.body.key as string };
  };

  beforeAll(async () => {
    place = await newDatabase(database);
    server = await startJobs({
      jobs,
      url: place.url,
      env,
      sdl: USER,
      manifest: `name: jobs\nauth: { roles: ${ROLES} }\napi: { rest: true }\n`,
      capabilities: [auth()],
    });
  });
  afterAll(async () => {
    await server?.close();
    await place?.drop();
  });

  it('sends a job, and shows it', async () => {
    const at = '2100-01-01T00:00:00.000Z';
    const body = { name: 'letter', data: { to: 'Ada' }, at, key: 'k' };
    const sent = await call('POST', PATH, body);
    expect(sent).toEqual({
      status: 201,
      body: {
        id: expect.any(Number),
        name: 'letter',
        state: 'waiting',
        attempt: 0,
        attempts: 5,
        at,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        started_at: null,
        finished_at: null,
        error: null,
        data: { to: 'Ada', copies: 1 },
        errors: [],
      },
    });
    expect((await call('POST', PATH, body)).body.id).toBe(sent.body.id);
    expect((await call('GET', `${PATH}/${sent.body.id}`)).body).toEqual(sent.body);
    const stats = [{ name: 'letter', state: 'waiting', count: 1 }];
    const next_at = `${new Date().getUTCFullYear() + 1}-01-01T07:00:00.000Z`;
    const schedules = [{ name: 'yearly', cron: '0 8 1 1 *', timezone: 'Europe/Berlin', next_at }];
    expect((await call('GET', `${PATH}/stats`)).body).toEqual({ stats, schedules });
  });

  it('refuses what is wrong with all that is wrong', async () => {
    expect(await call('POST', PATH, { name: 'lettre' })).toEqual({
      status: 400,
      body: expect.objectContaining({ error: 'There is no job lettre. Did you mean "letter"?' }),
    });
    expect(await call('POST', PATH, { name: 'letter', data: { to: 'x' } })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('to') },
    });
    expect((await call('POST', PATH, { name: 'letter', at: 'soon' })).status).toBe(400);
    expect((await call('POST', PATH, { name: 'letter', more: 1 })).status).toBe(400);
    expect((await call('GET', `${PATH}?state=x`)).status).toBe(400);
    expect((await call('GET', `${PATH}?cursor=x`)).status).toBe(400);
    for (const id of ['99', 'x', '1e9', '9007199254740993'])
      expect((await call('GET', `${PATH}/${id}`)).status).toBe(404);
    expect((await call('POST', `${PATH}/99/retry`)).status).toBe(404);
  });

  it('begins a failed job anew and cancels a waiting one, and answers 409 in another state', async () => {
    const { body } = await call('POST', PATH, { name: 'broken' });
    const state = async () => (await call('GET', `${PATH}/${body.id}`)).body.state;
    await expect.poll(state).toBe('failed');
    expect((await call('POST', `${PATH}/${body.id}/cancel`)).status).toBe(409);
    expect(await call('POST', `${PATH}/${body.id}/retry`)).toMatchObject({ status: 200 });
    await expect.poll(state).toBe('failed');
    expect((await call('GET', `${PATH}/${body.id}`)).body).toMatchObject({
      attempt: 1,
      error: 'it is broken',
      errors: [{ attempt: 1 }, { attempt: 1 }],
    });
    const later = await call('POST', PATH, {
      name: 'letter',
      data: { to: 'Eve' },
      at: '2100-01-01T00:00:00Z',
    });
    const path = `${PATH}/${later.body.id}`;
    expect((await call('POST', `${path}/retry`)).status).toBe(409);
    expect(await call('POST', `${path}/cancel`)).toMatchObject({
      status: 200,
      body: { state: 'cancelled' },
    });
  });

  it('lists by state and name in pages, the newest first', async () => {
    const ids = await server.ctx.jobs.sendMany(
      'letter',
      Array.from({ length: 5 }, () => ({ to: 'Ada' })),
      { delay: '1h', priority: 3 },
    );
    const first = await call('GET', `${PATH}?state=waiting&name=letter&limit=3`);
    expect(first.body).toMatchObject({ total: 6, next_cursor: String(ids[2]) });
    expect(first.body.jobs.map(({ id }: any) => id)).toEqual([ids[4], ids[3], ids[2]]);
    expect(first.body.jobs[0]).not.toHaveProperty('data');
    const next = await call(
      'GET',
      `${PATH}?state=waiting&name=letter&limit=3&cursor=${first.body.next_cursor}`,
    );
    expect(next.body).toMatchObject({ total: 6, next_cursor: null });
    expect(next.body.jobs).toHaveLength(3);
  });

  it('needs jobs:read and jobs:write, of a key or of a user', async () => {
    expect((await call('GET', PATH, undefined, {})).status).toBe(401);
    const reader = await keyWith('jobs:read');
    expect((await call('GET', PATH, undefined, reader)).status).toBe(200);
    expect((await call('POST', PATH, { name: 'broken' }, reader)).status).toBe(403);
    const other = await keyWith('posts:read');
    expect((await call('GET', PATH, undefined, other)).status).toBe(403);
    const account = { email: 'ada@x.test', password: 'correct horse battery 7' };
    await call('POST', '/api/auth/register', account);
    const bearer = async () => {
      const { body } = await call('POST', '/api/auth/login', account);
      return { Authorization: `Bearer ${body.accessToken}` };
    };
    expect((await call('GET', PATH, undefined, await bearer())).status).toBe(403);
    const roles = await call('GET', '/api/auth/admin/roles');
    const member = roles.body.roles.find(({ name }: any) => name === 'Member').id;
    await call('PUT', `/api/auth/admin/roles/${member}/permissions/jobs:read`);
    expect((await call('GET', PATH, undefined, await bearer())).status).toBe(200);
    expect((await call('POST', PATH, { name: 'broken' }, await bearer())).status).toBe(403);
  });

  it('stands in /api/openapi.json', async () => {
    const { body } = await call('GET', '/api/openapi.json');
    const paths = Object.keys(body.paths).filter((path) => path.startsWith(PATH));
    expect(paths).toEqual(
      [PATH, `${PATH}/stats`, `${PATH}/{id}`, `${PATH}/{id}/cancel`, `${PATH}/{id}/retry`].sort(),
    );
    expect(body.paths[PATH].post.security).toEqual([{ bearer: [] }, { api_key: [] }]);
  });
});

describe('a server', () => {
  it('has no API for jobs without auth', async () => {
    const server = await startJobs({ jobs, url: ':memory:' });
    expect((await fetch(server.url + PATH)).status).toBe(404);
    await server.close();
  });

  it('has no table, and no route, without jobs', async () => {
    const server = await startJobs({
      jobs: {},
      url: ':memory:',
      sdl: USER,
      env,
      manifest: `name: jobs\nauth: { roles: ${ROLES} }\napi: { rest: true }\n`,
      capabilities: [auth()],
    });
    const tables = await server.rows(
      `select name from sqlite_schema where name like 'twofold_job%'`,
    );
    expect(tables).toEqual([]);
    const headers = { 'X-API-Key': KEY };
    expect((await fetch(server.url + PATH, { headers })).status).toBe(404);
    const document = await (await fetch(`${server.url}/api/openapi.json`)).text();
    expect(document).not.toContain(PATH);
    await expect(async () => server.ctx.jobs.send('x')).rejects.toThrow('ctx.jobs is not there');
    await server.close();
  });

  it('with JOBS=off sends jobs and runs none; with only it runs them and serves its health', async () => {
    const place = await newDatabase('sqlite');
    const common = { jobs, url: place.url, capabilities: [] };
    const sender = await startJobs({ ...common, env: { JOBS: 'off' } });
    const id = await sender.ctx.jobs.send('letter', { to: 'Ada' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await sender.ctx.jobs.get(id))?.state).toBe('waiting');
    const runner = await startJobs({ ...common, env: { JOBS: 'only' } });
    await expect.poll(async () => (await sender.ctx.jobs.get(id))?.state).toBe('done');
    expect((await fetch(`${runner.url}/api/health`)).status).toBe(200);
    const asked = { method: 'POST', body: '{"query":"{ notes { id } }"}' };
    expect((await fetch(`${runner.url}/graphql`, asked)).status).toBe(404);
    expect((await fetch(`${sender.url}/api/health`)).status).toBe(200);
    await runner.close();
    await sender.close();
    await expect(startJobs({ ...common, env: { JOBS: 'maybe' } })).rejects.toThrow(
      'JOBS must be on, off or only',
    );
    await expect(startJobs({ ...common, jobs: {}, env: { JOBS: 'only' } })).rejects.toThrow(
      'JOBS is only, and there is no file in src/jobs',
    );
    await place.drop();
  });
});
