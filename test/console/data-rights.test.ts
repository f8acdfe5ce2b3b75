import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { type ConsoleServer, GOOD, OPERATOR, startConsole } from './server.ts';

const SDL = `
  type User { id: ID! email: String! @unique nickname: String company: Company @relation(onDelete: CASCADE) tags: [Tag!]! groups: [Group!]! }
  type Company { id: ID! name: String! group: Group @relation(onDelete: CASCADE) }
  type Group { id: ID! name: String! members: [User!]! }
  type Tag { id: ID! name: String! users: [User!]! }
  type Query { tags: [Tag!]! }
`;

/** Keeper may change every row, and manages nobody. */
const MANIFEST = `
name: shop
api: { rest: true }
auth:
  roles: { list: [Owner, Manager, Keeper, Member], first: Owner, default: Member }
  organizations: { type: Group, create: admin }
console:
  roles: { Owner: ["*"], Manager: ["data:*", "auth:manage"], Keeper: ["data:read", "data:write"] }
`;
const ADMIN = '/api/auth/admin';

describe.each(databases)('users and their rights through /api/data on %s', (database) => {
  let server: ConsoleServer;
  let own: TestDatabase;
  const as: Record<string, Record<string, string>> = {};
  const ids: Record<string, string> = {};
  const call = (who: string, method: string, path: string, body?: unknown, headers = {}) =>
    server.call(method, path, body, { ...as[who], ...headers });
  const sign = async (name: string) => {
    const user = { email: `${name}@x.test`, password: GOOD };
    const { body } = await server.call('POST', '/api/auth/login', user);
    as[name] = { Authorization: `Bearer ${body.accessToken}` };
    ids[name] = String(body.id);
  };
  beforeAll(async () => {
    own =
      database === 'postgres' ? await createDatabase() : { url: ':memory:', drop: async () => {} };
    server = await startConsole({ sdl: SDL, manifest: MANIFEST, env: { DATABASE_URL: own.url } });
    const token = 'setup-of-the-console-0123456789abcdef';
    await server.call('POST', '/api/auth/setup', { token, email: 'owner@x.test', password: GOOD });
    await sign('owner');
    const { roles } = (await call('owner', 'GET', `${ADMIN}/roles`)).body;
    const give = async (name: string, role: string) => {
      await server.call('POST', '/api/auth/register', { email: `${name}@x.test`, password: GOOD });
      await sign(name);
      const { id: role_id } = roles.find((each: { name: string }) => each.name === role);
      await call('owner', 'PUT', `${ADMIN}/users/${ids[name]}/role`, { role_id });
      await sign(name);
    };
    for (const name of ['second', 'manager', 'keeper', 'member', 'other'])
      await give(name, { second: 'Owner', manager: 'Manager', keeper: 'Keeper' }[name] ?? 'Member');
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    as['host'] = { Authorization: `Bearer ${body.token}` };
  });
  afterAll(async () => {
    await server?.close();
    await own?.drop();
  });

  it('are those of the management of users: who holds more can neither be changed nor deleted', async () => {
    const refused = { error: 'Forbidden' };
    const routes = await call('manager', 'DELETE', `${ADMIN}/users/${ids['second']}`);
    expect([routes.status, routes.body]).toEqual([403, refused]);
    for (const [who, of] of [
      ['keeper', 'second'],
      ['keeper', 'manager'],
      ['manager', 'second'],
    ] as const) {
      const path = `/api/data/users/${ids[of]}`;
      for (const answer of [
        await call(who, 'DELETE', path),
        await call(who, 'PATCH', path, { nickname: 'boss' }),
        await call(who, 'PUT', path, { tagIds: [] }),
        await call(who, 'DELETE', path, undefined, { 'If-Match': '*' }),
      ])
        expect([who, of, answer.status, answer.body]).toEqual([who, of, 403, refused]);
      expect((await call('host', 'GET', path)).body.nickname).toBe(null);
    }
  });

  it('let somebody be changed and deleted who holds no more, as the routes do', async () => {
    const path = `/api/data/users/${ids['member']}`;
    expect((await call('keeper', 'PATCH', path, { nickname: 'm' })).status).toBe(200);
    expect((await call('keeper', 'DELETE', path)).status).toBe(204);
    expect((await call('member', 'GET', '/api/auth/me')).status).toBe(401);
    const events = await call('owner', 'GET', `${ADMIN}/security-events?type=user.deleted`);
    expect(events.body.events).toMatchObject([
      { actor: { kind: 'user', id: Number(ids['keeper']) } },
    ]);
  });

  it('keep the last owner, with the words of the management', async () => {
    expect((await call('host', 'DELETE', `/api/data/users/${ids['second']}`)).status).toBe(204);
    const last = await call('host', 'DELETE', `/api/data/users/${ids['owner']}`);
    const route = await call('host', 'DELETE', `${ADMIN}/users/${ids['owner']}`);
    expect([last.status, last.body]).toEqual([route.status, route.body]);
    expect(route.status).toBe(409);
  });

  it('are not passed by rows that take users along, whatever is between', async () => {
    const make = async (path: string, body: object) =>
      (await call('host', 'POST', path, body)).body.id as string;
    const group = await make('/api/data/groups', { name: 'g' });
    const company = await make('/api/data/companies', { name: 'c', groupId: group });
    const place = `/api/data/users/${ids['manager']}`;
    await call('host', 'PATCH', place, { companyId: company });
    await call('host', 'PATCH', `/api/data/users/${ids['other']}`, { companyId: company });
    for (const path of [`/api/data/companies/${company}`, `/api/data/groups/${group}`]) {
      expect([path, (await call('keeper', 'DELETE', path)).status]).toEqual([path, 403]);
      expect((await call('host', 'GET', place)).body.companyId).toBe(company);
      expect((await call('host', 'GET', path)).status).toBe(200);
    }
    await call('host', 'PATCH', place, { companyId: null });
    expect((await call('keeper', 'DELETE', `/api/data/groups/${group}`)).status).toBe(204);
    expect((await call('other', 'GET', '/api/auth/me')).status).toBe(401);
  });

  it('leave an organization to those who may make one', async () => {
    const group = { name: 'mine' };
    expect((await call('keeper', 'POST', '/api/auth/organizations', group)).status).toBe(403);
    expect((await call('keeper', 'POST', '/api/data/groups', group)).status).toBe(403);
    expect((await call('manager', 'POST', '/api/data/groups', group)).status).toBe(201);
    expect((await call('keeper', 'GET', '/api/auth/organizations')).body.total).toBe(0);
  });

  it('have no path to keys, sessions, roles and memberships', async () => {
    const { types } = (await call('host', 'GET', '/api/data')).body;
    expect(types.map(({ name }: { name: string }) => name)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/auth|key|role|session|member/i)]),
    );
    const { tables } = { tables: ['auth_roles', 'auth_api_keys', 'auth_sessions', 'auth_members'] };
    for (const name of [...tables, 'roles', 'api_keys', 'sessions', 'members', 'users/1/role'])
      expect([name, (await call('host', 'GET', `/api/data/${name}`)).status]).toEqual([name, 404]);
    const member = { memberIds: [ids['keeper']] };
    const { id } = (await call('host', 'POST', '/api/data/groups', { name: 'closed' })).body;
    expect((await call('keeper', 'PATCH', `/api/data/groups/${id}`, member)).status).toBe(400);
    const path = `/api/data/users/${ids['keeper']}`;
    for (const field of [
      'email',
      'role',
      'roleId',
      'role_id',
      'password',
      'passwordHash',
      'permissions',
    ])
      expect([field, (await call('keeper', 'PATCH', path, { [field]: '1' })).status]).toEqual([
        ...[field, 400],
      ]);
  });

  it('are the same for a key with data:write', async () => {
    const key = { name: 'k', scopes: ['data:read', 'data:write'] };
    const made = await call('owner', 'POST', `${ADMIN}/api-keys`, key);
    const headers = { 'X-API-Key': made.body.key };
    const path = `/api/data/users/${ids['manager']}`;
    expect((await server.call('DELETE', path, undefined, headers)).status).toBe(403);
    expect((await server.call('GET', path, undefined, headers)).status).toBe(200);
  });
});
