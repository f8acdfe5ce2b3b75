import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../source-files.ts';
import { exchange, signIn, startWithProvider } from './flow.ts';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  markVerified,
  startServer,
  type TestServer,
} from './harness.ts';
import type { HostileProvider } from './hostile-provider.ts';
import { codeAt, enableTotp, mailedCode, mailedToken, memberOf } from './totp-app.ts';

const STEP = 30_000;

describe('auth-2 acceptance 6: no way in skips the second factor', () => {
  it('only `advance` opens or renews a session of a user, whatever is added', () => {
    const files = sourceFiles('runtime/auth').filter((path) => path.endsWith('.ts'));
    const having = (text: RegExp) =>
      files
        .filter((path) => text.test(readFileSync(join(root, path), 'utf8')))
        .map((path) => path.replace(/^.*runtime\/auth\//, ''))
        .sort();
    expect(having(/(open|renew)Session\(auth/)).toEqual(['sign-in/advance.ts']);
    expect(having(/sessions\s*\.renew\(/)).toEqual(['sign-in/open-session.ts']);
    expect(having(/as PassedEntry/)).toEqual(['sign-in/advance.ts']);
    // The operator and an administrator who acts as a user have no second factor of that user.
    expect(having(/sessions\.open\(/)).toEqual([
      'flows/user-sessions.ts',
      'sign-in/host-login.ts',
      'sign-in/open-session.ts',
    ]);
  });
});

describeEachDatabase('auth-2 §4 every way in passes the second factor', (database) => {
  let server: TestServer;
  let provider: HostileProvider;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ server, provider, close } = await startWithProvider({
      database,
      auth: { emailSignIn: 'both' },
    }));
  });
  afterAll(() => close());

  const second = (body: object) => server.call('POST', '/api/auth/second-factor', body);
  const now = () => server.kernel.now();
  const liveSessions = async () =>
    (await server.rows('auth_sessions')).filter(({ revoked_at }) => revoked_at === null).length;

  it('a provider, at its callback and at the exchange', async () => {
    provider.claims = { sub: 'ways', email: 'ways@x.test', email_verified: true };
    const login = await (await signIn(server, provider)).finish();
    const { accessToken } = (await login.json()) as { accessToken: string };
    const { secret } = await enableTotp(server, accessToken);
    const before = await liveSessions();
    const step = await (await signIn(server, provider)).finish();
    const body = (await step.json()) as { next: string; ticket: string };
    expect([step.status, body.next]).toEqual([202, 'second_factor']);
    const flow = await signIn(server, provider, '?return_to=/welcome');
    const target = await flow.finish();
    const code = new URL(target.headers.get('location')!, server.url).searchParams.get('code');
    const exchanged = await exchange(server, flow.browser, { code });
    expect([exchanged.status, exchanged.body.next]).toEqual([202, 'second_factor']);
    expect(await liveSessions()).toBe(before);
    server.advance(STEP);
    const done = await second({ ticket: exchanged.body.ticket, code: codeAt(secret, now()) });
    expect(done.status).toBe(200);
    const { body: list } = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(done.body.accessToken),
    );
    const amr = list.sessions.find(({ current }: { current: boolean }) => current).amr;
    expect(amr).toEqual(['fed', 'otp']);
  });

  it('a mail', async () => {
    const member = await memberOf(server);
    await markVerified(server, member);
    const start = await server.call('POST', '/api/auth/email-sign-in', { email: member.email });
    const code = await mailedCode(server, member.email);
    const step = await server.call('POST', '/api/auth/email-sign-in/complete', {
      code,
      ticket: start.body.ticket,
    });
    expect([step.status, step.body.next]).toEqual([202, 'second_factor']);
    // The mail is used up with the first step.
    const again = await server.call('POST', '/api/auth/email-sign-in/complete', {
      code,
      ticket: start.body.ticket,
    });
    expect(again.status).toBe(400);
    expect(
      (await second({ ticket: step.body.ticket, code: codeAt(member.secret, now()) })).status,
    ).toBe(200);
  });

  it('a setup link of a user who is signed in keeps what the session has proved', async () => {
    const roles = { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' };
    const token = 'a setup token of thirty-two letters';
    const own = await startServer({
      database,
      auth: { roles, secondFactor: { roles: ['Owner'] } },
      env: { SETUP_TOKEN: token },
    });
    const { body } = await own.register();
    const step = await own.call('POST', '/api/auth/setup', { token }, bearer(body.accessToken));
    expect([step.status, step.body.next]).toEqual([202, 'enroll_second_factor']);
    expect(
      (await own.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    await own.close();
  });

  it('a tested host login has no user and no second factor', async () => {
    const own = await startServer({
      database,
      hosting: {},
      env: { HOST_PASSWORD: 'a long host password' },
      auth: { secondFactor: { mode: 'required' } },
    });
    const { status, body } = await own.call('POST', '/api/auth/login', {
      password: 'a long host password',
    });
    expect([status, typeof body.token]).toEqual([200, 'string']);
    await own.close();
  });
});

describeEachDatabase('auth-2 §4 a second factor is required', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, auth: { secondFactor: { mode: 'required' } } });
  });
  afterAll(() => server.close());
  const now = () => server.kernel.now();

  it('register and login give no token before a factor is enrolled; the last answer has the login object', async () => {
    const email = 'required@x.test';
    const made = await server.register(email);
    expect([made.status, made.body]).toEqual([
      202,
      {
        next: 'enroll_second_factor',
        ticket: expect.any(String),
        methods: ['totp', 'passkey'],
        expires_in: 300,
      },
    ]);
    const { status, body } = await server.login(email);
    expect([status, body.next]).toEqual([202, 'enroll_second_factor']);
    expect(await server.rows('auth_sessions')).toEqual([]);
    const { ticket } = body;
    // A ticket of another step is none.
    expect(
      (await server.call('POST', '/api/auth/second-factor', { ticket, code: '000000' })).status,
    ).toBe(400);
    const start = await server.call('POST', '/api/auth/totp', { ticket });
    expect(start.status).toBe(200);
    const code = codeAt(start.body.secret, now());
    const done = await server.call('POST', '/api/auth/totp/confirm', { ticket, code });
    expect([done.status, done.body.recovery_codes.length]).toEqual([200, 10]);
    const { accessToken } = done.body.login;
    expect((await server.call('GET', '/api/auth/me', undefined, bearer(accessToken))).status).toBe(
      200,
    );
    // The only factor stays.
    const removal = await server.call('DELETE', '/api/auth/totp', undefined, bearer(accessToken));
    expect([removal.status, removal.text]).toEqual([403, '{"error":"Forbidden"}']);
    expect((await server.call('POST', '/api/auth/totp', { ticket })).status).toBe(400);
    const security = await server.call('GET', '/api/auth/security', undefined, bearer(accessToken));
    expect(security.body).toMatchObject({
      totp: true,
      second_factor_required: true,
      recovery_codes: 10,
      devices: 0,
    });
  });

  it('a session of before is not refreshed without one', async () => {
    const { body } = await server.register();
    const ticket = body.ticket as string;
    const start = await server.call('POST', '/api/auth/totp', { ticket });
    const code = codeAt(start.body.secret, now());
    const { login } = (await server.call('POST', '/api/auth/totp/confirm', { ticket, code })).body;
    const refresh = (refreshToken: string) =>
      server.call('POST', '/api/auth/refresh', { refreshToken });
    const next = await refresh(login.refreshToken);
    expect(next.status).toBe(200);
    // As a session that was opened before the manifest demanded a second factor.
    await server.kernel.store.db
      .updateTable('auth_sessions')
      .set({ amr: 'pwd' })
      .where('user_id', '=', login.id)
      .execute();
    expect((await refresh(next.body.refreshToken)).text).toBe('{"error":"Invalid refresh token"}');
  });

  it('two enrolments with one ticket: one set of factors', async () => {
    const { body } = await server.register();
    const ticket = body.ticket as string;
    const start = await server.call('POST', '/api/auth/totp', { ticket });
    const code = codeAt(start.body.secret, now());
    const all = await Promise.all(
      [1, 2, 3].map(() => server.call('POST', '/api/auth/totp/confirm', { ticket, code })),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
    const rows = await server.rows('auth_recovery_codes');
    expect(rows.filter(({ created_at }) => created_at !== null).length % 10).toBe(0);
  });
});

describeEachDatabase(
  'auth-2 §4 change_password, and roles that must have a second factor',
  (database) => {
    it('asks for another password with a ticket, and the answer is the login object', async () => {
      const server = await startServer({ database });
      const { body } = await server.register();
      await server.kernel.store.db
        .updateTable('auth_users')
        .set({ password_change_required_at: 1 })
        .where('user_id', '=', body.id)
        .execute();
      const step = await server.login(body.email);
      expect([step.status, step.body]).toEqual([
        202,
        { next: 'change_password', ticket: expect.any(String), expires_in: 300 },
      ]);
      const change = (new_password: string) =>
        server.call('POST', '/api/auth/change-password', {
          ticket: step.body.ticket,
          new_password,
        });
      expect((await change('short')).status).toBe(400);
      const done = await change(`${GOOD} renewed`);
      expect([done.status, typeof done.body.accessToken]).toEqual([200, 'string']);
      expect((await change(`${GOOD} again`)).text).toBe('{"error":"Invalid or expired token"}');
      expect(
        (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
      ).toBe(401);
      expect((await server.login(body.email, `${GOOD} renewed`)).status).toBe(200);
      await server.close();
    });

    it('a reset link is used up by the last step and not by the first', async () => {
      const server = await startServer({ database });
      const member = await memberOf(server);
      await markVerified(server, member);
      await server.call('POST', '/api/auth/forgot-password', { email: member.email });
      const token = await mailedToken(server, 'reset-password');
      const reset = () =>
        server.call('POST', '/api/auth/reset-password', { token, new_password: `${GOOD} two` });
      const tickets = [(await reset()).body.ticket, (await reset()).body.ticket] as string[];
      const code = (steps: number) => codeAt(member.secret, server.kernel.now(), steps);
      const answers = await Promise.all(
        tickets.map((ticket, index) =>
          server.call('POST', '/api/auth/second-factor', { ticket, code: code(index) }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      await server.close();
    });
  },
);
