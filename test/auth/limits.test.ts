import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressKey } from '../../runtime/auth/base/caller.ts';
import { memoryWindows } from '../../runtime/auth/limits/memory-windows.ts';
import { storedWindows } from '../../runtime/auth/limits/stored-windows.ts';
import type { Windows } from '../../runtime/auth/limits/windows.ts';
import { describeWith } from '../engines/available.ts';
import { describeEachDatabase, GOOD, startServer, type TestServer, USER } from './harness.ts';

const ON = { RATE_LIMIT_ENABLED: 'true' };

/** Asks one hit at each time and checks every window of accepted hits. */
async function accepted(
  windows: Windows,
  key: string,
  times: readonly number[],
  limit: number,
  window: number,
): Promise<number[]> {
  const taken: number[] = [];
  for (const now of times) {
    const before = taken.filter((hit) => hit > now - window).length;
    const [state] = await windows.consume([{ key, limit, window }], now);
    // Exact both ways: never more than the limit, and never fewer.
    expect(state!.accepted).toBe(before < limit);
    if (state!.accepted) taken.push(now);
  }
  return taken;
}

describe('§2.9 the sliding window in memory', () => {
  it('accepts exactly while fewer than N accepted hits lie in the window', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 80 }),
        fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 7, max: 40 })),
        fc.integer({ min: 1, max: 9000 }),
        async (steps, limit, window) => {
          let now = 1_000_000;
          await accepted(
            memoryWindows(),
            'k',
            steps.map((step) => (now += step)),
            limit,
            window,
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('several charges pass together or not at all, and can be taken back', async () => {
    const windows = memoryWindows();
    const [a, b] = [
      { key: 'a', limit: 5, window: 1000 },
      { key: 'b', limit: 1, window: 1000 },
    ];
    expect((await windows.consume([a, b], 1)).map(({ accepted: yes }) => yes)).toEqual([
      true,
      true,
    ]);
    expect(
      (await windows.consume([a, b], 2)).map(({ accepted: yes, remaining }) => [yes, remaining]),
    ).toEqual([
      [true, 4],
      [false, 0],
    ]);
    await windows.refund([a, b], 1);
    expect((await windows.consume([a, b], 3)).map(({ remaining }) => remaining)).toEqual([4, 0]);
  });

  it('keeps no more keys than it may', async () => {
    const windows = memoryWindows(100);
    for (let index = 0; index < 1000; index += 1)
      await windows.consume([{ key: `k${index}`, limit: 1, window: 1e9 }], 1);
    expect((await windows.consume([{ key: 'k999', limit: 1, window: 1e9 }], 2))[0]!.accepted).toBe(
      false,
    );
    expect((await windows.consume([{ key: 'k0', limit: 1, window: 1e9 }], 2))[0]!.accepted).toBe(
      true,
    );
  });

  it('one customer of IPv6 is one address', () => {
    expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe(addressKey('2001:db8:1:2::1'));
    expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8:1:3::1'));
    expect(addressKey('2001:DB8::1')).toBe('2001:db8:0:0::/64');
    expect(addressKey('10.0.0.1')).toBe('10.0.0.1');
  });
});

describeEachDatabase('§2.9 limits', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, env: ON });
  });
  afterAll(() => server.close());

  it('count what was refused in a transaction that is rolled back', async () => {
    const { store } = server.kernel;
    const windows = storedWindows(store, createSecretKey(Buffer.alloc(32)));
    const charge = { key: 'rolled back', limit: 3, window: 60_000 };
    const refused = store.transaction(async () => {
      await windows.consume([charge], Date.now());
      throw new RangeError('no');
    });
    await expect(refused).rejects.toThrow('no');
    const [state] = await windows.consume([{ ...charge, peek: true }], Date.now());
    expect(state).toMatchObject({ accepted: true, remaining: 2 });
  });

  it('the sliding window in the database is as exact', async () => {
    const windows = storedWindows(server.kernel.store, createSecretKey(Buffer.alloc(32)));
    let now = Date.now();
    const times = Array.from({ length: 60 }, () => (now += Math.floor(Math.random() * 300)));
    await accepted(windows, 'exact', times, 3, 1000);
    const answers = await Promise.all(
      Array.from({ length: 30 }, () =>
        windows.consume(
          [
            { key: 'b', limit: 7, window: 1000 },
            { key: 'a', limit: 9, window: 1000 },
          ],
          now,
        ),
      ),
    );
    expect(answers.filter((states) => states.every(({ accepted: yes }) => yes))).toHaveLength(7);
    expect(
      (await windows.consume([{ key: 'a', limit: 9, window: 1000, peek: true }], now))[0],
    ).toMatchObject({ accepted: true, remaining: 2 });
    await windows.refund([{ key: 'b', limit: 7, window: 1000 }], now);
    expect((await windows.consume([{ key: 'b', limit: 7, window: 1000 }], now))[0]!.accepted).toBe(
      true,
    );
  });

  it('the 61st login of a minute is 429, with fields that parse', async () => {
    const own = await startServer({ database, env: ON });
    const statuses = [];
    let last;
    for (let index = 0; index < 62; index += 1) {
      last = await own.login(`u${index}@x.test`, 'wrong');
      statuses.push(last.status);
      if (index === 18) own.advance(5 * 60_000); // failures have a limit of their own: 20 in five minutes
      if (index === 37) own.advance(5 * 60_000);
    }
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThan(37);
    expect(last!.status).toBe(429);
    expect(last!.body).toEqual({ error: 'Rate limit exceeded' });
    expect(last!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(last!.headers.get('ratelimit-policy')).toMatch(
      /^("[\w-]+";q=\d+;w=\d+)(, "[\w-]+";q=\d+;w=\d+)+$/,
    );
    expect(last!.headers.get('ratelimit')).toMatch(/^"[\w-]+";r=0;t=\d+$/);
    await own.close();
  });

  it('20 failures of an address in five minutes are the end, whatever the identifiers', async () => {
    const own = await startServer({ database, env: ON });
    const statuses = [];
    for (let index = 0; index < 22; index += 1)
      statuses.push((await own.login(`n${index}@x.test`, 'wrong')).status);
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429]);
    expect(await own.events('rate_limit.exceeded')).toHaveLength(1);
    own.advance(5 * 60_000 + 1000);
    expect((await own.login('n@x.test', 'wrong')).status).toBe(401);
    await own.close();
  });

  it('with limits on, 50 parallel wrong logins are five 401 and otherwise 423 or 429', async () => {
    const own = await startServer({ database, env: ON });
    await own.register('fifty@x.test');
    const statuses = (
      await Promise.all(Array.from({ length: 50 }, () => own.login('fifty@x.test', 'wrong')))
    ).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.every((status) => [401, 423, 429].includes(status))).toBe(true);
    await own.close();
  });

  it('X-Forwarded-For of a stranger does not change who he is, that of a trusted proxy does', async () => {
    const auth = { rateLimits: { 'strength-ip': { count: 2, window: 60_000 } } };
    const ask = (on: TestServer, ip: string) =>
      on.call('POST', '/api/auth/password-strength', { password: GOOD }, { 'X-Forwarded-For': ip });
    const direct = await startServer({ database, env: ON, auth });
    expect([
      (await ask(direct, '1.1.1.1')).status,
      (await ask(direct, '2.2.2.2')).status,
      (await ask(direct, '3.3.3.3')).status,
    ]).toEqual([200, 200, 429]);
    await direct.close();
    const behind = await startServer({
      database,
      env: ON,
      auth,
      server: { trustedProxies: ['127.0.0.0/8'] },
    });
    expect([
      (await ask(behind, '9.9.9.9, 1.1.1.1')).status,
      (await ask(behind, '8.8.8.8, 1.1.1.1')).status,
      (await ask(behind, '1.1.1.1')).status,
      (await ask(behind, '2.2.2.2')).status,
    ]).toEqual([200, 200, 429, 200]);
    await behind.close();
  });

  it('limits of single routes count by address, user or key', async () => {
    const own = await startServer({
      database,
      env: ON,
      auth: {
        routeLimits: {
          'GET /api/auth/sessions/:x': { count: 1, window: 60_000, by: 'ip' },
          'GET /api/auth/me': { count: 2, window: 60_000, by: 'user' },
        },
      },
    });
    const [a, b] = [await own.register(), await own.register()];
    const me = (token: string) =>
      own.call('GET', '/api/auth/me', undefined, { Authorization: `Bearer ${token}` });
    expect([
      (await me(a.body.accessToken)).status,
      (await me(a.body.accessToken)).status,
      (await me(a.body.accessToken)).status,
      (await me(b.body.accessToken)).status,
    ]).toEqual([200, 200, 429, 200]);
    await own.close();
  });

  it('what one limit refuses is not charged to the others', async () => {
    const own = await startServer({
      database,
      env: ON,
      auth: {
        rateLimits: {
          'strength-ip': { count: 1, window: 60_000 },
          'auth-ip': { count: 5, window: 60_000 },
        },
      },
    });
    const strength = () => own.call('POST', '/api/auth/password-strength', { password: GOOD });
    expect([
      (await strength()).status,
      (await strength()).status,
      (await strength()).status,
      (await strength()).status,
      (await strength()).status,
    ]).toEqual([200, 429, 429, 429, 429]);
    const policy = () => own.call('GET', '/api/auth/password-policy');
    expect([
      (await policy()).status,
      (await policy()).status,
      (await policy()).status,
      (await policy()).status,
      (await policy()).status,
    ]).toEqual([200, 200, 200, 200, 429]);
    await own.close();
    const wide = await startServer({
      database,
      env: ON,
      auth: {
        rateLimits: {
          'strength-ip': { count: 1, window: 60_000 },
          'global-ip': { count: 3, window: 60_000 },
        },
      },
    });
    const statuses = [];
    for (let index = 0; index < 6; index += 1)
      statuses.push(
        (await wide.call('POST', '/api/auth/password-strength', { password: GOOD })).status,
      );
    for (let index = 0; index < 3; index += 1)
      statuses.push((await wide.call('GET', '/api/auth/password-policy')).status);
    expect(statuses).toEqual([200, 429, 429, 429, 429, 429, 200, 200, 429]);
    await wide.close();
  });
});

describeWith('postgres', '§2.9 limits over several nodes', () => {
  it('two nodes that share PostgreSQL share every limit', async () => {
    const auth = { rateLimits: { 'strength-ip': { count: 6, window: 60_000 } } };
    const first = await startServer({ database: 'PostgreSQL', env: ON, auth });
    const second = await startServer({
      database: 'PostgreSQL',
      env: ON,
      auth,
      url: first.databaseUrl,
    });
    const ask = (on: TestServer) =>
      on.call('POST', '/api/auth/password-strength', { password: GOOD });
    const statuses = (
      await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index % 2 ? first : second)))
    ).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(6);
    await second.close();
    await first.close();
  });
});
