import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { enableDue } from '../../runtime/auth/setup/retention.ts';
import { createEvents } from '../../runtime/auth/events/events.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';
import { startMailbox } from './mailbox.ts';
import { fillWithUsers, scansOf } from './many-users.ts';

const ADMIN = '/api/auth/admin';
const eventsOf = ({ kernel }: TestServer) => createEvents(kernel, {}, async () => {});
const ROLES = { list: ['Owner', 'Helper', 'Member'], default: 'Member', first: 'Owner' };
const FORBIDDEN = '{"error":"Forbidden"}';
const MINUTE = 60_000;

describeEachDatabase('auth-2 §9 administration', (database) => {
  let server: TestServer;
  let mailbox: Awaited<ReturnType<typeof startMailbox>>;
  let owner: Record<string, any>;
  let asOwner: Record<string, string>;
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({
      database,
      entity: USER,
      auth: { roles: ROLES },
      env: { SMTP_URL: mailbox.url },
    });
    owner = (await server.register('olga@x.test')).body;
    await server.call('PUT', `${ADMIN}/users/${owner['id']}/role`, { role_id: 1 }, asRoot);
    asOwner = bearer((await server.login('olga@x.test')).body.accessToken);
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
  });

  const admin = (method: string, path: string, body?: unknown, headers: object = asRoot) =>
    server.call(method, ADMIN + path, body, headers as Record<string, string>);
  const list = async (query: string) => (await admin('GET', `/users?${query}`)).body;
  const emails = async (query: string) =>
    (await list(query)).users.map(({ email }: { email: string }) => email);

  it('finds users by the start of an e-mail address, username or name, in any case', async () => {
    await server.register('Grace@navy.test', {
      first_name: 'Grace',
      last_name: 'Hopper',
      username: 'amazing',
    });
    await server.register('ada@x.test', { first_name: 'Ada', last_name: 'Lovelace' });
    await server.register('agata@x.test', { name: 'Ágata Ärger', first_name: 'Ágata' });
    for (const q of ['grace@', 'GRACE', 'amaz', 'AMAZING', 'hop', 'Grace Hopper', 'grace h'])
      expect([q, await emails(`q=${encodeURIComponent(q)}`)]).toEqual([q, ['Grace@navy.test']]);
    for (const q of ['ágata', 'Ágata', 'ÁGATA'])
      expect([q, await emails(`q=${encodeURIComponent(q)}`)]).toEqual([q, ['agata@x.test']]);
    for (const q of ['opper', 'race', '%', '_', 'x.test', "'", '\\'])
      expect([q, await emails(`q=${encodeURIComponent(q)}`)]).toEqual([q, []]);
    // Once each, although address, username and name all begin so.
    expect(await emails('q=ada')).toEqual(['ada@x.test']);
    const shown = (await list('q=grace')).users[0];
    expect(shown).toEqual((await admin('GET', `/users/${shown.id}`)).body);
  });

  it('pages through all users and all matches, each once', async () => {
    for (let index = 0; index < 7; index += 1)
      await server.register(`page${index}@x.test`, { last_name: `Page${9 - index}` });
    for (const query of ['', 'q=page&']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const page = await list(`${query}limit=3${cursor && `&cursor=${cursor}`}`);
        expect(page.users.length).toBeLessThanOrEqual(3);
        seen.push(...page.users.map(({ id }: { id: number }) => String(id)));
        cursor = page.next_cursor ?? '';
      } while (cursor);
      expect(new Set(seen).size).toBe(seen.length);
      const all = await list(`${query}limit=200`);
      expect(seen).toEqual(all.users.map(({ id }: { id: number }) => String(id)));
    }
    for (const cursor of ['x', 'AAAA', Buffer.from('[0,"",-1]').toString('base64url')])
      expect((await admin('GET', `/users?cursor=${cursor}`)).status).toBe(400);
    expect((await admin('GET', '/users?limit=201')).status).toBe(400);
    expect((await admin('GET', '/users?state=asleep')).status).toBe(400);
    expect((await admin('GET', '/users?organization=1')).status).toBe(400);
    expect((await admin('GET', '/users', undefined, {})).status).toBe(401);
  });

  it('narrows by role and by state', async () => {
    expect(await emails('role=Owner')).toEqual(['olga@x.test']);
    expect(await emails('role=1')).toEqual(['olga@x.test']);
    expect(await emails('role=Nobody')).toEqual([]);
    const { body: user } = await server.register('state@x.test');
    expect(await emails('q=state@&state=active')).toEqual(['state@x.test']);
    expect(await emails('q=state@&state=unverified')).toEqual(['state@x.test']);
    expect(await emails('state=locked')).toEqual([]);
    for (let count = 0; count < 5; count += 1) await server.login('state@x.test', 'wrong password');
    expect(await emails('state=locked')).toEqual(['state@x.test']);
    await admin('POST', `/users/${user.id}/unlock`);
    expect(await emails('state=locked')).toEqual([]);
    await admin('POST', `/users/${user.id}/disable`);
    expect(await emails('state=disabled')).toEqual(['state@x.test']);
    expect(await emails('q=state@&state=active')).toEqual([]);
    await admin('POST', `/users/${user.id}/enable`);
    const now = Date.now();
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ email_verified_at: now, verified_email: 'state@x.test' })
      .where('user_id', '=', user.id)
      .execute();
    expect(await emails('q=state@&state=unverified')).toEqual([]);
  });

  it('makes an account whose mail has the link that sets the password, good for 24 hours', async () => {
    const made = await admin('POST', '/users', {
      email: 'new@x.test',
      first_name: 'Nora',
      role_id: 2,
    });
    expect([made.status, made.body.email, made.body.role_name, made.body.has_password]).toEqual([
      201,
      'new@x.test',
      'Helper',
      false,
    ]);
    const mail = await mailbox.find('new@x.test', 'reset-password');
    const token = /reset-password\?token=([\w-]+)/.exec(mail.text)![1]!;
    server.advance(23 * 60 * MINUTE);
    const reset = { token, new_password: BETTER };
    expect((await server.call('POST', '/api/auth/reset-password', reset)).status).toBe(200);
    expect((await server.login('new@x.test', BETTER)).status).toBe(200);
    const twice = await admin('POST', '/users', { email: 'NEW@x.test' });
    expect([twice.status, twice.text]).toEqual([409, '{"error":"User already exists"}']);
    expect((await admin('POST', '/users', { email: 'no address' })).status).toBe(400);
    expect((await admin('POST', '/users', { email: 'r@x.test', role_id: 99 })).status).toBe(404);
    expect(await emails('q=r@x.test')).toEqual([]);
    asOwner = bearer((await server.login('olga@x.test')).body.accessToken);
  });

  it('disables until a time; then the user is enabled by itself', async () => {
    const { body: user } = await server.register('until@x.test');
    const { body: key } = await server.call(
      'POST',
      '/api/auth/api-keys',
      { name: 'mine', scopes: ['users:read'] },
      bearer(user.accessToken),
    );
    expect(key.key).toMatch(/^gk_/);
    const at = (minutes: number) => new Date(server.kernel.now() + minutes * MINUTE).toISOString();
    for (const until of [at(-1), 'tomorrow', '12'])
      expect((await admin('POST', `/users/${user.id}/disable`, { until })).status).toBe(400);
    const until = at(60);
    const disabled = await admin('POST', `/users/${user.id}/disable`, { reason: 'Spam', until });
    expect(disabled.status).toBe(200);
    const shown = (await admin('GET', `/users/${user.id}`)).body;
    expect([shown.disabled, shown.disabled_reason, shown.disabled_until]).toEqual([
      true,
      'Spam',
      until,
    ]);
    const refused = await server.login('until@x.test');
    expect([refused.status, refused.text]).toEqual([403, '{"error":"Account disabled"}']);
    expect((await server.events('user.disabled')).at(-1)).toMatchObject({
      user_id: user.id,
      data: { reason: 'Spam', until },
    });
    server.advance(61 * MINUTE);
    const again = await server.login('until@x.test');
    expect(again.status).toBe(200);
    const me = await server.call('GET', '/api/auth/me', undefined, bearer(again.body.accessToken));
    expect(me.status).toBe(200);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(user.accessToken))).status,
    ).toBe(401);
    expect((await admin('GET', `/users/${user.id}`)).body).toMatchObject({
      disabled: false,
      disabled_until: null,
      disabled_reason: null,
    });
    asOwner = bearer((await server.login('olga@x.test')).body.accessToken);
  });

  it('notes who was enabled by itself, and lets them be an owner again', async () => {
    const { body: user } = await server.register('due@x.test');
    await admin('PUT', `/users/${user.id}/role`, { role_id: 1 });
    const until = new Date(server.kernel.now() + MINUTE).toISOString();
    await admin('POST', `/users/${user.id}/disable`, { until });
    const { db } = server.kernel.store;
    await db
      .updateTable('auth_users')
      .set({ disabled_until: 1 })
      .where('user_id', '=', user.id)
      .execute();
    await enableDue({ now: server.kernel.now, events: eventsOf(server) });
    const enabled = async () =>
      (await server.events('user.enabled')).filter(({ user_id }) => user_id === user.id);
    expect((await enabled()).map(({ actor }) => actor.kind)).toEqual(['system']);
    expect(
      (
        await db
          .selectFrom('auth_users')
          .select('disabled_at')
          .where('user_id', '=', user.id)
          .execute()
      )[0],
    ).toEqual({ disabled_at: null });
    await enableDue({ now: server.kernel.now, events: eventsOf(server) });
    expect(await enabled()).toHaveLength(1);
    await admin('PUT', `/users/${user.id}/role`, { role_id: 3 });
  });

  it('restores an account that its owner has deleted, during the grace', async () => {
    const { body: user } = await server.register('gone@x.test');
    const restore = () => admin('POST', `/users/${user.id}/restore`);
    expect((await restore()).status).toBe(409);
    const deleted = await server.call(
      'DELETE',
      '/api/auth/me',
      undefined,
      bearer(user.accessToken),
    );
    expect(deleted.status).toBe(200);
    expect(await emails('state=deleted')).toEqual(['gone@x.test']);
    expect(await emails('q=gone&state=active')).toEqual([]);
    expect((await admin('GET', `/users/${user.id}`)).body.deletion_at).toBe(
      deleted.body.deletion_at,
    );
    expect((await restore()).status).toBe(200);
    expect((await server.login('gone@x.test')).status).toBe(200);
    expect(await emails('state=deleted')).toEqual([]);
  });

  const impersonate = (id: unknown, headers: object = asOwner, reason = 'Ticket 7') =>
    admin('POST', `/users/${String(id)}/impersonate`, { reason }, headers);

  it('impersonation shows: in the session, the token, the mail, the events; it lasts for its ttl', async () => {
    const { body: user } = await server.register('ann@x.test');
    const acting = await impersonate(user.id);
    expect([acting.status, acting.body.id, acting.body.impersonated_by]).toEqual([
      200,
      user.id,
      owner['id'],
    ]);
    expect(acting.body.refreshToken).toBeUndefined();
    const seconds = acting.body.exp - server.kernel.now() / 1000;
    expect(seconds).toBeGreaterThan(890);
    expect(seconds).toBeLessThanOrEqual(900);
    const claims = JSON.parse(
      Buffer.from(acting.body.accessToken.split('.')[1], 'base64url').toString(),
    );
    expect(claims).toMatchObject({ user_id: user.id, impersonated_by: owner['id'] });
    const as = bearer(acting.body.accessToken);
    expect((await server.call('GET', '/api/auth/me', undefined, as)).body.email).toBe('ann@x.test');
    const sessions = (
      await server.call('GET', '/api/auth/sessions', undefined, bearer(user.accessToken))
    ).body.sessions;
    expect(
      sessions
        .map(({ impersonated_by, auth_method }: any) => [auth_method, impersonated_by])
        .sort(),
    ).toEqual([
      ['impersonation', owner['id']],
      ['register', null],
    ]);
    const mail = await mailbox.find('ann@x.test', 'An administrator of Testshop signed in');
    expect(mail.text).toContain('Ticket 7');
    expect((await server.events('user.impersonated')).at(-1)).toMatchObject({
      user_id: user.id,
      actor: { kind: 'user', id: owner['id'] },
      data: { reason: 'Ticket 7' },
    });
    await server.call('POST', '/api/auth/logout', {}, as);
    expect((await server.events('auth.logout')).at(-1)).toMatchObject({
      user_id: user.id,
      actor: { kind: 'user', id: owner['id'] },
    });
    const later = bearer((await impersonate(user.id)).body.accessToken);
    server.advance(16 * MINUTE);
    expect((await server.call('GET', '/api/auth/me', undefined, later)).status).toBe(401);
    asOwner = bearer((await server.login('olga@x.test')).body.accessToken);
  });

  it('whatever needs proof is 403 within it, and it leads to no third user', async () => {
    const { body: user } = await server.register('bea@x.test');
    await admin('PUT', `/users/${user.id}/role`, { role_id: 1 });
    const as = bearer((await impersonate(user.id)).body.accessToken);
    const third = await impersonate(owner['id'], as);
    expect([third.status, third.text]).toEqual([403, '{"error":"Reauthentication required"}']);
    for (const [method, path, body] of [
      ['POST', '/api-keys', { name: 'k', scopes: ['users:read'] }],
      ['POST', '/passkeys/options', {}],
      ['DELETE', '/passkeys/x', undefined],
      ['POST', '/change-email', { email: 'evil@x.test' }],
      ['DELETE', '/identities/google', undefined],
      ['POST', '/link', { provider: 'google' }],
    ] as const) {
      const answer = await server.call(method, `/api/auth${path}`, body, as);
      expect([path, answer.status, answer.text]).toEqual([
        path,
        403,
        '{"error":"Reauthentication required"}',
      ]);
    }
    const again = await server.call('POST', '/api/auth/reauthenticate', { password: GOOD }, as);
    expect(again.status).toBe(403);
  });

  it('is for a signed-in person with proof and auth:impersonate, which auth:manage does not include', async () => {
    const [{ body: user }, { body: helper }] = [
      await server.register(),
      await server.register('helper@x.test'),
    ];
    await admin('PUT', `/users/${helper.id}/role`, { role_id: 2 });
    await admin('PUT', '/roles/2/permissions/auth:manage');
    const signedIn = async () => bearer((await server.login('helper@x.test')).body.accessToken);
    expect((await impersonate(user.id, await signedIn())).text).toBe(FORBIDDEN);
    expect((await impersonate(user.id, asRoot)).text).toBe(FORBIDDEN);
    expect((await impersonate(user.id, { ...asRoot, ...(await signedIn()) })).text).toBe(FORBIDDEN);
    await admin('PUT', '/roles/2/permissions/auth:impersonate');
    const as = await signedIn();
    expect((await impersonate(user.id, as)).status).toBe(200);
    expect((await impersonate(user.id, as, ' ')).status).toBe(400);
    // The owner holds more, oneself needs no help, and who is disabled acts for nobody.
    for (const id of [owner['id'], helper.id])
      expect((await impersonate(id, as)).text).toBe(FORBIDDEN);
    await admin('POST', `/users/${user.id}/disable`);
    expect((await impersonate(user.id, as)).text).toBe(FORBIDDEN);
    await admin('POST', `/users/${user.id}/enable`);
    expect((await impersonate(999_999, as)).status).toBe(404);
    const acting = bearer((await impersonate(user.id, as)).body.accessToken);
    await admin('PUT', `/users/${helper.id}/role`, { role_id: 3 });
    expect((await server.call('GET', '/api/auth/me', undefined, acting)).status).toBe(401);
    await admin('PUT', `/users/${helper.id}/role`, { role_id: 2 });
    server.advance(6 * MINUTE);
    const fresh = await signedIn();
    const open = bearer((await impersonate(user.id, fresh)).body.accessToken);
    await admin('POST', `/users/${helper.id}/disable`);
    expect((await server.call('GET', '/api/auth/me', undefined, open)).status).toBe(401);
    await admin('POST', `/users/${helper.id}/enable`);
    const stale = await signedIn();
    server.advance(6 * MINUTE);
    expect((await impersonate(user.id, stale)).text).toBe('{"error":"Reauthentication required"}');
    asOwner = bearer((await server.login('olga@x.test')).body.accessToken);
  });

  it('a search reads an index, and never all users', async () => {
    await fillWithUsers(server, 20_000);
    const { db } = server.kernel.store;
    const statements = vi.spyOn(db.getExecutor(), 'executeQuery');
    for (const query of ['q=user777', 'q=nick77', 'q=Last77', 'q=u', 'q=First', 'q=nobody']) {
      statements.mockClear();
      const path = `${ADMIN}/users?limit=10&${query}`;
      expect((await server.call('GET', path, undefined, asRoot)).status).toBe(200);
      const asked = statements.mock.calls
        .map(([statement]) => statement)
        .filter((statement) => /order by .+ limit 11$/s.test(statement.sql));
      expect(asked.length, query).toBeGreaterThan(0);
      for (const statement of asked) expect(await scansOf(server, statement), query).toEqual([]);
    }
    statements.mockRestore();
  });
});
