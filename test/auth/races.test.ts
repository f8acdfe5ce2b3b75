import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { describeWith } from '../engines/available.ts';
import {
  asRoot,
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  USER,
} from './harness.ts';
import { type Mailbox, startMailbox } from './mailbox.ts';
import { startProcess, startProcesses } from './processes.ts';
import { startReceiver } from './receiver.ts';

type Cluster = Awaited<ReturnType<typeof startProcesses>>;

const counted = (statuses: readonly number[]) =>
  Object.fromEntries(
    [...new Set(statuses)]
      .sort()
      .map((status) => [status, statuses.filter((each) => each === status).length]),
  );
const unique = (name: string) => `${name}-${Math.random().toString(36).slice(2)}@x.test`;

describeEachDatabase('§2.3 to §2.8 races between four server processes', (database) => {
  let cluster: Cluster;
  let mailbox: Mailbox;
  beforeAll(async () => {
    mailbox = await startMailbox();
    cluster = await startProcesses(database, 4, { entity: USER, env: { SMTP_URL: mailbox.url } });
  });
  afterAll(async () => {
    await cluster.close();
    await mailbox.close();
  });
  const login = (email: string, password = GOOD) =>
    cluster.atOnce(1, (node) => node.call('POST', '/api/auth/login', { email, password }));

  it('one address is registered once in 100 parallel tries', async () => {
    const email = unique('race');
    const answers = await cluster.atOnce(100, (node, index) =>
      node.call('POST', '/api/auth/register', {
        email: index % 2 ? email : email.toUpperCase(),
        password: GOOD,
      }),
    );
    expect(
      counted(answers.map(({ status }) => status)),
      answers.find(({ status }) => ![201, 409].includes(status))?.text,
    ).toEqual({ 201: 1, 409: 99 });
    const users = (await cluster.watcher.rows('users')).filter(
      (row) => String(row['email']).toLowerCase() === email,
    );
    expect(users).toHaveLength(1);
    const ids = new Set((await cluster.watcher.rows('users')).map(({ id }) => id));
    expect(
      (await cluster.watcher.rows('auth_users')).every(({ user_id }) => ids.has(user_id)),
    ).toBe(true);
    expect((await login(email))[0]!.status).toBe(200);
  });

  it('50 wrong logins at once at one process cost five compares, and lock the account at all four', async () => {
    const email = unique('lock');
    await cluster.nodes[0]!.call('POST', '/api/auth/register', { email, password: GOOD });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        cluster.nodes[0]!.call('POST', '/api/auth/login', { email, password: 'wrong' }),
      ),
    );
    // A compare is answered 401; what is locked is answered before one.
    expect(counted(answers.map(({ status }) => status))).toEqual({ 401: 5, 423: 45 });
    const others = await cluster.atOnce(4, (node) =>
      node.call('POST', '/api/auth/login', { email, password: GOOD }),
    );
    expect(others.map(({ status, text }) => [status, text])).toEqual(
      Array.from({ length: 4 }, () => [423, '{"error":"Account locked"}']),
    );
  });

  it('50 wrong logins at once, dealt out to four processes, cost at most five compares at each', async () => {
    const email = unique('spread');
    const answers = await cluster.atOnce(50, (node) =>
      node.call('POST', '/api/auth/login', { email, password: 'wrong' }),
    );
    const {
      401: wrong = 0,
      423: locked = 0,
      ...other
    } = counted(answers.map(({ status }) => status));
    expect([wrong >= 5 && wrong <= 20, wrong + locked, other]).toEqual([true, 50, {}]);
    expect((await login(email))[0]!.status).toBe(423);
  });

  it('a refresh token that four processes redeem has one successor, for 60 tokens', async () => {
    const sessions: string[] = [];
    const tokens: string[] = [];
    for (let index = 0; index < 60; index += 1) {
      const { body } = await cluster.nodes[index % 4]!.call('POST', '/api/auth/register', {
        email: unique('refresh'),
        password: GOOD,
      });
      tokens.push(body.refreshToken);
      sessions.push(body.refreshToken.split('.')[1]);
    }
    for (const refreshToken of tokens) {
      const answers = await cluster.atOnce(4, (node) =>
        node.call('POST', '/api/auth/refresh', { refreshToken }),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(answers.map(({ body }) => body.refreshToken)).size).toBe(1);
    }
    const rows = (await cluster.watcher.rows('auth_sessions')).filter(({ id }) =>
      sessions.includes(id),
    );
    expect(rows.map(({ gen, revoked_at }) => [gen, revoked_at])).toEqual(
      Array.from({ length: 60 }, () => [2, null]),
    );
  });

  it('a reset token works once in 12 tries at four processes', async () => {
    const email = unique('reset');
    await cluster.nodes[0]!.call('POST', '/api/auth/register', { email, password: GOOD });
    await cluster.nodes[1]!.call('POST', '/api/auth/forgot-password', { email });
    const { token } = await mailbox.find(email, 'reset-password?token=');
    const answers = await cluster.atOnce(12, (node) =>
      node.call('POST', '/api/auth/reset-password', { token, new_password: BETTER }),
    );
    expect(
      counted(answers.map(({ status }) => status)),
      answers.find(({ status }) => ![200, 400].includes(status))?.text,
    ).toEqual({ 200: 1, 400: 11 });
    expect((await login(email, BETTER))[0]!.status).toBe(200);
  });
});

describeWith('postgres', '§2.9 and §2.10 two server processes on one PostgreSQL', () => {
  let cluster: Cluster;
  let mailbox: Mailbox;
  beforeAll(async () => {
    mailbox = await startMailbox();
    cluster = await startProcesses('PostgreSQL', 2, {
      entity: USER,
      env: { RATE_LIMIT_ENABLED: 'true', SMTP_URL: mailbox.url },
      auth: {
        rateLimits: {
          'login-failed-ip': { count: 1000, window: 1000 },
          'strength-ip': { count: 10, window: 600_000 },
        },
      },
    });
  });
  afterAll(async () => {
    await cluster.close();
    await mailbox.close();
  });
  const register = async () =>
    (
      await cluster.nodes[0]!.call('POST', '/api/auth/register', {
        email: unique('shared'),
        password: GOOD,
      })
    ).body;
  const me = (token: string) =>
    cluster.atOnce(
      2,
      async (node) => (await node.call('GET', '/api/auth/me', undefined, bearer(token))).status,
    );

  it('share the lockout: five failures at one lock the account at the other, and unlocking holds at both', async () => {
    const { email, id } = await register();
    for (let index = 0; index < 5; index += 1)
      await cluster.nodes[0]!.call('POST', '/api/auth/login', { email, password: 'wrong' });
    const enter = () =>
      cluster.atOnce(
        2,
        async (node) =>
          (await node.call('POST', '/api/auth/login', { email, password: GOOD })).status,
      );
    expect(await enter()).toEqual([423, 423]);
    await cluster.nodes[1]!.call('POST', `/api/auth/admin/users/${id}/unlock`, undefined, asRoot);
    expect(await enter()).toEqual([200, 200]);
  });

  it('share the limits: of 20 calls at once to both, ten pass', async () => {
    const answers = await cluster.atOnce(20, (node) =>
      node.call('POST', '/api/auth/password-strength', { password: GOOD }),
    );
    const passed = answers.filter(({ status }) => status === 200).length;
    // Tried again, the window may still be full of the first try.
    expect([
      passed === 10 || passed === 0,
      answers.filter(({ status }) => status === 429).length + passed,
    ]).toEqual([true, 20]);
    expect(
      (await cluster.watcher.call('POST', '/api/auth/password-strength', { password: GOOD }))
        .status,
    ).toBe(429);
  });

  it('share sessions: opened at one, used, listed, refreshed and ended at the other', async () => {
    const { accessToken, refreshToken } = await register();
    expect(await me(accessToken)).toEqual([200, 200]);
    expect(
      (await cluster.nodes[1]!.call('GET', '/api/auth/sessions', undefined, bearer(accessToken)))
        .body.total,
    ).toBe(1);
    const next = (await cluster.nodes[1]!.call('POST', '/api/auth/refresh', { refreshToken })).body;
    expect(await me(next.accessToken)).toEqual([200, 200]);
    expect(
      (
        await cluster.nodes[1]!.call(
          'POST',
          '/api/auth/logout',
          undefined,
          bearer(next.accessToken),
        )
      ).status,
    ).toBe(200);
    expect(await me(next.accessToken)).toEqual([401, 401]);
    expect(
      (
        await cluster.nodes[0]!.call('POST', '/api/auth/refresh', {
          refreshToken: next.refreshToken,
        })
      ).status,
    ).toBe(401);
  });

  it('share revocation: a token, a user, a password and an API key end at both with the next request', async () => {
    const first = await register();
    await me(first.accessToken);
    await cluster.nodes[0]!.call(
      'POST',
      '/api/auth/admin/tokens/revoke',
      { token: first.accessToken },
      asRoot,
    );
    expect(await me(first.accessToken)).toEqual([401, 401]);
    const second = await register();
    await me(second.accessToken);
    await cluster.nodes[1]!.call(
      'POST',
      `/api/auth/admin/users/${second.id}/disable`,
      undefined,
      asRoot,
    );
    expect(await me(second.accessToken)).toEqual([401, 401]);
    const third = await register();
    const other = (
      await cluster.nodes[1]!.call('POST', '/api/auth/login', {
        email: third.email,
        password: GOOD,
      })
    ).body;
    await me(third.accessToken);
    expect(
      (
        await cluster.nodes[1]!.call(
          'POST',
          '/api/auth/change-password',
          { current_password: GOOD, new_password: BETTER },
          bearer(other.accessToken),
        )
      ).status,
    ).toBe(200);
    expect([await me(third.accessToken), await me(other.accessToken)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
    const { id, key } = (
      await cluster.nodes[0]!.call(
        'POST',
        '/api/auth/admin/api-keys',
        { name: 'k', scopes: ['auth:manage'] },
        asRoot,
      )
    ).body;
    const manage = () =>
      cluster.atOnce(
        2,
        async (node) =>
          (await node.call('GET', '/api/auth/admin/roles', undefined, { 'X-API-Key': key })).status,
      );
    expect(await manage()).toEqual([200, 200]);
    await cluster.nodes[1]!.call('DELETE', `/api/auth/admin/api-keys/${id}`, undefined, asRoot);
    expect(await manage()).toEqual([401, 401]);
  });
});

describeEachDatabase('§2.14 a delivery and kill -9', (database) => {
  const secret = `whsec_${Buffer.from('a webhook secret of the tests 12').toString('base64')}`;

  it('an event that was committed before kill -9 is delivered by the next process, once', async () => {
    const receiver = await startReceiver();
    const cluster = await startProcesses(database, 0);
    const options = {
      database,
      url: cluster.watcher.databaseUrl,
      env: { WEBHOOK_SECRET: secret },
      auth: {
        events: {
          webhooks: [
            { url: receiver.url, secretEnv: 'WEBHOOK_SECRET', types: ['user.registered'] },
          ],
        },
      },
    };
    const doomed = await startProcess(options, 'user.registered');
    const killed = once(doomed.child, 'exit');
    await expect(
      doomed.call('POST', '/api/auth/register', { email: 'killed@x.test', password: GOOD }),
    ).rejects.toThrow();
    expect(await killed).toEqual([null, 'SIGKILL']);
    expect(
      (await cluster.watcher.rows('auth_webhook_deliveries')).map(({ status, attempt }) => [
        status,
        attempt,
      ]),
    ).toEqual([['pending', 0]]);
    expect(receiver.deliveries).toEqual([]);
    const next = await startProcess(options);
    await expect.poll(() => receiver.deliveries.length, { timeout: 20_000 }).toBe(1);
    const { body, headers, event } = receiver.deliveries[0]!;
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: 'user.registered',
    });
    expect((await cluster.watcher.events('user.registered')).map(({ id }) => id)).toEqual([
      event['id'],
    ]);
    await expect
      .poll(async () => (await cluster.watcher.rows('auth_webhook_deliveries'))[0]!['status'], {
        timeout: 20_000,
      })
      .toBe('delivered');
    // The account is there as well: both were one transaction.
    expect(
      (await next.call('POST', '/api/auth/login', { email: 'killed@x.test', password: GOOD }))
        .status,
    ).toBe(200);
    await next.stop();
    expect(receiver.deliveries).toHaveLength(1);
    await cluster.close();
    await receiver.close();
  });

  it('a process that is killed while it sends leaves the delivery to another, with the same id', async () => {
    const receiver = await startReceiver((count) => (count === 1 ? 'hang' : 204));
    const cluster = await startProcesses(database, 0);
    const options = {
      database,
      url: cluster.watcher.databaseUrl,
      env: { WEBHOOK_SECRET: secret },
      auth: {
        events: {
          webhooks: [
            { url: receiver.url, secretEnv: 'WEBHOOK_SECRET', types: ['user.registered'] },
          ],
        },
      },
    };
    const doomed = await startProcess(options);
    expect(
      (await doomed.call('POST', '/api/auth/register', { email: 'sending@x.test', password: GOOD }))
        .status,
    ).toBe(201);
    await expect.poll(() => receiver.deliveries.length, { timeout: 20_000 }).toBe(1);
    doomed.child.kill('SIGKILL');
    await once(doomed.child, 'exit');
    const next = await startServer(options);
    // The dead one had claimed it for half a minute.
    next.advance(31_000);
    await expect.poll(() => receiver.deliveries.length, { timeout: 20_000 }).toBe(2);
    expect(new Set(receiver.deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    await next.close();
    await cluster.close();
    await receiver.close();
  });
});
