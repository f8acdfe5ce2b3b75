import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
import { type Mailbox, startMailbox } from './mailbox.ts';

const SENT = '{"message":"If the account exists, a password reset email has been sent"}';

describeEachDatabase('§2.8 reset', (database) => {
  let server: TestServer;
  let mailbox: Mailbox;
  const forgot = (email: string, headers = {}) =>
    server.call('POST', '/api/auth/forgot-password', { email }, headers);
  const reset = (token: string, new_password = BETTER, more = {}) =>
    server.call('POST', '/api/auth/reset-password', { token, new_password, ...more });
  const resetToken = async (email: string, headers = {}) => {
    await forgot(email, headers);
    return (await mailbox.find(email, 'reset-password?token=')).token!;
  };
  beforeAll(async () => {
    mailbox = await startMailbox();
    server = await startServer({
      database,
      entity: USER,
      env: { SMTP_URL: mailbox.url, APP_URL: 'https://shop.test' },
    });
  });
  afterAll(async () => {
    await server.close();
    await mailbox.close();
  });

  it('looks the account up some time after the answer, so that it costs the answer nothing', async () => {
    const user = (await server.register('quiet@x.test')).body;
    const tokens = () =>
      server.kernel.store.db
        .selectFrom('auth_one_time_tokens')
        .selectAll()
        .where('user_id', '=', user.id)
        .where('kind', '=', 'reset')
        .execute();
    await forgot('quiet@x.test');
    await sleep(50);
    expect(await tokens()).toEqual([]);
    await expect.poll(tokens).toHaveLength(1);
  });

  it('answers 200 with one text whether the account exists or not', async () => {
    await server.register('known@x.test');
    const answers = [
      await forgot('known@x.test'),
      await forgot('unknown@x.test'),
      await forgot('not an address'),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map(() => [200, SENT]),
    );
    expect((await mailbox.find('known@x.test', 'reset-password?token=')).text).toContain(
      'https://shop.test/auth/reset-password?token=',
    );
    expect(mailbox.received.some(({ to }) => to.includes('unknown@x.test'))).toBe(false);
  });

  it('sets the password, ends every session, logs nobody in, and the token works once', async () => {
    const { body } = await server.register('once@x.test');
    const token = await resetToken('once@x.test');
    expect((await reset(token)).text).toBe('{"message":"Password reset successful"}');
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })).status,
    ).toBe(401);
    expect([
      (await server.login('once@x.test')).status,
      (await server.login('once@x.test', BETTER)).status,
    ]).toEqual([401, 200]);
    expect((await reset(token, GOOD)).text).toBe('{"error":"Invalid or expired token"}');
    await mailbox.find('once@x.test', 'Your password was reset');
    expect(
      (await server.events('password.reset')).filter(({ user_id }) => user_id === body.id),
    ).toHaveLength(1);
  });

  it('a refused password leaves the token as it is', async () => {
    await server.register('policy@x.test');
    const token = await resetToken('policy@x.test');
    expect((await reset(token, 'password123')).body).toEqual({ error: 'Password is too common' });
    expect((await reset(token)).status).toBe(200);
  });

  it('of ten uses at once one succeeds', async () => {
    await server.register('race@x.test');
    const token = await resetToken('race@x.test');
    const answers = await Promise.all(Array.from({ length: 10 }, () => reset(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(
      answers.filter(
        ({ status, text }) => status === 400 && text === '{"error":"Invalid or expired token"}',
      ),
    ).toHaveLength(9);
  });

  it('asking again ends no link, using one ends all, and one for another address is not it', async () => {
    await server.register('newest@x.test');
    const [first, second] = [await resetToken('newest@x.test'), await resetToken('newest@x.test')];
    expect((await reset(first, BETTER, { email: 'known@x.test' })).status).toBe(400);
    expect((await reset(first, BETTER, { email: 'NEWEST@x.test' })).status).toBe(200);
    expect((await reset(second)).status).toBe(400);
  });

  it('a stranger who asks for as much as they may leaves the owner a link of their own', async () => {
    const own = await startServer({
      database,
      server: { trustedProxies: ['127.0.0.1'] },
      env: { SMTP_URL: mailbox.url, RATE_LIMIT_ENABLED: 'true' },
    });
    const email = 'silenced@x.test';
    await own.register(email);
    const links = () => own.rows('auth_one_time_tokens');
    const ask = (ip: string) => {
      const headers = { 'X-Forwarded-For': ip };
      return own.call('POST', '/api/auth/forgot-password', { email }, headers);
    };
    for (let count = 1; count <= 3; count += 1) {
      await ask('192.0.2.66');
      await expect.poll(links).toHaveLength(1 + count);
      await mailbox.find(email, 'reset-password?token=');
    }
    own.advance(11 * 60_000);
    await ask('192.0.2.66');
    await ask('198.51.100.7');
    const { token } = await mailbox.find(email, 'reset-password?token=');
    // The stranger's fourth request made no token, since no mail went.
    expect(await links()).toHaveLength(5);
    const used = { token, new_password: BETTER };
    expect((await own.call('POST', '/api/auth/reset-password', used)).status).toBe(200);
    await own.close();
  });

  it('a token lives 10 minutes', async () => {
    const own = await startServer({ database, env: { SMTP_URL: mailbox.url } });
    await own.register('late@x.test');
    await own.call('POST', '/api/auth/forgot-password', { email: 'late@x.test' });
    const { token } = await mailbox.find('late@x.test', 'reset-password?token=');
    own.advance(10 * 60_000 + 1000);
    expect(
      (await own.call('POST', '/api/auth/reset-password', { token, new_password: BETTER })).status,
    ).toBe(400);
    await own.close();
  });

  it('the link never follows the Host header, and only the hash of the token is stored', async () => {
    await server.register('host@x.test');
    await forgot('host@x.test', { Host: 'evil.test', 'X-Forwarded-Host': 'evil.test' });
    const { text, token } = await mailbox.find('host@x.test', 'reset-password?token=');
    expect(text).not.toContain('evil.test');
    expect(JSON.stringify(await server.rows('auth_one_time_tokens'))).not.toContain(token);
    expect(server.logs.join()).not.toContain(token);
  });

  it('a reset proves the address and unlocks the account', async () => {
    const { body } = await server.register('locked@x.test');
    for (let index = 0; index < 5; index += 1) await server.login('locked@x.test', 'wrong');
    expect((await server.login('locked@x.test')).status).toBe(423);
    expect((await reset(await resetToken('locked@x.test'))).status).toBe(200);
    expect((await server.login('locked@x.test', BETTER)).status).toBe(200);
    expect(
      (await server.call('GET', `/api/auth/admin/users/${body.id}`, undefined, asRoot)).body
        .email_verified,
    ).toBe(true);
  });

  it('a mail to an address that was changed meanwhile opens nothing', async () => {
    const { body } = await server.register('moved@x.test');
    const token = await resetToken('moved@x.test');
    await server.kernel.store.db
      .updateTable('users')
      .set({ email: 'elsewhere@x.test' })
      .where('id', '=', body.id)
      .execute();
    expect((await reset(token)).status).toBe(400);
  });

  it("a verified address is not verified any more when the entity's column is changed", async () => {
    const { body } = await server.register('proved@x.test');
    const { token } = await mailbox.find('proved@x.test', 'verify-email?token=');
    const shown = async () =>
      (await server.call('GET', `/api/auth/admin/users/${body.id}`, undefined, asRoot)).body
        .email_verified;
    expect(
      (await server.call('POST', '/api/auth/verify-email', { token, password: GOOD })).text,
    ).toBe('{"message":"Email verified"}');
    expect(
      (await server.call('POST', '/api/auth/verify-email', { token, password: GOOD })).status,
    ).toBe(400);
    expect(await shown()).toBe(true);
    await server.kernel.store.db
      .updateTable('users')
      .set({ email: 'victim@x.test' })
      .where('id', '=', body.id)
      .execute();
    expect(await shown()).toBe(false);
  });

  it('an address is changed by its own link, and the old one is told', async () => {
    const { body } = await server.register('before@x.test');
    await markVerified(server, body);
    await server.register('taken@x.test');
    const change = (email: string) =>
      server.call('POST', '/api/auth/change-email', { email }, bearer(body.accessToken));
    const [taken, free] = [await change('TAKEN@x.test'), await change('after@x.test')];
    expect([taken.status, taken.text]).toEqual([200, free.text]);
    await mailbox.find('TAKEN@x.test', 'tried to change the address of another account');
    const { token } = await mailbox.find('after@x.test', 'change-email?token=');
    expect((await server.login('after@x.test')).status).toBe(401);
    expect(
      (await server.call('POST', '/api/auth/verify-email', { token, password: GOOD })).status,
    ).toBe(200);
    expect((await server.login('after@x.test')).status).toBe(200);
    await mailbox.find('before@x.test', 'was changed');
  });

  it('an address that was taken meanwhile is no longer one to change to', async () => {
    const { body } = await server.register('slow@x.test');
    await markVerified(server, body);
    const change = { email: 'wanted@x.test' };
    await server.call('POST', '/api/auth/change-email', change, bearer(body.accessToken));
    const { token } = await mailbox.find('wanted@x.test', 'change-email?token=');
    await server.register('wanted@x.test');
    const answer = await server.call('POST', '/api/auth/verify-email', { token, password: GOOD });
    expect([answer.status, answer.text]).toEqual([400, '{"error":"Invalid or expired token"}']);
    expect((await server.login('slow@x.test')).status).toBe(200);
  });

  it('resend-verification answers alike and mails the unproved only', async () => {
    await server.register('again@x.test');
    await mailbox.find('again@x.test', 'verify-email?token=');
    const resend = (email: string) =>
      server.call('POST', '/api/auth/resend-verification', { email });
    expect((await resend('again@x.test')).text).toBe((await resend('nobody@x.test')).text);
    await mailbox.find('again@x.test', 'verify-email?token=');
  });

  it('an administrator starts a reset and never sets a password', async () => {
    const { body } = await server.register('helped@x.test');
    expect(
      (
        await server.call(
          'POST',
          `/api/auth/admin/users/${body.id}/reset-password`,
          { password: 'x' },
          asRoot,
        )
      ).status,
    ).toBe(200);
    const { token } = await mailbox.find('helped@x.test', 'reset-password?token=');
    expect((await server.login('helped@x.test')).status).toBe(200);
    expect((await reset(token!)).status).toBe(200);
  });
});

describeEachDatabase('§2.8 limits and the way of mail', (database) => {
  it('more than three mails an hour for one address are silently not sent', async () => {
    const mailbox = await startMailbox();
    const server = await startServer({
      database,
      env: { SMTP_URL: mailbox.url, RATE_LIMIT_ENABLED: 'true' },
    });
    await server.register('often@x.test');
    for (let index = 0; index < 5; index += 1)
      expect(
        (await server.call('POST', '/api/auth/forgot-password', { email: 'often@x.test' })).text,
      ).toBe(SENT);
    await server.close();
    expect(
      mailbox.received.filter(({ text }) => text.includes('reset-password?token=')),
    ).toHaveLength(3);
    await mailbox.close();
  });

  it('in production without SMTP_URL the flows answer 503 and the start warns', async () => {
    const server = await startServer({
      database,
      env: { NODE_ENV: 'production', RATE_LIMIT_ENABLED: 'true', APP_URL: 'https://shop.test' },
    });
    expect(
      (await server.call('POST', '/api/auth/forgot-password', { email: 'a@x.test' })).text,
    ).toBe('{"error":"Service unavailable"}');
    expect(server.logs.join()).toContain('SMTP_URL is not set');
    expect((await server.register()).status).toBe(201);
    await server.close();
  });

  it('in development the mail is in the log, with its link', async () => {
    const server = await startServer({ database });
    await server.register('dev@x.test');
    await server.call('POST', '/api/auth/forgot-password', { email: 'dev@x.test' });
    const link = () => /reset-password\?token=([\w-]+)/.exec(server.logs.join())?.[1];
    await expect.poll(link).toBeDefined();
    const token = link();
    expect(
      (await server.call('POST', '/api/auth/reset-password', { token, new_password: BETTER }))
        .status,
    ).toBe(200);
    await server.close();
  });

  it('a mail server that is away is no obstacle and no error', async () => {
    const server = await startServer({ database, env: { SMTP_URL: 'smtp://127.0.0.1:1' } });
    expect((await server.register('away@x.test')).status).toBe(201);
    expect(
      (await server.call('POST', '/api/auth/forgot-password', { email: 'away@x.test' })).status,
    ).toBe(200);
    await server.close();
  });
});
