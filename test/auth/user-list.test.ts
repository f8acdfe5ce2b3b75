import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';
import { fillWithUsers, scansOf } from './many-users.ts';

const ADMIN = '/api/auth/admin';
const ROLES = { list: ['Owner', 'Helper', 'Member'], default: 'Member', first: 'Owner' };

describeEachDatabase('console §4: the list of users', (database) => {
  let server: TestServer;
  const emails = ['cy@x.test', 'Ada@x.test', 'bea@x.test', 'dan@x.test', 'eve@y.test'];
  const admin = (method: string, path: string, headers: Record<string, string> = asRoot) =>
    server.call(method, ADMIN + path, undefined, headers);
  /** All addresses of a list, page by page, and the totals that the pages say. */
  const paged = async (query: string) => {
    const seen: string[] = [];
    const totals = new Set<number>();
    let cursor = '';
    do {
      const { body } = await admin('GET', `/users?limit=2&${query}${cursor}`);
      seen.push(...body.users.map(({ email }: { email: string }) => email.toLowerCase()));
      totals.add(body.total);
      cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : '';
    } while (cursor);
    return [seen.map((email) => email[0]).join(''), ...totals];
  };
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
    for (const email of emails) {
      await server.register(email);
      server.advance(1000);
    }
    // A row that nothing of this module has written: it has neither time.
    await server.kernel.store.db
      .insertInto('users')
      .values({ email: 'zoe@x.test', name: 'Zoe' })
      .execute();
    await server.login('Ada@x.test');
  });
  afterAll(() => server.close());

  it.each([
    ['sort=email', 'abcdez'],
    ['sort=email&order=desc', 'zedcba'],
    ['sort=created_at', 'cabdez'],
    ['sort=created_at&order=desc', 'edbacz'],
    ['sort=last_login', 'cbdeaz'],
    ['sort=last_login&order=desc', 'aedbcz'],
    ['order=desc', 'edbacz'],
    ['', 'cabdez'],
  ])('%s pages in the order %s, each user once, with the total', async (query, order) => {
    expect(await paged(query)).toEqual([order, 6]);
  });

  it('sorts and counts what a search and a filter find', async () => {
    expect(await paged('q=e&sort=email')).toEqual(['e', 1]);
    expect(await paged('role=Member&sort=email&order=desc')).toEqual(['edcba', 5]);
    expect(await paged('q=nobody&sort=created_at')).toEqual(['', 0]);
    await server.register('ed@x.test', { first_name: 'Eddy', username: 'edison' });
    expect(await paged('q=ed&sort=created_at')).toEqual(['e', 1]);
    expect(await paged('q=e&sort=created_at&order=desc')).toEqual(['ee', 2]);
    expect(await paged('q=e')).toEqual(['ee', 2]);
  });

  it('refuses an order that there is not, and a cursor of its own making', async () => {
    for (const query of ['sort=password', 'sort=email&order=up', 'sort=email&cursor=WzAse30sMV0'])
      expect([query, (await admin('GET', `/users?${query}`)).status]).toEqual([query, 400]);
  });

  it('shows when an account was made', async () => {
    const { body } = await admin('GET', '/users?sort=email');
    expect(body.users[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(body.users.at(-1).created_at).toBeNull();
  });

  it('reads indexes, and never all users, for a page of many', async () => {
    await fillWithUsers(server, 20_000);
    const { db } = server.kernel.store;
    const statements = vi.spyOn(db.getExecutor(), 'executeQuery');
    for (const query of [
      'sort=created_at&order=desc',
      'sort=email',
      'sort=last_login&order=desc',
      'q=user777&sort=created_at',
      'q=user&sort=created_at&order=desc',
      'q=nobody&sort=email',
      'role=Owner&sort=created_at&order=desc',
      'role=Member&sort=created_at&order=desc',
      'state=disabled&sort=email',
    ]) {
      statements.mockClear();
      const { status } = await admin('GET', `/users?limit=10&${query}`);
      expect([query, status]).toEqual([query, 200]);
      const asked = statements.mock.calls
        .map(([statement]) => statement)
        .filter(({ sql }) => /order by .+ limit 11$/s.test(sql));
      expect(asked.length, query).toBeGreaterThan(0);
      expect(await scansOf(server, asked[0]!), query).toEqual([]);
    }
    statements.mockRestore();
  });
});

describeEachDatabase('console §4: the sessions of a user', (database) => {
  let server: TestServer;
  let owner: Record<string, string>;
  let ownerId: number;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
    ownerId = (await server.register('owner@x.test')).body.id;
    await server.call('PUT', `${ADMIN}/users/${ownerId}/role`, { role_id: 1 }, asRoot);
    owner = bearer((await server.login('owner@x.test')).body.accessToken);
  });
  afterAll(() => server.close());

  const keyWith = async (scopes: readonly string[]) => {
    const { body } = await server.call('POST', `${ADMIN}/api-keys`, { name: 'k', scopes }, asRoot);
    return { 'X-API-Key': body.key as string };
  };

  it('are listed with their client, and end one by one', async () => {
    const { id } = (await server.register('sid@x.test')).body;
    const { body: login } = await server.login('sid@x.test', undefined, { 'User-Agent': '<b>x' });
    const path = `${ADMIN}/users/${id}/sessions`;
    const listed = await server.call('GET', path, undefined, owner);
    expect([listed.status, listed.body.total]).toEqual([200, 2]);
    expect(listed.body.sessions[0]).toMatchObject({
      client: null,
      user_agent: '<b>x',
      current: false,
    });
    const sid = listed.body.sessions[0].id;
    expect((await server.call('DELETE', `${path}/${sid}`, undefined, owner)).status).toBe(204);
    const me = await server.call('GET', '/api/auth/me', undefined, bearer(login.accessToken));
    expect(me.status).toBe(401);
    const twice = await server.call('DELETE', `${path}/${sid}`, undefined, owner);
    expect([twice.status, twice.text]).toEqual([404, '{"error":"Session not found"}']);
    expect((await server.events('auth.session_ended')).at(-1)).toMatchObject({
      user_id: id,
      actor: { kind: 'user', id: ownerId },
    });
    expect((await server.call('GET', path, undefined, owner)).body.total).toBe(1);
  });

  it('are read with auth:read, and ended with auth:manage by who holds as much', async () => {
    const reads = await keyWith(['auth:read']);
    const manages = await keyWith(['auth:manage']);
    const path = `${ADMIN}/users/${ownerId}/sessions`;
    const sid = (await server.call('GET', path, undefined, reads)).body.sessions[0].id;
    const ended = (headers: Record<string, string>) =>
      server.call('DELETE', `${path}/${sid}`, undefined, headers);
    expect((await ended(reads)).status).toBe(403);
    expect((await ended(manages)).status).toBe(403);
    expect((await ended({})).status).toBe(401);
    expect((await server.call('GET', path)).status).toBe(401);
    expect((await server.call('GET', path, undefined, owner)).body.total).toBeGreaterThan(0);
  });

  it('of another user are not found below a user', async () => {
    const { id } = (await server.register('other@x.test')).body;
    const { sessions } = (
      await server.call('GET', `${ADMIN}/users/${ownerId}/sessions`, undefined, owner)
    ).body;
    const path = `${ADMIN}/users/${id}/sessions/${sessions[0].id}`;
    expect((await server.call('DELETE', path, undefined, owner)).status).toBe(404);
    for (const unknown of ['999999', 'x', '%00'])
      expect(
        (await server.call('GET', `${ADMIN}/users/${unknown}/sessions`, undefined, owner)).status,
      ).toBe(404);
  });
});

describeEachDatabase('an administrator and their own account', (database) => {
  let server: TestServer;
  let id: number;
  let owner: Record<string, string>;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, auth: { roles: ROLES } });
    id = (await server.register('owner@x.test')).body.id;
    await server.register('helper@x.test');
    await server.call('PUT', `${ADMIN}/users/${id}/role`, { role_id: 1 }, asRoot);
    owner = bearer((await server.login('owner@x.test')).body.accessToken);
  });
  afterAll(() => server.close());

  it('they change it only with a proof, as they would as its owner', async () => {
    const act = (method: string, path: string, body?: unknown) =>
      server.call(method, `${ADMIN}${path}`, body, owner);
    server.advance(6 * 60_000);
    const key = { name: 'k', scopes: ['*'], user_id: id };
    for (const refused of [
      await act('DELETE', `/users/${id}/second-factor`),
      await act('DELETE', `/users/${id}/sessions`),
      await act('DELETE', `/users/${id}`),
      await act('POST', `/users/${id}/disable`),
      await act('POST', '/api-keys', key),
    ])
      expect([refused.status, refused.body.error]).toEqual([403, 'Reauthentication required']);
    const other = { name: 'k', scopes: ['users:read'], user_id: id + 1 };
    expect((await act('POST', '/api-keys', other)).status).toBe(201);
    expect((await act('POST', `/users/${id + 1}/disable`)).status).toBe(200);
    expect((await act('POST', `/users/${id + 1}/enable`)).status).toBe(200);
    const { body } = await server.call(
      'POST',
      '/api/auth/reauthenticate',
      { password: GOOD },
      owner,
    );
    owner = bearer(body.accessToken);
    expect((await act('POST', '/api-keys', key)).status).toBe(201);
  });

  it('users show what they may do, roles what they give and how many have them', async () => {
    const { body: user } = await server.call('GET', `${ADMIN}/users/${id}`, undefined, asRoot);
    expect(user.permissions).toEqual(['*']);
    const { body } = await server.call('GET', `${ADMIN}/roles`, undefined, asRoot);
    expect(body.roles[0]).toEqual({
      id: 1,
      name: 'Owner',
      is_system: true,
      permissions: ['*'],
      application_permissions: [],
      users: 1,
    });
    expect(body.roles[2].users).toBe(1);
  });

  it('keys are listed by the user for whom they act', async () => {
    const of = async (user: unknown) =>
      server.call('GET', `${ADMIN}/api-keys?user_id=${user}`, undefined, asRoot);
    expect((await of(id)).body.total).toBe(1);
    expect((await of(999)).body.total).toBe(0);
    const uuid = '018f4f5e-7d1c-7a3b-8a3c-0123456789ab';
    for (const wrong of ['x', '', uuid]) expect((await of(wrong)).status).toBe(400);
    const events = `${ADMIN}/security-events?user_id=${uuid}`;
    expect((await server.call('GET', events, undefined, asRoot)).status).toBe(400);
  });
});
