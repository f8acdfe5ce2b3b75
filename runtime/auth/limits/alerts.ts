import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import type { Kernel } from '@twofold/runtime/kernel';
import type { Db } from '../base/tables.ts';
import { type Caller, SYSTEM } from '../base/caller.ts';
import type { EventType } from '../events/event-types.ts';
import type { Events } from '../events/events.ts';
import type { UserId } from '../base/ids.ts';
import { MINUTE } from '../base/time.ts';
import type { Windows } from './windows.ts';

/** A failed login, as the alert rules see it. */
export interface Failure {
  readonly caller: Caller;
  /** Null for an API key, which has no identifier. */
  readonly identifierHash: string | null;
  readonly userId: UserId | null;
}

/** Watches failed logins for patterns of attack. */
export interface Alerts {
  /** Checks the alert rules after one more failure, in the background. */
  observe(failed: Failure): void;
  /** Raises an alert, unless the same alert was raised for `key` within the last 15 minutes. */
  raise(
    caller: Caller,
    type: EventType,
    key: string,
    userId: UserId | null,
    data: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  settled(): Promise<void>;
}

const ALERT_INTERVAL = 15 * MINUTE;

/**
 * A rule counts the failures of a time window, or with `distinct` the different values of that
 * column among them. It raises an alert when the count reaches `least`.
 */
interface Rule {
  readonly type: EventType;
  readonly window: number;
  readonly least: number;
  readonly of: 'account' | 'ip' | 'all';
  readonly distinct?: 'identifier_hash' | 'ip';
}

const RULES: readonly Rule[] = [
  { type: 'alert.account_bruteforce', window: 15 * MINUTE, least: 5, of: 'account' },
  { type: 'alert.ip_bruteforce', window: 15 * MINUTE, least: 20, of: 'ip' },
  {
    type: 'alert.password_spray',
    window: 10 * MINUTE,
    least: 10,
    of: 'ip',
    distinct: 'identifier_hash',
  },
  { type: 'alert.distributed', window: 15 * MINUTE, least: 10, of: 'account', distinct: 'ip' },
  { type: 'alert.failure_spike', window: 5 * MINUTE, least: 100, of: 'all' },
];

export function createAlerts(
  { store, now, log }: Kernel,
  events: Events,
  windows: Windows,
): Alerts {
  const running = new Set<Promise<void>>();
  // The rules are judged outside of the caller's transaction, which may end before.
  const outside = AsyncLocalStorage.snapshot();
  const raise: Alerts['raise'] = async (caller, type, key, userId, data) => {
    const [state] = await windows.consume(
      [{ key: `alert|${type}|${key}`, limit: 1, window: ALERT_INTERVAL }],
      now(),
    );
    // The window above is charged even if the transaction around this call is rolled back.
    if (state?.accepted) await store.keep(() => events.emit(caller, type, userId, data));
  };
  const judge = async ({ caller, identifierHash, userId }: Failure) => {
    for (const rule of RULES.filter(({ of }) => of !== 'account' || identifierHash !== null)) {
      const count = await countFailures(store.db, rule, identifierHash, caller.ip, now());
      if (count < rule.least) continue;
      const key = rule.of === 'account' ? identifierHash! : rule.of === 'ip' ? caller.ip : '';
      const about = rule.of === 'account' ? userId : null;
      await raise({ ...caller, actor: SYSTEM.actor }, rule.type, key, about, {
        failures: count,
        ...(rule.of === 'ip' && { ip: caller.ip }),
      });
    }
  };
  const report = (error: unknown) =>
    log.error(
      { reason: error instanceof Error ? error.message : 'unknown' },
      'alert rules could not be judged',
    );
  const judgeNow = (failed: Failure) => {
    const job: Promise<void> = outside(() => judge(failed))
      .catch(report)
      .finally(() => running.delete(job));
    running.add(job);
  };
  return {
    raise,
    // A failure inside a transaction can be counted only after its end: it is stored with the
    // commit, or kept after the rollback.
    observe: (failed) =>
      void store.keep(async () => store.afterCommit(() => judgeNow(failed))).catch(report),
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Maximum rows to count. Counting every row of a flood would itself load the database. */
const MAX_COUNTED_ROWS = 1000;

async function countFailures(
  db: Db,
  rule: Rule,
  identifierHash: string | null,
  ip: string,
  now: number,
): Promise<number> {
  const column = rule.distinct ?? 'id';
  let recent = db
    .selectFrom('auth_login_attempts')
    .select(column)
    .where('outcome', '=', 'failure')
    .where('ts', '>', now - rule.window)
    .orderBy('ts', 'desc')
    .limit(MAX_COUNTED_ROWS);
  if (rule.of === 'account') recent = recent.where('identifier_hash', '=', identifierHash);
  if (rule.of === 'ip') recent = recent.where('ip', '=', ip);
  const counted = sql<number>`count(distinct ${sql.ref(column)})`;
  return Number(
    (await db.selectFrom(recent.as('recent')).select(counted.as('count')).executeTakeFirst())
      ?.count ?? 0,
  );
}
