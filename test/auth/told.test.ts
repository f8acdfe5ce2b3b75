import { readFileSync } from 'node:fs';
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../runtime/auth/base/defaults.ts';
import { EVENT_TYPES } from '../../runtime/auth/events/event-types.ts';
import { purge } from '../../runtime/auth/setup/retention.ts';
import { signIn, startWithProvider } from './flow.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  markVerified,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';
import { startMailbox } from './mailbox.ts';
import { startReceiver } from './receiver.ts';
import { databases, SDL, startFirm } from './organizations-server.ts';

const MINUTE = 60_000;

/** Failed logins of every kind that an alarm is for. */
async function guess(server: TestServer): Promise<void> {
  for (let index = 0; index < 105; index += 1)
    await server.login(`bob${index % 21}@x.test`, 'wrong');
  for (let index = 0; index < 10; index += 1) {
    await server.kernel.store.db.deleteFrom('auth_identifier_locks').execute();
    await server.login('many@x.test', 'wrong', { 'X-Forwarded-For': `198.51.100.${index}` });
  }
}

/** What an administrator does to keys, roles, tokens and a user. */
async function manage(server: TestServer, userId: number): Promise<void> {
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, `/api/auth/admin${path}`, body, asRoot);
  const { id, key } = (await call('POST', '/api-keys', { name: 'k', scopes: ['posts:read'] })).body;
  const rotated = (await call('POST', `/api-keys/${id}/rotate`, {})).body;
  await call('DELETE', `/api-keys/${rotated.id}`);
  await server.call('GET', '/api/auth/me', undefined, { 'X-API-Key': key });
  await call('PUT', `/users/${userId}/role`, { role_id: 2 });
  await call('POST', '/tokens/revoke', { user_id: userId });
  for (const what of ['disable', 'enable']) await call('POST', `/users/${userId}/${what}`);
}

/** Tests that show the events of one flow each. */
const SHOWN_ELSEWHERE = {
  'user.updated': 'own-account',
  'user.deletion_requested': 'deletion',
  'user.restored': 'deletion',
  'user.impersonated': 'administration',
  'passkey.added': 'passkeys',
  'passkey.removed': 'passkeys',
  'passkey.cloned': 'passkeys',
  'totp.enabled': 'second-factor',
  'totp.disabled': 'second-factor',
  'recovery_codes.created': 'second-factor',
  'recovery_code.used': 'second-factor',
  'device.remembered': 'devices',
  'device.forgotten': 'devices',
  'organization.created': 'organization-events',
  'organization.deleted': 'organization-events',
  'member.added': 'organization-events',
  'member.removed': 'organization-events',
  'member.role_changed': 'organization-events',
  'invitation.created': 'organization-events',
  'invitation.accepted': 'organization-events',
  'invitation.revoked': 'organization-events',
} as const;

function isShownElsewhere(type: string): boolean {
  const name = SHOWN_ELSEWHERE[type as keyof typeof SHOWN_ELSEWHERE];
  if (name === undefined) return false;
  return readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8').includes(`'${type}'`);
}

describeEachDatabase('§2.14 what is told', (database) => {
  it('every type of event happens', async () => {
    const receiver = await startReceiver((count) => (count === 1 ? 204 : 410));
    const { server, provider, close } = await startWithProvider({
      database,
      server: { trustedProxies: ['127.0.0.1'] },
      env: { RATE_LIMIT_ENABLED: 'true', AUTH_ALLOW_WEAK_SECRETS: '1', JWT_SECRET: 'short' },
      auth: {
        roles: { list: ['A', 'B', 'C'], default: 'A', first: 'C' },
        lockout: { attempts: 6 },
        rateLimits: {
          ...Object.fromEntries(
            Object.keys(DEFAULT_LIMITS).map((name) => [name, { count: 10_000, window: 1000 }]),
          ),
          'strength-ip': { count: 1, window: MINUTE },
        },
      },
    });
    const call = (method: string, path: string, body?: unknown, headers = {}) =>
      server.call(method, `/api/auth${path}`, body, headers);
    const linkIn = async (mail: string) => {
      await expect.poll(() => server.logs.join('')).toContain(`${mail}?token=`);
      return [...server.logs.join('').matchAll(new RegExp(`${mail}\\?token=([\\w-]+)`, 'g'))].at(
        -1,
      )![1]!;
    };
    const ada = (await server.register('ada@x.test')).body;
    await call('POST', '/verify-email', {
      token: await linkIn('verify-email'),
      password: GOOD,
    });
    await call(
      'POST',
      '/logout',
      undefined,
      bearer((await server.login('ada@x.test')).body.accessToken),
    );
    for (let index = 0; index < 20; index += 1) await server.login('ada@x.test');
    for (let index = 0; index < 5; index += 1) await server.login('ada@x.test', 'wrong');
    let token = (await server.login('ada@x.test')).body.accessToken;
    await guess(server);
    await server.register('lock@x.test');
    for (let index = 0; index < 6; index += 1) await server.login('lock@x.test', 'wrong');
    await call('POST', '/unlock', { token: await linkIn('unlock') });
    await call(
      'POST',
      '/change-password',
      { current_password: GOOD, new_password: BETTER },
      bearer(token),
    );
    await call('POST', '/forgot-password', { email: 'ada@x.test' });
    await call('POST', '/reset-password', {
      token: await linkIn('reset-password'),
      new_password: GOOD,
    });
    const fresh = (await server.login('ada@x.test')).body;
    token = fresh.accessToken;
    await call('POST', '/change-email', { email: 'ada2@x.test' }, bearer(token));
    await call('POST', '/verify-email', { token: await linkIn('change-email') }, bearer(token));
    await call('POST', '/refresh', { refreshToken: fresh.refreshToken });
    server.advance(11_000);
    await call('POST', '/refresh', { refreshToken: fresh.refreshToken });
    const again = (await server.login('ada2@x.test')).body;
    await call('POST', '/logout-all', {}, bearer(again.accessToken));
    await manage(server, ada.id);
    for (let index = 0; index < 2; index += 1)
      await call('POST', '/password-strength', { password: 'x' });
    provider.claims = { email: 'gus@x.test', exp: Math.floor(Date.now() / 1000) + 3600 };
    const gus = (await (await (await signIn(server, provider)).finish()).json()) as {
      accessToken: string;
      id: number;
    };
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ password: 'x' })
      .where('user_id', '=', gus.id)
      .execute();
    expect(
      (await call('DELETE', '/identities/google', undefined, bearer(gus.accessToken))).status,
    ).toBe(204);
    await server.call('GET', '/api/oauth/google/callback?code=c&state=s');
    await call('DELETE', `/admin/users/${gus.id}`, undefined, asRoot);
    const hook = (
      await call(
        'POST',
        '/admin/webhooks',
        { url: receiver.url, types: ['user.registered'] },
        asRoot,
      )
    ).body;
    await call('POST', `/admin/webhooks/${hook.id}/test`, undefined, asRoot);
    await server.register('hooked@x.test');
    const setup = { token: await linkIn('auth/setup'), email: 'cy@x.test', password: GOOD };
    await call('POST', '/setup', setup);
    const seen = async () =>
      new Set((await server.rows('auth_security_events')).map(({ type }) => type as string));
    // A test of a webhook is sent and not stored.
    expect(receiver.deliveries[0]!.event['type']).toBe('webhook.test');
    await expect
      .poll(
        async () => {
          const found = await seen();
          return Object.keys(EVENT_TYPES).filter(
            (type) => !found.has(type) && !isShownElsewhere(type),
          );
        },
        { timeout: 15_000 },
      )
      .toEqual(['webhook.test']);
    await close();
    await receiver.close();
  }, 240_000);

  it('people get a mail when a provider is linked and when a token was used twice', async () => {
    const mailbox = await startMailbox();
    const { server, provider, close } = await startWithProvider({
      database,
      env: { SMTP_URL: mailbox.url },
    });
    const { body } = await server.register('hostile@x.test');
    await markVerified(server, body);
    expect((await (await signIn(server, provider)).finish()).status).toBe(200);
    await mailbox.find('hostile@x.test', 'A provider was linked to your account');
    await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken });
    server.advance(11_000);
    await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken });
    await mailbox.find('hostile@x.test', 'was used twice');
    await close();
    await mailbox.close();
  });

  it('a delivery is tried after 1 s, 5 s, 30 s, 2 m, 10 m and 1 h, and then given up', async () => {
    const receiver = await startReceiver(() => 500);
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const server = await startServer({
      database,
      env: { WEBHOOK_SECRET: secret },
      auth: {
        events: {
          webhooks: [
            { url: receiver.url, secretEnv: 'WEBHOOK_SECRET', types: ['user.registered'] },
          ],
        },
      },
    });
    await server.register('again0@x.test');
    const first = async () =>
      (await server.rows('auth_webhook_deliveries')).sort((a, b) =>
        a['id'] < b['id'] ? -1 : 1,
      )[0]!;
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      await expect.poll(async () => (await first())['attempt'], { timeout: 15_000 }).toBe(attempt);
      const wait = Number((await first())['next_at']) - server.kernel.now();
      waits.push(Math.ceil(wait / 1000));
      server.advance(wait + 1);
      // Something new makes it look at once; nobody waits an hour here.
      await server.register(`again${attempt}@x.test`);
    }
    await expect
      .poll(
        async () => {
          const { status, attempt } = await first();
          return [status, attempt];
        },
        { timeout: 15_000 },
      )
      .toEqual(['failed', 7]);
    // What was waited for meanwhile is not waited for again.
    for (const [index, planned] of [1, 5, 30, 120, 600, 3600].entries())
      expect([planned, waits[index]! <= planned && waits[index]! > planned - 10]).toEqual([
        planned,
        true,
      ]);
    const tries = receiver.deliveries.filter(
      ({ event }) => event['id'] === receiver.deliveries[0]!.event['id'],
    );
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(tries).toHaveLength(7);
    for (const { headers, body } of tries) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      expect(headers['webhook-signature']).toBe(
        `v1,${createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64')}`,
      );
    }
    await server.close();
    await receiver.close();
  });

  it('everything that has expired is removed: blacklist, one-time tokens, states, windows, sessions, deliveries', async () => {
    const server = await startServer({ database });
    const { db } = server.kernel.store;
    const { body } = await server.register();
    await server.call('POST', '/api/auth/admin/tokens/revoke', { token: body.accessToken }, asRoot);
    await server.call('POST', '/api/auth/forgot-password', { email: body.email });
    await db
      .insertInto('auth_oauth_used_states')
      .values({ hash: 'h', exp: Date.now() + 1000 })
      .execute();
    const count = async () =>
      Object.fromEntries(
        await Promise.all(
          [
            'auth_revoked_tokens',
            'auth_one_time_tokens',
            'auth_oauth_used_states',
            'auth_sessions',
          ].map(async (table) => [table, (await server.rows(table)).length > 0] as const),
        ),
      );
    const run = (now: number) =>
      purge({
        db: server.kernel.store.db,
        now: () => now,
        model: server.kernel.project.auth!,
        config: { users: true },
      });
    await run(Date.now());
    expect(await count()).toEqual({
      auth_revoked_tokens: true,
      auth_one_time_tokens: true,
      auth_oauth_used_states: true,
      auth_sessions: true,
    });
    await run(Date.now() + 25 * 60 * MINUTE);
    expect(await count()).toEqual({
      auth_revoked_tokens: false,
      auth_one_time_tokens: false,
      auth_oauth_used_states: false,
      auth_sessions: true,
    });
    await run(Date.now() + 121 * 24 * 60 * MINUTE);
    expect(await count()).toMatchObject({ auth_sessions: false });
    await server.close();
  });
});

describeEachDatabase('§2.13 refusals', (database) => {
  it('what a guard refuses is in the log: who, what, which guard, and no credential', async () => {
    const server = await startServer({
      database,
      entity: USER,
      hosting: {},
      env: { HOST_PASSWORD: 'the operator has this one' },
    });
    const { body } = await server.register();
    const { key } = (
      await server.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'k', scopes: ['posts:read'] },
        asRoot,
      )
    ).body;
    expect(
      (await server.call('GET', '/api/auth/admin/roles', undefined, bearer(body.accessToken)))
        .status,
    ).toBe(403);
    expect(
      (await server.call('GET', '/api/auth/admin/roles', undefined, { 'X-API-Key': key })).status,
    ).toBe(403);
    expect((await server.call('GET', '/api/auth/sessions')).status).toBe(401);
    const told = server.logs
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'a guard refused');
    expect(
      told.map(({ actor, guard, method, route, status }) => [
        actor.kind,
        guard,
        method,
        route,
        status,
      ]),
    ).toEqual([
      ['user', 'admin', 'GET', '/api/auth/admin/roles', 403],
      ['api_key', 'admin', 'GET', '/api/auth/admin/roles', 403],
      ['anonymous', 'session', 'GET', '/api/auth/sessions', 401],
    ]);
    expect(told[0]).toMatchObject({
      actor: { id: body.id },
      ip: '127.0.0.1',
      requestId: expect.any(String),
    });
    expect(
      [body.accessToken, key].filter((secret) => server.logs.join('').includes(secret)),
    ).toEqual([]);
    await server.close();
  });
});

it.each(databases)(
  'what a rule, a scope or an organization refuses is in the log once, on %s',
  async (database) => {
    const sdl = `${SDL} type Secret @auth(allow: [ROLE], roles: ["B"]) { id: ID! text: String! }
      extend type Query { secrets: [Secret!] }`;
    const manifest = `name: firm
api: { rest: true }
auth: { roles: { list: [A, B], default: A }, organizations: { type: Company } }`;
    const firm = await startFirm(database, { sdl, manifest });
    const { headers, id } = await firm.person('ann');
    const root = { 'X-API-Key': 'k'.repeat(43) };
    const made = { name: 'k', scopes: ['posts:read'] };
    const { key } = (await firm.call('POST', '/api/auth/admin/api-keys', made, root)).body;
    const query = (sent: Record<string, string>) =>
      firm.call('POST', '/graphql', { query: '{ a: secrets { text } b: secrets { id } }' }, sent);
    for (const refused of [
      await query(headers),
      await query({}),
      await query({ 'X-API-Key': key }),
      await firm.call('GET', '/api/secrets', undefined, headers),
      await query({ ...headers, 'X-Organization': '7' }),
    ])
      expect(refused.text).toMatch(/FORBIDDEN|UNAUTHENTICATED|^\{"error"/);
    const told = firm.lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'access was refused');
    expect(told.map(({ actor, paths, path }) => [actor.kind, paths ?? path])).toEqual([
      ['user', ['a', 'b']],
      ['anonymous', ['a', 'b']],
      ['api_key', ['a', 'b']],
      ['user', '/api/secrets'],
      ['user', '/graphql'],
    ]);
    expect(told[0]).toMatchObject({ actor: { id }, ip: '127.0.0.1', count: 2 });
    expect(firm.lines.join('')).not.toContain(key);
    await firm.close();
  },
);

describeEachDatabase('§2.14 the log of permission changes', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({
      database,
      entity: USER,
      auth: { roles: { list: ['A', 'B'], default: 'A', first: null } },
    });
  });
  afterAll(() => server.close());

  it('has every action of the contract, with who, what, before and after', async () => {
    const call = (method: string, path: string, body?: unknown) =>
      server.call(method, `/api/auth/admin${path}`, body, asRoot);
    const { body: user } = await server.register();
    const role = (await call('POST', '/roles', { name: `Editor ${Math.random()}` })).body;
    await call('PUT', `/roles/${role.id}`, { name: `Writer ${Math.random()}` });
    await call('PUT', `/roles/${role.id}/permissions/posts:write`);
    await call('DELETE', `/roles/${role.id}/permissions/posts:write`);
    await call('PUT', `/users/${user.id}/role`, { role_id: role.id });
    await call('PUT', `/users/${user.id}/role`, { role_id: null });
    await call('DELETE', `/roles/${role.id}`);
    const key = (await call('POST', '/api-keys', { name: 'k', scopes: ['posts:read'] })).body;
    await call('PATCH', `/api-keys/${key.id}`, { scopes: ['posts:write'] });
    const next = (await call('POST', `/api-keys/${key.id}/rotate`, {})).body;
    await call('DELETE', `/api-keys/${next.id}`);
    for (const what of ['disable', 'enable']) await call('POST', `/users/${user.id}/${what}`);
    const rows = await server.rows('auth_permission_changes');
    const wanted = [
      'role.assigned',
      'role.removed',
      'role.created',
      'role.updated',
      'role.deleted',
      'permission.granted',
      'permission.revoked',
      'api_key.created',
      'api_key.rotated',
      'api_key.revoked',
      'api_key.scopes_changed',
      'user.disabled',
      'user.enabled',
    ];
    expect(wanted.filter((action) => !rows.some((row) => row['action'] === action))).toEqual([]);
    expect(
      rows.every(
        (row) =>
          row['actor_kind'] === 'api_key' &&
          row['actor_id'] === 'root' &&
          row['request_id'] !== '' &&
          row['ip'] === '127.0.0.1',
      ),
    ).toBe(true);
    expect(
      JSON.parse(rows.find((row) => row['action'] === 'api_key.scopes_changed')!['after']),
    ).toMatchObject({ scopes: ['posts:write'] });
  });
});
