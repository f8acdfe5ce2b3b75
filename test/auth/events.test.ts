import { expect, it } from 'vitest';
import type { SecurityEvent } from '../../runtime/auth/index.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  USER,
} from './harness.ts';
import { startMailbox } from './mailbox.ts';

describeEachDatabase('§2.14 events', (database) => {
  it('are told to listeners in the documented envelope, by type and as *', async () => {
    const all: SecurityEvent[] = [];
    const some: SecurityEvent[] = [];
    const server = await startServer({
      database,
      entity: USER,
      options: {
        listeners: {
          '*': (event) => all.push(event),
          'auth.logout': async (event) => some.push(event),
        },
      },
    });
    const { body } = await server.call(
      'POST',
      '/api/auth/register',
      { email: 'events@x.test', password: GOOD },
      { 'User-Agent': `${'x'.repeat(300)}`, 'X-Request-Id': 'req-1' },
    );
    await server.login('events@x.test', 'wrong');
    await server.call('POST', '/api/auth/logout', undefined, bearer(body.accessToken));
    await expect.poll(() => some.length).toBe(1);
    expect(all.map(({ type }) => type)).toEqual([
      'user.registered',
      'email.verification_sent',
      'auth.login.succeeded',
      'auth.login.failed',
      'auth.logout',
    ]);
    const [registered, , succeeded, failed] = all;
    expect(Object.keys(registered!)).toEqual([
      'id',
      'type',
      'time',
      'severity',
      'user_id',
      'actor',
      'ip',
      'user_agent',
      'request_id',
      'data',
    ]);
    expect(registered).toMatchObject({
      user_id: body.id,
      severity: 'info',
      ip: '127.0.0.1',
      request_id: 'req-1',
    });
    expect(registered!.id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(registered!.user_agent).toHaveLength(256);
    expect(registered!.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(succeeded).toMatchObject({
      actor: { kind: 'user', id: body.id },
      data: { method: 'register', new_ip: false, new_device: false },
    });
    expect(failed).toMatchObject({
      actor: { kind: 'anonymous', id: null },
      data: { reason: 'bad_credentials', identifier_masked: 'e***@x.test' },
    });
    await server.close();
  });

  it('a listener that throws is logged and hurts nobody', async () => {
    const server = await startServer({
      database,
      options: {
        listeners: {
          '*': () => {
            throw new Error('listener is broken');
          },
        },
      },
    });
    expect((await server.register()).status).toBe(201);
    expect(server.logs.join()).toContain('listener is broken');
    await server.close();
  });

  it('an event is stored with the change or not at all', async () => {
    const told: SecurityEvent[] = [];
    const server = await startServer({
      database,
      options: { listeners: { '*': (event) => told.push(event) } },
    });
    await server.register('twice@x.test');
    const before = (await server.rows('auth_security_events')).length;
    expect((await server.register('twice@x.test')).status).toBe(409);
    expect((await server.rows('auth_security_events')).length).toBe(before);
    expect(told.filter(({ type }) => type === 'user.registered')).toHaveLength(1);
    await server.close();
  });

  it('each is one line of the log, without secrets and without line breaks from outside', async () => {
    const server = await startServer({ database, entity: USER });
    const { body } = await server.call(
      'POST',
      '/api/auth/register',
      { email: 'log@x.test', password: GOOD },
      { 'User-Agent': 'a\tb' },
    );
    const key = (
      await server.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes: [] }, asRoot)
    ).body.key;
    const next = (
      await server.call('POST', '/api/auth/refresh', { refreshToken: body.refreshToken })
    ).body;
    await server.call(
      'POST',
      '/api/auth/change-password',
      { current_password: GOOD, new_password: BETTER },
      bearer(next.accessToken),
    );
    await server.login('log@x.test', 'another secret guess');
    await server.call(
      'POST',
      '/api/auth/login',
      '{"email":"log@x.test","password":"broken json secret',
      { 'Content-Type': 'application/json' },
    );
    await server.close();
    const log = server.logs.join('');
    expect(server.logs.every((line) => JSON.parse(line))).toBe(true);
    expect(log).toContain('"type":"password.changed"');
    expect(log).toMatch(/"user_agent":"a b"/);
    expect(log).not.toContain(String.raw`a\tb`);
    const secrets = [
      GOOD,
      BETTER,
      key,
      body.accessToken,
      body.refreshToken,
      next.accessToken,
      next.refreshToken,
      'another secret guess',
      'broken json secret',
      'root-key-of-the-tests',
      server.kernel.settings.env['JWT_SECRET']!,
    ];
    // In development the log holds the mails; nothing else may hold a token.
    const mails = server.logs.filter((line) => line.includes('"mail"')).join('');
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
    expect(mails).toContain('verify-email?token=');
  });
});

describeEachDatabase('§2.14 alerts', (database) => {
  it('tell of guessing at one account, once in 15 minutes', async () => {
    const server = await startServer({
      database,
      auth: { lockout: { attempts: 1000, hardAfter: 10_000 } },
    });
    const { body } = await server.register('alert@x.test');
    for (let index = 0; index < 8; index += 1) await server.login('alert@x.test', 'wrong');
    await expect.poll(async () => (await server.events('alert.account_bruteforce')).length).toBe(1);
    expect((await server.events('alert.account_bruteforce'))[0]).toMatchObject({
      severity: 'critical',
      user_id: body.id,
    });
    expect((await server.login('alert@x.test')).status).toBe(200);
    expect(await server.events('alert.success_after_failures')).toHaveLength(1);
    server.advance(16 * 60_000);
    for (let index = 0; index < 6; index += 1) await server.login('alert@x.test', 'wrong');
    await expect.poll(async () => (await server.events('alert.account_bruteforce')).length).toBe(2);
    await server.close();
  });

  it('tell of an address that guesses, of one that sprays, and of a spike', async () => {
    const server = await startServer({ database });
    for (let index = 0; index < 100; index += 1)
      await server.login(`spray${index}@x.test`, 'wrong');
    for (const type of ['alert.ip_bruteforce', 'alert.password_spray', 'alert.failure_spike'])
      await expect.poll(async () => (await server.events(type)).length, { message: type }).toBe(1);
    expect(await server.events('alert.account_bruteforce')).toEqual([]);
    await server.close();
  });

  it('tell of many addresses that guess at one account', async () => {
    const server = await startServer({
      database,
      auth: { lockout: { attempts: 1000, hardAfter: 10_000 } },
      server: { trustedProxies: ['127.0.0.1'] },
    });
    for (let index = 0; index < 10; index += 1)
      await server.login('victim@x.test', 'wrong', { 'X-Forwarded-For': `203.0.113.${index}` });
    await expect.poll(async () => (await server.events('alert.distributed')).length).toBe(1);
    await server.close();
  });
});

const chrome = (version: number, system = 'Windows NT 10.0; Win64; x64') =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
const firefox = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;

describeEachDatabase('§2.14 a new device', (database) => {
  it('is another browser or system, and not an update of a known one', async () => {
    const server = await startServer({ database });
    await server.register('update@x.test');
    const seen: boolean[] = [];
    for (const userAgent of [
      chrome(126),
      chrome(127),
      chrome(140, 'Windows NT 11.0; Win64; x64'),
      chrome(127, 'X11; Linux x86_64'),
      firefox(128),
      firefox(129),
      'ShopApp/1.2.3 (build 77)',
      'ShopApp/1.3 (build 80)',
      'OtherApp/1.3 (build 80)',
    ]) {
      const before = await server.events('auth.login.succeeded');
      await server.login('update@x.test', GOOD, { 'User-Agent': userAgent });
      const ids = new Set(before.map(({ id }) => id));
      const [added] = (await server.events('auth.login.succeeded')).filter(
        ({ id }) => !ids.has(id),
      );
      seen.push(added!.data.new_device);
    }
    expect(seen).toEqual([true, false, false, true, true, false, true, false, true]);
    await server.close();
  });

  it('a session of before, ended or not, counts with the whole header that it kept', async () => {
    const server = await startServer({ database });
    const { body } = await server.register('before@x.test');
    await server.kernel.store.db
      .updateTable('auth_sessions')
      .set({ user_agent: chrome(99), revoked_at: 1 })
      .where('user_id', '=', body.id)
      .execute();
    await server.login('before@x.test', GOOD, { 'User-Agent': chrome(127) });
    const last = (await server.events('auth.login.succeeded')).find(
      ({ data }) => data.method === 'password',
    );
    expect(last!.data.new_device).toBe(false);
    await server.close();
  });
});

describeEachDatabase('§2.14 mail to people', (database) => {
  it('tells of a changed password, a new device and an alert', async () => {
    const mailbox = await startMailbox();
    const server = await startServer({
      database,
      env: { SMTP_URL: mailbox.url },
      auth: { events: { alertEmail: 'security@x.test' } },
    });
    await server.call(
      'POST',
      '/api/auth/register',
      { email: 'told@x.test', password: GOOD },
      { 'User-Agent': 'first' },
    );
    const { body } = await server.login('told@x.test', GOOD, { 'User-Agent': 'first' });
    const second = await server.login('told@x.test', GOOD, { 'User-Agent': 'second' });
    expect(second.status).toBe(200);
    await mailbox.find('told@x.test', 'New sign-in to your account');
    await server.call(
      'POST',
      '/api/auth/change-password',
      { current_password: GOOD, new_password: BETTER },
      bearer(body.accessToken),
    );
    await mailbox.find('told@x.test', 'Your password was changed');
    for (let index = 0; index < 5; index += 1) await server.login('told@x.test', 'wrong');
    await mailbox.find('security@x.test', 'alert.account_bruteforce');
    await server.close();
    expect(mailbox.received.filter(({ text }) => text.includes('New sign-in'))).toEqual([]);
    await mailbox.close();
  });
});

describeEachDatabase('§2.14 retention', (database) => {
  it('removes what is old and keeps what is not, the log of permission changes for good', async () => {
    const first = await startServer({ database, auth: { events: { retention: 600_000 } } });
    await first.register('old@x.test');
    await first.call('POST', '/api/auth/admin/api-keys', { name: 'k', scopes: [] }, asRoot);
    const { purge } = await import('../../runtime/auth/setup/retention.ts');
    const rows = async () => [
      (await first.rows('auth_login_attempts')).length,
      (await first.rows('auth_security_events')).length,
      (await first.rows('auth_permission_changes')).length,
    ];
    const run = (now: number) =>
      purge({
        db: first.kernel.store.db,
        now: () => now,
        model: first.kernel.project.auth!,
        config: { users: true },
      });
    await run(Date.now());
    expect(await rows()).toEqual([1, 4, 1]);
    await run(Date.now() + 900_000);
    expect(await rows()).toEqual([0, 0, 1]);
    await first.close();
  });
});
