import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openapiDocument, projectRoutes } from '@twofold/schema';
import { auth } from '@twofold/auth';
import { createServer, type Running } from '@twofold/runtime';
import { flowsFor } from '../capabilities.ts';
import { createDatabase, type TestDatabase } from '../engines/available.ts';
import { databases, projectOf } from './harness.ts';

const API_KEY = 'root-key-of-the-tests-0123456789';
const sdl = `
type User { id: ID! name: String! email: String! @unique }
type Post @auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER], owner: "author", on: [CREATE, UPDATE, DELETE]) { id: ID! title: String! author: User! }
type Task { id: ID! title: String! }
type Query { posts: [Post!]! post(id: ID!): Post tasks: [Task!]! task(id: ID!): Task users: [User!]! }
type Mutation { createPost(title: String!): Post! updatePost(id: ID!, title: String): Post createTask(title: String!): Task! }`;
const manifest =
  'name: shop\napi: { rest: true }\nserver: { cors: ["https://app.test"] }\nauth:\n  routes: { "POST /api/tasks": { limit: 2/1m/user } }\n';

describe.each(databases)('REST in a whole server on %s', (database) => {
  const project = projectOf(sdl, manifest);
  let running: Running;
  let own: TestDatabase;
  let token: string;
  let other: string;
  beforeAll(async () => {
    own =
      database === 'postgres' ? await createDatabase() : { url: ':memory:', drop: async () => {} };
    const server = createServer({
      capabilities: [auth()],
      project,
      routes: (router) =>
        void router
          .get('/api/posts/export', (ctx) => void (ctx.body = 'all of them'))
          .get('/api/reports', (ctx) => void (ctx.body = 'mine')),
    });
    running = await server.start('127.0.0.1:0', {
      env: {
        DATABASE_URL: own.url,
        LOG_LEVEL: 'silent',
        JWT_SECRET: 'a test secret that is long enough to be one',
        API_KEY,
      },
    });
    token = await register('ada@x.test');
    other = await register('bob@x.test');
  });
  afterAll(async () => {
    await running.close();
    await own.drop();
  });

  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(running.url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null,
    };
  };
  const register = async (email: string): Promise<string> =>
    (
      await call('POST', '/api/auth/register', {
        name: email,
        email,
        password: 'correct horse battery staple',
      })
    ).body.accessToken;
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

  it('takes a bearer token', async () => {
    expect((await call('GET', '/api/tasks')).body).toEqual({ error: 'Unauthorized' });
    expect((await call('GET', '/api/tasks')).status).toBe(401);
    expect((await call('GET', '/api/tasks', undefined, bearer(token))).body.data).toEqual([]);
    expect((await call('GET', '/api/tasks', undefined, bearer(`${token}x`))).status).toBe(401);
    expect((await call('GET', '/api/posts')).status).toBe(200);
  });

  it('takes an API key, as far as its scopes go', async () => {
    expect((await call('GET', '/api/tasks', undefined, { 'x-api-key': API_KEY })).status).toBe(200);
    expect((await call('GET', '/api/tasks', undefined, { 'x-api-key': 'wrong' })).body).toEqual({
      error: 'Invalid API key',
    });
    const made = await call(
      'POST',
      '/api/auth/admin/api-keys',
      { name: 'reader', scopes: ['tasks:read'] },
      { 'x-api-key': API_KEY },
    );
    expect(made.status).toBe(201);
    const key = { 'x-api-key': made.body.key as string };
    expect((await call('GET', '/api/tasks', undefined, key)).status).toBe(200);
    expect((await call('POST', '/api/tasks', { title: 'x' }, key)).status).toBe(403);
    expect((await call('GET', '/api/users', undefined, key)).status).toBe(403);
  });

  it('makes the caller the owner, and lets no other change the row', async () => {
    const made = await call('POST', '/api/posts', { title: 'mine' }, bearer(token));
    expect([made.status, made.headers.get('location')]).toEqual([201, '/api/posts/1']);
    expect(
      (await call('GET', '/api/posts/1?include=author', undefined, bearer(other))).body.author.name,
    ).toBe('ada@x.test');
    expect((await call('PATCH', '/api/posts/1', { title: 'stolen' }, bearer(other))).body).toEqual({
      error: 'Forbidden',
    });
    expect(
      (await call('PATCH', '/api/posts/1', { title: 'still mine' }, bearer(token))).body.title,
    ).toBe('still mine');
    expect(
      (await call('GET', '/api/users?fields=password_hash', undefined, bearer(token))).status,
    ).toBe(400);
  });

  it("lets no cache keep for one what is another's", async () => {
    for (const path of ['/api/posts/99', '/api/tasks'])
      expect((await call('GET', path)).headers.get('cache-control')).toBe('no-store');
    // A list is CSV or JSON by `Accept`.
    const vary = 'Origin, Authorization, X-API-Key';
    const pages = [
      ['/api/posts', `${vary}, Accept`],
      ['/api/posts/1', vary],
    ] as const;
    for (const [path, said] of pages) {
      const { headers } = await call('GET', path, undefined, { origin: 'https://app.test' });
      expect([path, headers.get('cache-control'), headers.get('vary')]).toEqual([
        path,
        'private',
        said,
      ]);
      expect(headers.get('access-control-allow-origin')).toBe('https://app.test');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('counts calls where the manifest says so', async () => {
    const statuses = [];
    for (let index = 0; index < 3; index++)
      statuses.push(
        (await call('POST', '/api/tasks', { title: `t${index}` }, bearer(token))).status,
      );
    expect(statuses).toEqual([201, 201, 429]);
  });

  it("leaves paths that are no module's to others", async () => {
    expect((await call('GET', '/api/posts/export')).text).toBe('all of them');
    expect((await call('GET', '/api/reports')).text).toBe('mine');
    expect((await call('GET', '/api/posts/nothing')).body).toEqual({ error: 'Invalid id format' });
    expect((await call('GET', '/api/health')).status).toBe(200);
    expect((await call('GET', '/api/nope')).body).toEqual({ error: 'Not found' });
  });

  it('serves its document, with an ETag', async () => {
    const { status, body, headers } = await call('GET', '/api/openapi.json');
    expect(status).toBe(200);
    const { paths, tags, ...rest } = JSON.parse(
      JSON.stringify(openapiDocument(project, undefined, { flows: flowsFor(project) })),
    );
    expect(body).toMatchObject({ ...rest, tags: [...tags, { name: 'routes' }] });
    for (const path of Object.keys(paths)) expect(body.paths[path]).toEqual(paths[path]);
    expect(
      (
        await call('GET', '/api/openapi.json', undefined, {
          'if-none-match': headers.get('etag') as string,
        })
      ).status,
    ).toBe(304);
  });

  it('answers every call of its document, and says 404 or 405 to any other', async () => {
    const routes = projectRoutes(project);
    for (const { method, path } of routes) {
      const { status, body } = await call(
        method,
        path.replace(/[:*]\w+/g, '7'),
        method === 'GET' || method === 'DELETE' ? undefined : {},
      );
      expect([method, path, status, body?.error]).not.toEqual([method, path, 404, 'Not found']);
      expect([method, path, status]).not.toEqual([method, path, 405]);
    }
    const told = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    for (const path of new Set(
      routes
        .map((route) => route.path)
        .filter((candidate) => /^\/api\/(posts|tasks|users)/.test(candidate)),
    )) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (!told.has(`${method} ${path}`))
          expect([method, path, (await call(method, path.replace(':id', '7'))).status]).toEqual([
            method,
            path,
            405,
          ]);
      }
    }
  });

  it('has a page for people, without a script or a request to elsewhere', async () => {
    const { status, text, headers } = await call('GET', '/api', undefined, { accept: 'text/html' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const { path } of projectRoutes(project))
      expect(text).toContain(path.replace(/[:*](\w+)/g, '{$1}'));
    expect(text).not.toMatch(/<script|https?:\/\/|@import|url\(/i);
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect((await call('GET', '/api', undefined, { accept: 'application/json' })).status).toBe(406);
  });

  it('shows a title of any letters as text', async () => {
    const plain = projectOf(
      'type A { id: ID! } type Query { as: [A!]! }',
      'name: x\napi: { rest: true }\n',
    );
    const server = createServer({ project: { ...plain, name: '<b>Mine</b>' } });
    const named = await server.start('127.0.0.1:0', {
      env: { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' },
    });
    expect(await (await fetch(`${named.url}/api/openapi.json`)).json()).toMatchObject({
      info: { title: '<b>Mine</b>' },
    });
    expect(await (await fetch(`${named.url}/api`)).text()).toContain('&lt;b&gt;Mine&lt;/b&gt;');
    await named.close();
  });
});
