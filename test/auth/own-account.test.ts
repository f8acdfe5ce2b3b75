import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  markVerified,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

const MINUTE = 60_000;

describeEachDatabase("auth-2 §8 one's own account", (database) => {
  let mailbox: Mailbox;
  let server: TestServer;
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({ database, entity: USER, env: { SMTP_URL: mailbox.url } });
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
  });

  const call = (method: string, path: string, token: string, body?: unknown) =>
    server.call(method, `/api/auth${path}`, body, bearer(token));

  it('PATCH /me changes what is sent, clears by null or the empty text, and leaves the rest', async () => {
    const { body } = await server.register('patch@x.test', {
      first_name: 'Pat',
      phone: '+1 5550100',
    });
    const patch = (fields: unknown) => call('PATCH', '/me', body.accessToken, fields);
    const changed = await patch({
      last_name: 'Chu',
      username: 'Pat.Chu',
      avatar_url: 'https://x.test/a.png',
      locale: 'de-at',
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        id: body.id,
        first_name: 'Pat',
        last_name: 'Chu',
        username: 'Pat.Chu',
        phone: '+1 5550100',
        email: 'patch@x.test',
        avatar_url: 'https://x.test/a.png',
        last_login: expect.any(String),
      },
    ]);
    expect(
      (await server.rows('auth_users')).find(({ user_id }) => user_id === body.id),
    ).toMatchObject({ locale: 'de-AT' });
    const cleared = await patch({ first_name: null, phone: '', avatar_url: '', locale: null });
    expect(cleared.body).toMatchObject({
      first_name: '',
      phone: '',
      avatar_url: '',
      last_name: 'Chu',
    });
    expect((await call('GET', '/me', body.accessToken)).body).toEqual(cleared.body);
    expect((await server.events('user.updated')).map(({ data }) => data.fields)).toEqual([
      ['last_name', 'username', 'avatar_url', 'locale'],
      ['first_name', 'phone', 'avatar_url', 'locale'],
    ]);
  });

  it('PATCH /me names the field that it does not know or take', async () => {
    const { accessToken } = (await server.register('wrong@x.test')).body;
    const error = async (fields: unknown) => {
      const { status, body } = await call('PATCH', '/me', accessToken, fields);
      return `${status} ${body.error}`;
    };
    expect(await error({ email: 'evil@x.test' })).toBe('400 email is not a known field');
    expect(await error({ role_id: 1 })).toBe('400 role_id is not a known field');
    expect(await error({ username: null })).toBe('400 username is required');
    expect(await error({ username: 'a b' })).toMatch(/^400 username must be/);
    expect(await error({ phone: 'call me' })).toMatch(/^400 phone must be/);
    expect(await error({ avatar_url: 'javascript:alert(1)' })).toMatch(/^400 avatar_url must be/);
    expect(await error({ locale: 'not a tag' })).toMatch(/^400 locale must be/);
    expect(await error({ first_name: 'a\u0000b' })).toMatch(/^400 first_name must not contain/);
    expect(await error({ first_name: 'a'.repeat(257) })).toMatch(/^400 first_name/);
  });

  it('a username or a telephone number that is taken is 409 in any spelling, and its own is not', async () => {
    await server.register('has@x.test', { username: 'Taken', phone: '+49 (30) 1234' });
    const { accessToken } = (await server.register('wants@x.test', { username: 'mine' })).body;
    const status = async (fields: unknown) =>
      (await call('PATCH', '/me', accessToken, fields)).status;
    expect(await status({ username: 'tAKEN' })).toBe(409);
    expect(await status({ phone: '+49301234' })).toBe(409);
    expect(await status({ username: 'MINE' })).toBe(200);
  });

  it('of ten users who take one username at once one has it', async () => {
    const users = await Promise.all(Array.from({ length: 10 }, () => server.register()));
    const answers = await Promise.all(
      users.map(({ body }) => call('PATCH', '/me', body.accessToken, { username: 'coveted' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });

  it('username and phone, the export and the deletion need a proof of the last five minutes; names do not', async () => {
    const { accessToken } = (await server.register('stale@x.test')).body;
    server.advance(5 * MINUTE + 1000);
    const status = async (method: string, path: string, body?: unknown) => {
      const answer = await call(method, path, accessToken, body);
      return [answer.status, answer.body?.error];
    };
    const refused = [403, 'Reauthentication required'];
    expect(await status('PATCH', '/me', { username: 'fresh' })).toEqual(refused);
    expect(await status('PATCH', '/me', { phone: '+1 5550199' })).toEqual(refused);
    expect(await status('GET', '/me/export')).toEqual(refused);
    expect(await status('DELETE', '/me')).toEqual(refused);
    expect((await status('PATCH', '/me', { first_name: 'Old' }))[0]).toBe(200);
    const again = (await call('POST', '/reauthenticate', accessToken, { password: GOOD })).body;
    const token = again.accessToken ?? accessToken;
    expect((await call('PATCH', '/me', token, { username: 'fresh' })).status).toBe(200);
  });

  it('GET /security says what is verified, pending and how much signs in', async () => {
    const { body: user } = await server.register('state@x.test');
    const { accessToken } = user;
    const security = async () => (await call('GET', '/security', accessToken)).body;
    expect(await security()).toMatchObject({
      email_verified: false,
      pending_email: null,
      has_password: true,
      totp: false,
      second_factor_required: false,
      deletion_at: null,
      sessions: 1,
      api_keys: 0,
      identities: 0,
    });
    await server.login('state@x.test');
    await call('POST', '/api-keys', accessToken, { name: 'k', scopes: [] });
    await markVerified(server, user);
    await call('POST', '/change-email', accessToken, { email: 'next@x.test' });
    expect(await security()).toMatchObject({
      sessions: 2,
      api_keys: 1,
      pending_email: 'next@x.test',
    });
    const { token } = await mailbox.find('next@x.test', 'token=');
    await server.call('POST', '/api/auth/verify-email', { token }, bearer(accessToken));
    expect(await security()).toMatchObject({ email_verified: true, pending_email: null });
  });

  it("a session has a name; another's session is 404", async () => {
    const { body } = await server.register('named@x.test');
    const other = (await server.register('curious@x.test')).body;
    const [{ id }] = (await call('GET', '/sessions', body.accessToken)).body.sessions;
    const named = await call('PATCH', `/sessions/${id}`, body.accessToken, { name: 'Work laptop' });
    expect([named.status, named.body]).toMatchObject([
      200,
      { id, name: 'Work laptop', current: true },
    ]);
    const listed = async () =>
      (await call('GET', '/sessions', body.accessToken)).body.sessions[0].name;
    expect(await listed()).toBe('Work laptop');
    const foreign = await call('PATCH', `/sessions/${id}`, other.accessToken, { name: 'mine' });
    expect([foreign.status, foreign.body]).toEqual([404, { error: 'Session not found' }]);
    expect((await call('PATCH', '/sessions/none', body.accessToken, { name: 'x' })).status).toBe(
      404,
    );
    await call('PATCH', `/sessions/${id}`, body.accessToken, { name: '' });
    expect(await listed()).toBeNull();
  });
});
