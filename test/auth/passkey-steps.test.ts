import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ceremony, makePasskey, type SoftPasskey } from './authenticator.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
} from './harness.ts';
import { startMailbox } from './mailbox.ts';
import { enableTotp } from './totp-app.ts';

const AT = '/api/auth/passkeys';
const DEAD = '{"error":"Invalid or expired token"}';
const required = { mode: 'required', roles: [], remember: 0 } as const;

describeEachDatabase('auth-2 §4 and §6 passkeys in the steps of a sign-in', (database) => {
  let server: TestServer;
  let mailbox: Awaited<ReturnType<typeof startMailbox>>;
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({ database, env: { SMTP_URL: mailbox.url } });
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
  });

  const post = (path: string, body: object, headers: Record<string, string> = {}, on = server) =>
    on.call('POST', `/api/auth${path}`, body, headers);
  const enrol = async (as: Record<string, string>, on = server) => {
    const passkey = makePasskey((await post('/passkeys/options', {}, as, on)).body);
    expect((await post('/passkeys', { credential: passkey.created }, as, on)).status).toBe(201);
    return passkey;
  };
  const signUp = async (email: string) => {
    const { body } = await server.register(email);
    const as = bearer(body.accessToken);
    return { id: body.id as number, email, as, passkey: await enrol(as) };
  };
  const answer = async (ticket: string, passkey: SoftPasskey, more: Partial<Ceremony> = {}) => {
    const { challenge } = (await post('/second-factor/options', { ticket })).body;
    const credential = passkey.use({ challenge, ...more });
    return post('/second-factor', { ticket, credential });
  };

  it('a passkey alone does not make a password ask, and asks for no second factor itself', async () => {
    const { email, passkey } = await signUp('plain@x.test');
    expect((await server.login(email)).status).toBe(200);
    const { challenge } = (await post('/passkeys/login/options', {})).body;
    const login = await post('/passkeys/login', { credential: passkey.use({ challenge }) });
    expect(login.status).toBe(200);
    const list = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(login.body.accessToken),
    );
    expect(list.body.sessions.find(({ current }: any) => current).amr).toEqual(['hwk', 'user']);
  });

  it('with TOTP on it signs in alone, and answers the second factor of a password', async () => {
    const member = await signUp('totp@x.test');
    const { accessToken } = (await server.login(member.email)).body;
    await enableTotp(server, accessToken);
    const { challenge } = (await post('/passkeys/login/options', {})).body;
    const alone = await post('/passkeys/login', {
      credential: member.passkey.use({ challenge, counter: 1 }),
    });
    expect(alone.status).toBe(200);
    const step = await server.login(member.email);
    expect([step.status, step.body.next]).toEqual([202, 'second_factor']);
    expect(step.body.methods).toEqual(['totp', 'passkey', 'recovery_code']);
    const options = await post('/second-factor/options', { ticket: step.body.ticket });
    expect(options.body).toMatchObject({
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [{ type: 'public-key', id: member.passkey.id, transports: ['internal'] }],
    });
    const { ticket } = step.body;
    for (const wrong of [{ verified: false }, { origin: 'https://evil.example' }]) {
      const refused = await answer(ticket, member.passkey, { counter: 2, ...wrong });
      expect([refused.status, refused.text]).toEqual([401, '{"error":"Invalid code"}']);
    }
    const stranger = await signUp('stranger@x.test');
    expect((await answer(ticket, stranger.passkey)).status).toBe(401);
    const done = await answer(ticket, member.passkey, { counter: 2 });
    expect([done.status, done.body.id]).toEqual([200, member.id]);
    expect((await answer(ticket, member.passkey, { counter: 3 })).text).toBe(DEAD);
    expect((await post('/second-factor/options', { ticket: 'x' })).text).toBe(DEAD);
    const again = (await server.login(member.email)).body.ticket;
    const cloned = await answer(again, member.passkey, { counter: 2 });
    expect(cloned.status).toBe(401);
  });

  it('garbage in place of a credential is 400 or 401', async () => {
    const member = await signUp('garbage@x.test');
    for (const credential of [
      {},
      [],
      'x',
      { id: 'x' },
      { ...member.passkey.use({ challenge: 'x' }), response: {} },
    ])
      expect((await post('/reauthenticate', { credential }, member.as)).status).toBe(400);
    expect(
      (
        await post(
          '/reauthenticate',
          { credential: member.passkey.use({ challenge: 'x' }) },
          member.as,
        )
      ).status,
    ).toBe(401);
  });

  it('reauthenticates with a passkey; its challenge is good for nothing else', async () => {
    const member = await signUp('again@x.test');
    const { challenge } = (await post('/reauthenticate/options', {}, member.as)).body;
    const signIn = await post('/passkeys/login', { credential: member.passkey.use({ challenge }) });
    expect(signIn.status).toBe(401);
    const fresh = (await post('/reauthenticate/options', {}, member.as)).body;
    expect(fresh.allowCredentials).toHaveLength(1);
    const done = await post(
      '/reauthenticate',
      { credential: member.passkey.use({ challenge: fresh.challenge, counter: 2 }) },
      member.as,
    );
    expect([done.status, typeof done.body.reauthenticated_until]).toEqual([200, 'string']);
    expect((await server.call('GET', '/api/auth/me', undefined, member.as)).status).toBe(401);
    const as = bearer(done.body.accessToken);
    expect((await post('/passkeys/options', {}, as)).status).toBe(200);
  });

  it('where a second factor is required, a passkey is enrolled with the ticket, and the answer has the login', async () => {
    const strict = await startServer({ database, auth: { secondFactor: required } });
    const registered = await strict.register('req@x.test');
    expect([registered.status, registered.body.next, registered.body.accessToken]).toEqual([
      202,
      'enroll_second_factor',
      undefined,
    ]);
    const { ticket } = registered.body;
    expect(registered.body.methods).toEqual(['totp', 'passkey']);
    const options = await post('/passkeys/options', { ticket }, {}, strict);
    expect(options.status).toBe(200);
    const passkey = makePasskey(options.body);
    const { ticket: other } = (await strict.login('req@x.test')).body;
    const swapped = await post(
      '/passkeys',
      { credential: passkey.created, ticket: other },
      {},
      strict,
    );
    expect(swapped.status).toBe(401);
    const mine = makePasskey((await post('/passkeys/options', { ticket }, {}, strict)).body);
    const added = await post(
      '/passkeys',
      { credential: mine.created, ticket, name: 'First' },
      {},
      strict,
    );
    expect([added.status, added.body.name, added.body.login.email]).toEqual([
      201,
      'First',
      'req@x.test',
    ]);
    expect((await post('/passkeys/options', { ticket }, {}, strict)).text).toBe(DEAD);
    const as = bearer(added.body.login.accessToken);
    expect((await strict.call('GET', '/api/auth/me', undefined, as)).status).toBe(200);
    const step = await strict.login('req@x.test');
    expect([step.status, step.body.next, step.body.methods]).toEqual([
      202,
      'second_factor',
      ['passkey'],
    ]);
    const only = await strict.call('DELETE', `${AT}/${mine.id}`, undefined, as);
    expect([only.status, only.text]).toEqual([403, '{"error":"Forbidden"}']);
    await strict.close();
  });

  it('acceptance 4: a reset ends every passkey but one that proved it, and the mail lists them', async () => {
    const member = await signUp('reset@x.test');
    const reset = async (password: string) => {
      await post('/forgot-password', { email: member.email });
      const { token } = await mailbox.find(member.email, 'reset-password');
      return post('/reset-password', { token, new_password: password });
    };
    expect((await reset(BETTER)).status).toBe(200);
    // The passkey has its browser's name, and this client has none.
    const mail = await mailbox.find(member.email, 'Removed passkeys: ');
    expect(mail.text).not.toContain('was added');
    const { challenge } = (await post('/passkeys/login/options', {})).body;
    const gone = await post('/passkeys/login', { credential: member.passkey.use({ challenge }) });
    expect(gone.status).toBe(401);
    const login = await server.login(member.email, BETTER);
    await enableTotp(server, login.body.accessToken);
    const [kept, ended] = [
      await enrol(bearer(login.body.accessToken)),
      await enrol(bearer(login.body.accessToken)),
    ];
    const step = await reset('another good long secret');
    expect([step.status, step.body.next]).toEqual([202, 'second_factor']);
    expect((await answer(step.body.ticket, kept)).status).toBe(200);
    const rows = await server.rows('auth_passkeys');
    const ids = rows.filter(({ user_id }) => user_id === member.id).map(({ id }) => id);
    expect(ids).toEqual([kept.id]);
    expect(ids).not.toContain(ended.id);
  });

  it('§9 a required password change is the next step, and the login object comes after it', async () => {
    const { body: user } = await server.register('change@x.test');
    const path = `/api/auth/admin/users/${user.id}`;
    const required = await server.call(
      'POST',
      `${path}/require-password-change`,
      undefined,
      asRoot,
    );
    expect(required.status).toBe(200);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(user.accessToken))).status,
    ).toBe(401);
    const step = await server.login('change@x.test');
    expect([step.status, step.body.next]).toEqual([202, 'change_password']);
    const { ticket } = step.body;
    expect((await post('/change-password', { ticket, new_password: 'weak' })).status).toBe(400);
    const done = await post('/change-password', { ticket, new_password: BETTER });
    expect([done.status, done.body.id]).toEqual([200, user.id]);
    expect((await server.login('change@x.test', BETTER)).status).toBe(200);
    expect((await server.login('change@x.test', GOOD)).status).toBe(401);
  });

  it('§9 an administrator removes the second factors of a user who lost the device', async () => {
    const member = await signUp('lost@x.test');
    const { accessToken } = (await server.login(member.email)).body;
    await enableTotp(server, accessToken);
    const path = `/api/auth/admin/users/${member.id}`;
    expect((await server.call('GET', path, undefined, asRoot)).body).toMatchObject({
      totp: true,
      passkeys: 1,
    });
    expect((await server.call('DELETE', `${path}/second-factor`, undefined, asRoot)).status).toBe(
      204,
    );
    expect((await server.call('GET', path, undefined, asRoot)).body).toMatchObject({
      totp: false,
      passkeys: 0,
      sessions: 0,
    });
    expect((await server.login(member.email)).status).toBe(200);
    const removed = await mailbox.find(member.email, 'passkey');
    expect(removed.text).toBeTruthy();
    for (const type of ['totp.disabled', 'passkey.removed'])
      expect((await server.events(type)).at(-1)).toMatchObject({ user_id: member.id });
  });
});
