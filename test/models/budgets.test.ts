import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../runtime/core/config/log.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { createAdmission } from '../../runtime/models/gateway/admission.ts';
import {
  type Budget,
  EMPTY,
  leftOf,
  reserve,
  settle,
  useOf,
} from '../../runtime/models/keys/budget.ts';
import { createBudgetStore } from '../../runtime/models/keys/budget-store.ts';
import { createModelKeys } from '../../runtime/models/keys/model-keys.ts';
import { modelMigrations } from '../../runtime/models/keys/tables.ts';
import { createDatabase, describeWith } from '../engines/available.ts';

const log = createLog({ level: 'silent' }, { write: () => {} });
const LIMITS: readonly (readonly [Budget, number, number])[] = [
  [{ requests_per_minute: 50 }, 1, 50],
  [{ tokens_per_minute: 1000 }, 30, 33],
  [{ tokens_per_day: 1000 }, 30, 33],
  [{ money_per_day: 0.001 }, 30, 33],
];

/** 100 requests at once from two processes, each of which dies with what it has reserved. */
async function race(database: string, folder: string): Promise<void> {
  for (const [budget, tokens, expected] of LIMITS) {
    const store = openStore(database, folder);
    await migrate(store, modelMigrations);
    await store.db.deleteFrom('hosting_model_budgets').execute();
    const order = JSON.stringify({ database, folder, budget, requests: 50, tokens });
    const program = new URL('./budget-program.ts', import.meta.url);
    const both: ChildProcess[] = [1, 2].map(() => fork(program, [order], { execArgv: [] }));
    await Promise.all(both.map((child) => once(child, 'message')));
    const results = both.map((child) => once(child, 'message') as Promise<[number]>);
    for (const child of both) child.send('go');
    const [[one], [two]] = (await Promise.all(results)) as [[number], [number]];
    expect([budget, one + two]).toEqual([budget, expected]);
    for (const child of both) child.kill('SIGKILL');
    const later = Date.now() + 60_000;
    const budgets = createBudgetStore(store, { log, now: () => later });
    const state = await budgets.read('key');
    expect(useOf(state, Date.now())).toMatchObject({ tokens_today: expected * tokens });
    expect(useOf(state, later)).toMatchObject({
      tokens_in_minute: 0,
      tokens_today: 0,
      money_today: 0,
    });
    budgets.stop();
    await store.close();
  }
}

describe('a budget', () => {
  it('is never passed by two processes on SQLite, and given back when they die', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tf-budgets-'));
    await race('file:budgets.db', folder);
    rmSync(folder, { recursive: true, force: true });
  });

  const at = (seconds: number) => Date.parse('2026-11-23T23:58:00Z') + seconds * 1000;
  const asking = (budget: Budget, tokens = 1) => {
    let state = EMPTY;
    let last = 0;
    return {
      ask(seconds: number) {
        const reservation = { id: `r${(last += 1)}`, tokens, money: 0 };
        const made = reserve(state, { budget, reservation, now: at(seconds) });
        state = made.state;
        return made.refusal?.retryAfter ?? 0;
      },
      settle(id: number, cost: number, seconds: number) {
        state = settle(state, { id: `r${id}`, cost: { tokens: cost, money: 0 }, now: at(seconds) });
      },
      left: (seconds: number) => leftOf(state, budget, at(seconds)),
    };
  };

  it('has a minute that slides', () => {
    const key = asking({ requests_per_minute: 3 });
    expect([0, 30, 59].map((second) => key.ask(second))).toEqual([0, 0, 0]);
    expect(key.ask(59)).toBe(2);
    expect(key.left(59).requests).toEqual({ limit: 3, remaining: 0, reset: 61 });
    expect(key.ask(61)).toBe(0);
    expect(key.ask(62)).toBe(29);
  });

  it('has days of UTC, and what is settled costs what it did', () => {
    const key = asking({ tokens_per_day: 100 }, 60);
    expect(key.ask(0)).toBe(0);
    expect(key.ask(1)).toBe(119);
    key.settle(1, 20, 2);
    expect(key.ask(3)).toBe(0);
    expect(key.ask(4)).toBe(116);
    // At midnight the day is new, and what runs is still reserved.
    key.settle(2, 60, 119);
    expect(key.ask(120)).toBe(0);
  });
});

describeWith('postgres', 'a budget on PostgreSQL', () => {
  it('is never passed by two processes, and given back when they die', async () => {
    const { url, drop } = await createDatabase();
    await race(url, tmpdir());
    await drop();
  });
});

describe('the limits of a key of the server', () => {
  it('do not end with their time, after which it may use nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keys-'));
    const store = openStore(`file:${join(folder, 'app.db')}`, folder);
    try {
      await migrate(store, modelMigrations);
      const id = 'key_01ARZ3NDEKTSV4RRFFQ69G5FAV';
      let now = 0;
      const keys = createModelKeys(store, () => now);
      const { callerOf } = createAdmission({ keys } as never);
      const principal = { kind: 'api_key', id, scopes: ['models:read'], userId: null } as const;
      expect((await callerOf({ principal })).may('org/any')).toBe(true);
      await keys.change(id, { models: ['org/one'], expiresAt: 1000 }, 'operator');
      expect((await callerOf({ principal })).may('org/any')).toBe(false);
      now = 1000;
      await expect(callerOf({ principal })).rejects.toMatchObject({ status: 401 });
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
});
