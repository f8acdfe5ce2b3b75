import { afterEach, describe, expect, it } from 'vitest';
import { auth } from '../../runtime/auth/auth.ts';
import type { Plugin } from '../../runtime/core/plugin.ts';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { API_KEY, bearer, GOOD, SECRET } from './server.ts';

const SCHEMA = 'type User { id: ID! email: String! } type Query { users: [User!]! }';
const MANIFEST = 'name: own\nauth: { roles: { list: [Owner, Member], default: Member } }\n';

const routes: NonNullable<Plugin['routes']> = (router) => {
  router.get('/owners', { auth: { roles: ['Owner'] } }, () => 'ok');
  router.get('/reports', { auth: { scope: 'reports:read' } }, () => 'ok');
  router.get('/each', { auth: 'user', limit: '2/1m/user' }, () => 'ok');
};

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(database: 'sqlite' | 'postgres') {
  const made = database === 'postgres' ? await createDatabase() : null;
  if (made) ends.push(made.drop);
  const running = await createServer()
    .schema(SCHEMA, MANIFEST)
    .with(auth())
    .plugin({ name: 'own', routes })
    .start('127.0.0.1:0', {
      env: { DATABASE_URL: made?.url ?? ':memory:', JWT_SECRET: SECRET, API_KEY },
      logTo: { write: () => {} },
    });
  ends.push(() => running.close());
  const call = async (request: string, headers: Record<string, string> = {}, body?: object) => {
    const [method = 'GET', path = ''] = request.split(' ');
    const answer = await fetch(running.url + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json');
    return {
      status: answer.status,
      headers: answer.headers,
      body: isJson ? JSON.parse(text) : text,
    };
  };
  const root = { 'X-API-Key': API_KEY };
  const admin = (request: string, body?: object) => {
    const [method, path] = request.split(' ');
    return call(`${method} /api/auth/admin${path}`, root, body);
  };
  const signedUp = async (email: string, role?: string) => {
    const body = { email, password: GOOD };
    const { id } = (await call('POST /api/auth/register', {}, body)).body;
    const { roles } = (await admin('GET /roles')).body;
    const given = roles.find(({ name }: { name: string }) => name === role);
    if (given) await admin(`PUT /users/${id}/role`, { role_id: given.id });
    return bearer((await call('POST /api/auth/login', {}, body)).body.accessToken);
  };
  const keyWith = async (...scopes: string[]) => {
    const key = await admin('POST /api-keys', { name: scopes.join(), scopes });
    return { 'X-API-Key': key.body.key as string };
  };
  return { call, signedUp, keyWith };
}

describe.each(databases)('own routes and their callers on %s', (database) => {
  it('are for callers with a role: 401 for strangers, 403 for other roles and for keys', async () => {
    const { call, signedUp, keyWith } = await serve(database);
    const [owner, member] = [await signedUp('a@x.test', 'Owner'), await signedUp('b@x.test')];
    expect(await call('GET /owners')).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized' },
    });
    expect((await call('GET /owners', owner)).status).toBe(200);
    for (const caller of [member, await keyWith('*')])
      expect(await call('GET /owners', caller)).toMatchObject({
        status: 403,
        body: { error: 'Forbidden' },
      });
  });

  it('are for callers with a scope: 403 for keys and users without it', async () => {
    const { call, signedUp, keyWith } = await serve(database);
    const asked = async (headers?: Record<string, string>) =>
      (await call('GET /reports', headers)).status;
    expect(await asked()).toBe(401);
    expect(await asked(await signedUp('a@x.test'))).toBe(403);
    expect(await asked(await keyWith('reports:write', 'posts:read'))).toBe(403);
    for (const scope of ['reports:read', 'reports:*', '*:read'])
      expect(await asked(await keyWith(scope))).toBe(200);
  });

  it('count a limit of /user for each user, not for their address', async () => {
    const { call, signedUp } = await serve(database);
    const [ada, bob] = [await signedUp('a@x.test'), await signedUp('b@x.test')];
    for (const caller of [ada, ada, bob])
      expect((await call('GET /each', caller)).status).toBe(200);
    const refused = await call('GET /each', ada);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call('GET /each', bob)).status).toBe(200);
    expect((await call('GET /each', bob)).status).toBe(429);
  });
});
