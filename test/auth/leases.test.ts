import { createSecretKey } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leasedWindows } from '../../runtime/auth/limits/leased-windows.ts';
import { memoryWindows } from '../../runtime/auth/limits/memory-windows.ts';
import { type StoredWindows, storedWindows } from '../../runtime/auth/limits/stored-windows.ts';
import type { Charge, Windows } from '../../runtime/auth/limits/windows.ts';
import { describeWith } from '../engines/available.ts';
import { bearer, describeEachDatabase, startServer, type TestServer, USER } from './harness.ts';
import { type ServerProcess, startProcesses } from './processes.ts';

const ON = { RATE_LIMIT_ENABLED: 'true' };
/** Long after the real time: what the server removes as old is none of these windows. */
const START = 4e12;
const quiet = { warn: () => {} };

interface Counted extends StoredWindows {
  asked: number;
}

/** Windows in the database that count how often they are asked. */
function counted(server: TestServer): Counted {
  const stored = storedWindows(server.kernel.store, createSecretKey(Buffer.alloc(32)));
  const result: Counted = {
    ...stored,
    asked: 0,
    exchange: (...question) => {
      result.asked += 1;
      return stored.exchange(...question);
    },
  };
  return result;
}

let keys = 0;
const newKey = (limit: number, window: number): Charge => ({
  key: `key ${(keys += 1)}`,
  limit,
  window,
  leased: true,
});

async function hit(windows: Windows, charge: Charge, now: number): Promise<boolean> {
  return (await windows.consume([charge], now))[0]!.accepted;
}

/** The most hits that lie in any window. */
function mostInWindow(times: readonly number[], window: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(
    0,
    ...sorted.map(
      (end, index) => sorted.slice(0, index + 1).filter((time) => time > end - window).length,
    ),
  );
}

describeEachDatabase('leased rate limits', (database) => {
  let server: TestServer;
  let time: number;
  const clock = { now: () => time, log: quiet };
  beforeAll(async () => {
    server = await startServer({ database, entity: USER, env: ON });
  });
  afterAll(() => server.close());

  it('never accept more than the limit in any window, however many processes lease', async () => {
    const stored = counted(server);
    const step = fc.record({
      process: fc.nat({ max: 3 }),
      hits: fc.integer({ min: 1, max: 12 }),
      wait: fc.constantFrom(0, 0, 1, 7, 40, 130, 260, 900),
      closes: fc.constantFrom(false, false, false, false, true),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 60 }),
        fc.integer({ min: 32, max: 90 }),
        async (steps, limit) => {
          time = START;
          const charge = newKey(limit, 1000);
          const nodes = Array.from({ length: 4 }, () => leasedWindows(stored, clock));
          const accepted: number[] = [];
          for (const { process, hits, wait, closes } of steps) {
            time += wait;
            const all = Array.from({ length: hits }, () => hit(nodes[process]!, charge, time));
            for (const yes of await Promise.all(all)) if (yes) accepted.push(time);
            if (closes) await nodes[process]!.close();
          }
          for (const node of nodes) await node.close();
          expect(mostInWindow(accepted, 1000)).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: database === 'SQLite' ? 40 : 25 },
    );
  });

  it('accept exactly the limit in one process', async () => {
    time = START;
    const windows = leasedWindows(counted(server), clock);
    const charge = newKey(600, 60_000);
    const answers = [];
    for (let index = 0; index < 605; index += 1) {
      time += 5;
      answers.push(await hit(windows, charge, time));
    }
    expect(answers.filter(Boolean)).toHaveLength(600);
    expect(answers.slice(600).some(Boolean)).toBe(false);
    time += 60_000;
    expect(await hit(windows, charge, time)).toBe(true);
    await windows.close();
  });

  it('far below a limit cost one statement for many hits; above half of it one for each', async () => {
    time = START;
    const stored = counted(server);
    const windows = leasedWindows(stored, clock);
    const charge = newKey(600, 60_000);
    expect(await hit(windows, charge, time)).toBe(true);
    // No promise: the request does not wait for anything.
    for (let index = 0; index < 8; index += 1)
      expect(windows.consume([charge], time)).toMatchObject([{ accepted: true }]);
    expect(stored.asked).toBe(1);
    while ((await windows.consume([charge], time))[0]!.remaining > 300) await sleep(1);
    const before = stored.asked;
    for (let index = 0; index < 100; index += 1) await hit(windows, charge, time);
    expect(stored.asked - before).toBeGreaterThanOrEqual(60);
    await windows.close();
  });

  it('say what is left, hit by hit', async () => {
    time = START;
    const windows = leasedWindows(counted(server), clock);
    const charge = newKey(320, 60_000);
    const left = [];
    for (let index = 0; index < 20; index += 1)
      left.push((await windows.consume([charge], time))[0]!.remaining);
    expect(left).toEqual(Array.from({ length: 20 }, (_, index) => 319 - index));
    time += 4000;
    const [state] = await windows.consume([charge], time);
    expect(state).toEqual({ accepted: true, remaining: 299, resetIn: 56_000 });
    await windows.close();
  });

  it('are given back when a process stops, and take no more of the limit than was used', async () => {
    time = START;
    const charge = newKey(64, 60_000);
    const [first, second] = [1, 2].map(() => leasedWindows(counted(server), clock));
    for (let index = 0; index < 3; index += 1) await hit(first!, charge, time);
    await first!.close();
    const [state] = await second!.consume([charge], time);
    expect(state!.remaining).toBe(60);
    await second!.close();
  });

  it('of a process that died count as used until a window after their end', async () => {
    time = START;
    const charge = newKey(64, 8000);
    const dead = leasedWindows(counted(server), clock);
    await hit(dead, charge, time);
    const living = leasedWindows(counted(server), clock);
    const [state] = await living.consume([{ ...charge, leased: false }], time);
    // Two hits were used. The dead one leased four more: a sixteenth of 64.
    expect(state!.remaining).toBe(64 - 2 - 4);
    time += 2000 + 8000 + 1;
    expect((await living.consume([{ ...charge, leased: false }], time))[0]!.remaining).toBe(63);
    await living.close();
  });

  it('pass together with other charges or not at all', async () => {
    time = START;
    const windows = leasedWindows(counted(server), clock);
    const [wide, narrow] = [newKey(100, 60_000), { ...newKey(1, 60_000), leased: false }];
    await windows.consume([wide, narrow], time);
    for (let index = 0; index < 5; index += 1)
      expect((await windows.consume([wide, narrow], time)).map((one) => one.accepted)).toEqual([
        true,
        false,
      ]);
    expect((await windows.consume([wide], time))[0]!.remaining).toBe(98);
    await windows.refund([wide], time);
    expect((await windows.consume([wide], time))[0]!.remaining).toBe(98);
    await windows.close();
  });

  it('end with a clock that is set back, and windows are whole again within their length', async () => {
    time = START;
    const windows = leasedWindows(counted(server), clock);
    const charge = newKey(40, 1000);
    const all = await Promise.all(Array.from({ length: 45 }, () => hit(windows, charge, time)));
    expect(all.filter(Boolean)).toHaveLength(40);
    time -= 3_600_000;
    expect(await hit(windows, charge, time)).toBe(false);
    // Clocks of nodes may differ by 20 seconds, so a hit is believed to be so much later than now.
    time += 21_001;
    expect(await hit(windows, charge, time)).toBe(true);
    await windows.close();
  });

  it('are held for a bounded number of keys; the database is asked for the others', async () => {
    time = START;
    const stored = counted(server);
    const windows = leasedWindows(stored, { ...clock, keys: 3 });
    const charges = Array.from({ length: 6 }, () => newKey(600, 60_000));
    for (let round = 0; round < 4; round += 1)
      for (const charge of charges) expect(await hit(windows, charge, time)).toBe(true);
    expect(stored.asked).toBe(3 + 3 * 4);
    await windows.close();
  });

  it('keep a window of a large limit in a bounded number of pairs', async () => {
    time = START;
    const stored = counted(server);
    const charge = { ...newKey(1_000_000, 1000), leased: false };
    for (let index = 0; index < 200; index += 1) {
      time += index % 3;
      await stored.consume([charge], time);
    }
    const rows = (await server.rows('auth_limit_windows')).map(({ times, hits }) =>
      times ? times.length : JSON.parse(hits).length,
    );
    expect(Math.max(...rows)).toBeLessThanOrEqual(1000);
    expect((await stored.consume([charge], time))[0]!.remaining).toBe(1_000_000 - 201);
  });

  it('go on without the database as far as the leases reach, and fail then', async () => {
    time = START;
    const stored = counted(server);
    const { exchange } = stored;
    const windows = leasedWindows(stored, clock);
    const charge = newKey(64, 60_000);
    await hit(windows, charge, time);
    stored.exchange = () => Promise.reject(new Error('the database is gone'));
    for (let index = 0; index < 4; index += 1) expect(await hit(windows, charge, time)).toBe(true);
    await expect(hit(windows, charge, time)).rejects.toThrow('the database is gone');
    stored.exchange = exchange;
    expect(await hit(windows, charge, time)).toBe(true);
    await windows.close();
  });
});

describe('windows in memory', () => {
  it('are whole again within their length after the clock was set back', async () => {
    const windows = memoryWindows();
    const charge = { key: 'a', limit: 3, window: 1000 };
    const later = 10_000_000;
    for (let index = 0; index < 4; index += 1)
      expect(await hit(windows, charge, later)).toBe(index < 3);
    const back = later - 3_600_000;
    expect(await hit(windows, charge, back)).toBe(false);
    expect(await hit(windows, charge, back + 1001)).toBe(true);
  });
});

describeWith('postgres', 'rate limits over several processes', () => {
  const LIMIT = 96;
  const auth = { rateLimits: { user: { count: LIMIT, window: 60_000 } } };
  const ask = (node: Pick<ServerProcess, 'call'>, token: string) =>
    node.call('GET', '/api/auth/me', undefined, bearer(token));

  it('hold for a signed-in user, and a process that is killed takes a lease along and no more', async () => {
    const { watcher, nodes, atOnce, close } = await startProcesses('PostgreSQL', 3, {
      entity: USER,
      env: ON,
      auth,
    });
    const { accessToken } = (await watcher.register()).body;
    const statuses = async (total: number) =>
      (await atOnce(total, (node) => ask(node, accessToken))).map(({ status }) => status);
    const first = await statuses(30);
    expect(first.every((status) => status === 200)).toBe(true);
    nodes[0]!.child.kill('SIGKILL');
    await nodes[0]!.stop();
    nodes.shift();
    const rest = await statuses(2 * LIMIT);
    const accepted = 30 + rest.filter((status) => status === 200).length;
    expect(accepted).toBeLessThanOrEqual(LIMIT);
    // Three processes hold leases of a sixteenth at most, of which some may be refilled already.
    expect(accepted).toBeGreaterThanOrEqual(LIMIT - 3 * 2 * (LIMIT / 16));
    expect(rest.every((status) => status === 200 || status === 429)).toBe(true);
    await close();
  });

  it('lease nothing of the limits that protect a sign-in', async () => {
    const server = await startServer({ database: 'PostgreSQL', env: ON });
    await server.register('lease@x.test');
    await server.login('lease@x.test');
    const rows = await server.rows('auth_limit_windows');
    const leased = rows.filter(({ times }) => times.some((time: number) => time > Date.now()));
    expect(rows.length).toBeGreaterThan(4);
    // The address limit of all requests, and nothing else.
    expect(leased).toHaveLength(1);
    await server.close();
  });
});
