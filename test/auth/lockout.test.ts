import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { PluginTransformQueryArgs, PluginTransformResultArgs } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { createLockout } from '../../runtime/auth/limits/lockout.ts';
import { afterFailure, lockedUntil, UNLOCKED } from '../../runtime/auth/limits/lock-state.ts';
import { describeWith } from '../engines/available.ts';
import {
  asRoot,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';
import { startMailbox } from './mailbox.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const OPTIONS = DEFAULT_AUTH.lockout;

describe('§2.10 the state of a lock', () => {
  const fail = (times: readonly number[]) =>
    times.reduce((state, now) => afterFailure(state, OPTIONS, now), UNLOCKED);

  it('comes with the fifth failure in any 15 minutes, and never before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 8 * MINUTE }), { minLength: 1, maxLength: 30 }),
        (steps) => {
          let now = 1e12;
          let state = UNLOCKED;
          let counted: number[] = [];
          for (const step of steps) {
            now += step;
            if (lockedUntil(state, OPTIONS, now) !== null) continue;
            if (state.lockedUntil > 0) counted = counted.filter((at) => at > state.lockedUntil);
            state = afterFailure(state, OPTIONS, now);
            counted = [...counted.filter((at) => at > now - OPTIONS.window), now];
            expect(lockedUntil(state, OPTIONS, now) !== null).toBe(counted.length >= 5);
          }
        },
      ),
    );
  });

  it('doubles each time up to a day, and a quiet day forgets', () => {
    let state = UNLOCKED;
    let now = 1e12;
    const durations = [];
    for (let round = 0; round < 9; round += 1) {
      for (let index = 0; index < 5; index += 1)
        state = afterFailure(state, { ...OPTIONS, hardAfter: 1000 }, now);
      durations.push((state.lockedUntil - now) / MINUTE);
      now = state.lockedUntil + 1;
    }
    expect(durations).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
    now += DAY;
    for (let index = 0; index < 5; index += 1)
      state = afterFailure(state, { ...OPTIONS, hardAfter: 1000 }, now);
    expect((state.lockedUntil - now) / MINUTE).toBe(15);
  });

  it('is neither longer nor counted further by failures while it lasts', () => {
    const locked = fail([1, 2, 3, 4, 5]);
    expect(afterFailure(locked, OPTIONS, 6)).toBe(locked);
  });

  it('is for good after 100 failures without a success', () => {
    let [state, now] = [UNLOCKED, 1e12];
    for (let index = 0; index < 100; index += 1) state = afterFailure(state, OPTIONS, (now += DAY));
    expect(state.totalSinceSuccess).toBe(100);
    expect(lockedUntil(state, OPTIONS, now + 365 * DAY)).not.toBeNull();
  });
});

describeEachDatabase('§2.10 lockout', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
  });
  afterAll(() => server.close());
  const fail = async (email: string, times = 5, headers = {}) => {
    for (let index = 0; index < times; index += 1) await server.login(email, 'wrong', headers);
  };

  it('ends by itself after 15 minutes, and one event tells of it', async () => {
    const own = await startServer({ database });
    await own.register('wait@x.test');
    for (let index = 0; index < 8; index += 1) await own.login('wait@x.test', 'wrong');
    expect(await own.events('auth.locked')).toHaveLength(1);
    own.advance(14 * MINUTE);
    expect((await own.login('wait@x.test')).status).toBe(423);
    own.advance(MINUTE + 1000);
    expect((await own.login('wait@x.test')).status).toBe(200);
    await own.close();
  });

  it('a success resets the count', async () => {
    await server.register('reset@x.test');
    for (let round = 0; round < 3; round += 1) {
      await fail('reset@x.test', 4);
      expect((await server.login('reset@x.test')).status).toBe(200);
    }
  });

  it('a stranger who guesses does not lock out a device that signed in before', async () => {
    const { headers } = await server.register('device@x.test');
    const device = { 'X-Device-Token': headers.get('x-device-token')! };
    const cookie = {
      Cookie: headers
        .getSetCookie()
        .find((text) => text.startsWith('device='))!
        .split(';')[0]!,
    };
    await fail('device@x.test', 6);
    expect((await server.login('device@x.test')).status).toBe(423);
    expect((await server.login('device@x.test', GOOD, device)).status).toBe(200);
    expect((await server.login('device@x.test', GOOD, cookie)).status).toBe(200);
    expect(
      (
        await server.login('device@x.test', GOOD, {
          'X-Device-Token': device['X-Device-Token'].replace(/.$/, '-'),
        })
      ).status,
    ).toBe(423);
  });

  it("a device's token is good for its own account only, and its own failures do lock it", async () => {
    const { headers } = await server.register('mine@x.test');
    const device = { 'X-Device-Token': headers.get('x-device-token')! };
    await server.register('other@x.test');
    await fail('other@x.test', 5, device);
    expect((await server.login('other@x.test', GOOD, device)).status).toBe(423);
    await fail('mine@x.test', 5, device);
    expect((await server.login('mine@x.test', GOOD, device)).status).toBe(423);
    expect((await server.login('mine@x.test')).status).toBe(200);
  });

  it('an administrator unlocks', async () => {
    const { body } = await server.register('admin@x.test');
    await fail('admin@x.test');
    const shown = await server.call('GET', `/api/auth/admin/users/${body.id}`, undefined, asRoot);
    expect(Date.parse(shown.body.locked_until)).toBeGreaterThan(Date.now());
    expect(
      (await server.call('POST', `/api/auth/admin/users/${body.id}/unlock`, undefined, asRoot))
        .status,
    ).toBe(200);
    expect((await server.login('admin@x.test')).status).toBe(200);
  });

  it('the mail of the lock has a link that unlocks', async () => {
    const mailbox = await startMailbox();
    const own = await startServer({ database, env: { SMTP_URL: mailbox.url } });
    await own.register('mailed@x.test');
    for (let index = 0; index < 5; index += 1) await own.login('mailed@x.test', 'wrong');
    const { token } = await mailbox.find('mailed@x.test', 'unlock?token=');
    expect((await own.login('mailed@x.test')).status).toBe(423);
    expect((await own.call('POST', '/api/auth/unlock', { token })).status).toBe(200);
    expect((await own.login('mailed@x.test')).status).toBe(200);
    expect((await own.call('POST', '/api/auth/unlock', { token })).text).toBe(
      '{"error":"Invalid or expired token"}',
    );
    await own.close();
    await mailbox.close();
  });

  it('a row that was read before another failure ended is read again', async () => {
    const { store } = server.kernel;
    const slow = {
      transformQuery: ({ node }: PluginTransformQueryArgs) => node,
      transformResult: async ({ result }: PluginTransformResultArgs) => (
        await sleep(Math.random() * 20),
        result
      ),
    };
    const lockout = createLockout({ ...store, db: store.db.withPlugin(slow) }, OPTIONS, Date.now);
    for (let round = 0; round < 3; round += 1) {
      let compares = 0;
      const key = { identifierHash: `slow-${round}`, bucket: 'public' };
      await Promise.allSettled(
        Array.from({ length: 40 }, async () => {
          const ticket = await lockout.enter(key, new AbortController().signal);
          compares += 1;
          await sleep(Math.random() * 5);
          await ticket.fail();
        }),
      );
      expect(compares).toBe(5);
    }
  });

  it('somebody who waits and goes away leaves no place taken', async () => {
    const lockout = createLockout(server.kernel.store, OPTIONS, Date.now);
    const key = { identifierHash: 'gone', bucket: 'public' };
    const tickets = await Promise.all(
      Array.from({ length: 5 }, () => lockout.enter(key, new AbortController().signal)),
    );
    const gone = new AbortController();
    const waiting = lockout.enter(key, gone.signal);
    setTimeout(() => gone.abort(), 20);
    await expect(waiting).rejects.toThrow();
    tickets[0]!.release();
    (await lockout.enter(key, new AbortController().signal)).release();
    tickets.forEach((ticket) => ticket.release());
  });
});

describeWith('postgres', '§2.10 lockout over several nodes', () => {
  it('the lock holds on every server that shares the database', async () => {
    const server = await startServer({ database: 'PostgreSQL', entity: USER });
    const second = await startServer({
      database: 'PostgreSQL',
      url: server.databaseUrl,
      entity: USER,
    });
    await server.register('shared@x.test');
    const statuses = (
      await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 ? server : second).login('shared@x.test', 'wrong'),
        ),
      )
    ).map(({ status }) => status);
    // At most five compares in flight on each of the two.
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect((await server.login('shared@x.test')).status).toBe(423);
    expect((await second.login('shared@x.test')).status).toBe(423);
    await second.close();
    await server.close();
  });
});
