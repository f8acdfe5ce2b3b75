import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bearer, describeEachDatabase, startServer, type TestServer } from './harness.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';

const MINUTE = 60_000;
const INVALID = '{"error":"Invalid or expired token"}';

describeEachDatabase('auth-2 §7 signing in by mail', (database) => {
  let mailbox: Mailbox;
  let server: TestServer;
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({
      database,
      env: { SMTP_URL: mailbox.url },
      auth: { emailSignIn: 'both' },
    });
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
  });

  const ask = async (email: string, more: object = {}) => {
    const answer = await server.call('POST', '/api/auth/email-sign-in', { email, ...more });
    expect(answer.status).toBe(200);
    return {
      ticket: answer.body.ticket as string,
      cookie: answer.headers.getSetCookie()[0]!.split(';')[0]!,
      answer,
    };
  };
  const complete = (body: object, headers: Record<string, string> = {}) =>
    server.call('POST', '/api/auth/email-sign-in/complete', body, headers);
  const mailTo = async (email: string) => {
    const { text, token } = await mailbox.find(email, 'email-sign-in?token=');
    return { token: token!, code: /\b(\d{6})\b/.exec(text)![1]!, text };
  };
  const member = async () => {
    const { body } = await server.register();
    await mailbox.find(body.email, 'verify-email?token=');
    return body as { id: number; email: string };
  };

  it('is off by default', async () => {
    const own = await startServer({ database });
    const at = ['', '/complete'].map((path) => `/api/auth/email-sign-in${path}`);
    for (const path of at)
      expect((await own.call('POST', path, { email: 'a@x.test' })).status).toBe(404);
    await own.close();
  });

  it('answers alike for an address that nobody has, and mails only its owner', async () => {
    const { email } = await member();
    const known = await ask(email);
    const unknown = await ask('nobody@x.test');
    const shape = ({ answer: { body, headers } }: typeof known) => [
      Object.keys(body),
      body.ticket.length,
      body.expires_in,
      headers.getSetCookie().map((each) => each.replace(/=[^;]*/, '=')),
    ];
    expect(shape(unknown)).toEqual(shape(known));
    expect(shape(known).slice(1)).toEqual([
      43,
      600,
      ['email_sign_in=; Max-Age=600; Path=/; HttpOnly; SameSite=Lax'],
    ]);
    await mailTo(email);
    expect(mailbox.received.filter(({ to }) => to.includes('nobody@x.test'))).toEqual([]);
    const wrong = { code: '000000' };
    const answers = [
      await complete({ ...wrong, ticket: known.ticket }),
      await complete({ ...wrong, ticket: unknown.ticket }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [400, INVALID],
      [400, INVALID],
    ]);
    expect(JSON.stringify(await server.rows('auth_email_sign_ins'))).not.toContain('nobody');
  });

  it('over https the cookie is Secure, and without a mail server production answers 503', async () => {
    const own = await startServer({
      database,
      env: { APP_URL: 'https://shop.test', NODE_ENV: 'production', RATE_LIMIT_ENABLED: 'true' },
      auth: { emailSignIn: 'link' },
    });
    const path = '/api/auth/email-sign-in';
    expect((await own.call('POST', path, { email: 'a@x.test' })).status).toBe(503);
    await own.close();
    const mailing = await startServer({
      database,
      env: { APP_URL: 'https://shop.test', SMTP_URL: mailbox.url },
      auth: { emailSignIn: 'link' },
    });
    const { headers } = await mailing.call('POST', path, { email: 'a@x.test' });
    expect(headers.getSetCookie()[0]).toMatch(/; HttpOnly; SameSite=Lax; Secure$/);
    await mailing.close();
  });

  it('acceptance 8: a mail link in another browser, twice, or fetched by GET, signs nobody in', async () => {
    const { email } = await member();
    const { ticket, cookie } = await ask(email);
    const { token, code } = await mailTo(email);
    // A scanner that follows the link, in any form, uses nothing up.
    for (const path of [
      '/email-sign-in',
      '/auth/email-sign-in',
      '/api/auth/email-sign-in/complete',
    ])
      for (const headers of [{}, { Cookie: cookie }]) {
        const fetched = await server.call('GET', `${path}?token=${token}`, undefined, headers);
        expect(fetched.text).not.toContain('accessToken');
      }
    expect((await complete({ token })).text).toBe(INVALID);
    expect((await complete({ code })).text).toBe(INVALID);
    const stranger = await ask('stranger@x.test');
    expect((await complete({ token, ticket: stranger.ticket })).text).toBe(INVALID);
    expect((await complete({ code }, { Cookie: stranger.cookie })).text).toBe(INVALID);
    const done = await complete({ token }, { Cookie: cookie });
    expect([done.status, typeof done.body.accessToken]).toEqual([200, 'string']);
    expect((await complete({ token }, { Cookie: cookie })).text).toBe(INVALID);
    expect((await complete({ code, ticket })).text).toBe(INVALID);
    const { body } = await server.call(
      'GET',
      '/api/auth/sessions',
      undefined,
      bearer(done.body.accessToken),
    );
    expect(body.sessions.find(({ current }: { current: boolean }) => current)).toMatchObject({
      auth_method: 'email',
      amr: ['email'],
    });
    const security = await server.call(
      'GET',
      '/api/auth/security',
      undefined,
      bearer(done.body.accessToken),
    );
    expect(security.body.email_verified).toBe(true);
  });

  it('of ten at once one signs in, and that ends the other mails of the address', async () => {
    const { email } = await member();
    const old = await ask(email);
    const first = await mailTo(email);
    const { ticket } = await ask(email);
    const { code, token } = await mailTo(email);
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        complete(index % 2 === 0 ? { code, ticket } : { token, ticket }),
      ),
    );
    // The first five answers are compared at all, and one of them wins.
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await complete({ code: first.code, ticket: old.ticket })).text).toBe(INVALID);
    const older = await ask(email);
    const sent = await mailTo(email);
    await ask(email);
    await mailTo(email);
    expect((await complete({ code: sent.code, ticket: older.ticket })).status).toBe(200);
    const late = await ask(email);
    const mail = await mailTo(email);
    server.advance(10 * MINUTE + 1);
    expect((await complete({ token: mail.token, ticket: late.ticket })).text).toBe(INVALID);
  });

  it('a right answer to a mail deletes the failures, as a right password does', async () => {
    const { email } = await member();
    const { ticket } = await ask(email);
    const { code } = await mailTo(email);
    for (let count = 0; count < 3; count += 1) await server.login(email, 'a wrong guess');
    expect((await complete({ code, ticket })).status).toBe(200);
    for (let count = 0; count < 3; count += 1)
      expect((await server.login(email, 'a wrong guess')).status).toBe(401);
  });

  it('five wrong codes end it, also in parallel, and lock the address as wrong passwords do', async () => {
    const { email } = await member();
    const { ticket } = await ask(email);
    const { code } = await mailTo(email);
    const wrong = code === '111111' ? '222222' : '111111';
    const all = await Promise.all(
      Array.from({ length: 20 }, () => complete({ code: wrong, ticket })),
    );
    expect(all.every(({ status }) => status === 400 || status === 423)).toBe(true);
    expect((await complete({ code, ticket })).text).toBe(INVALID);
    expect((await server.login(email)).status).toBe(423);
    // An address without an account is locked alike.
    const unknown = await ask('locked-nobody@x.test');
    for (let count = 0; count < 5; count += 1)
      await complete({ code: wrong, ticket: unknown.ticket });
    expect((await server.login('locked-nobody@x.test')).status).toBe(423);
  });

  it('return_to is a path or a listed origin, and stands in the link', async () => {
    const { email } = await member();
    const refused = await server.call('POST', '/api/auth/email-sign-in', {
      email,
      return_to: 'https://evil.test/',
    });
    expect([refused.status, refused.text]).toEqual([400, '{"error":"Invalid redirect"}']);
    await ask(email, { return_to: '/orders?page=2' });
    const { text } = await mailTo(email);
    expect(text).toContain('return_to=%2Forders%3Fpage%3D2');
  });

  it('above five mails an hour the answer is the same, no mail is sent and no code is valid', async () => {
    const own = await startServer({
      database,
      env: { RATE_LIMIT_ENABLED: 'true' },
      auth: { emailSignIn: 'code' },
    });
    const { body } = await own.register('often@x.test');
    // The mail of the registration is one of the five.
    const mails = () => own.logs.filter((line) => line.includes('Your code')).length;
    const valid = async () =>
      (await own.rows('auth_email_sign_ins')).filter(({ user_id }) => user_id !== null).length;
    for (let count = 1; count <= 6; count += 1) {
      const path = '/api/auth/email-sign-in';
      expect((await own.call('POST', path, { email: body.email })).status).toBe(200);
      await vi.waitFor(async () => expect(await valid()).toBe(Math.min(count, 4)));
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([await valid(), mails()]).toEqual([4, 4]);
    await own.close();
  });

  it('a user without a password proves themselves by a code of a mail', async () => {
    const { id, email } = await member();
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ password: null })
      .where('user_id', '=', id)
      .execute();
    const { ticket } = await ask(email);
    const signedIn = await complete({ token: (await mailTo(email)).token, ticket });
    const as = bearer(signedIn.body.accessToken);
    server.advance(5 * MINUTE + 1);
    const step = await server.call('POST', '/api/auth/reauthenticate', {}, as);
    expect([step.status, step.body]).toEqual([
      202,
      { next: 'email_code', ticket: expect.any(String), expires_in: 300 },
    ]);
    const text = (await mailbox.find(email, 'code')).text;
    const code = /\b(\d{6})\b/.exec(text)![1]!;
    const answer = (given: string) =>
      server.call('POST', '/api/auth/second-factor', { ticket: step.body.ticket, code: given });
    expect((await answer(code === '111111' ? '222222' : '111111')).text).toBe(
      '{"error":"Invalid code"}',
    );
    const done = await answer(code);
    expect(done.body).toMatchObject({
      id,
      reauthenticated_until: expect.any(String),
      accessToken: expect.any(String),
    });
    expect((await server.call('GET', '/api/auth/me', undefined, as)).status).toBe(401);
  });
});
