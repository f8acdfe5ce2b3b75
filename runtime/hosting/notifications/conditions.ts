import type { HostingStore, RowOf, Topic } from '../records/tables.ts';
import { type NotificationEvent, TOPICS } from './events.ts';

/** The state of one subject in one topic. */
export interface Observation {
  readonly topic: Topic;
  /** An app, a domain, or the host itself. */
  readonly subject: string;
  readonly app: string | null;
  readonly failing: boolean;
  readonly title: string;
  readonly text: string;
}

/** A change of state that receivers have to hear of. */
export interface Change extends Observation {
  readonly event: NotificationEvent;
}

/**
 * What fails now, and what receivers were told of it. A message is due when the two differ. So there
 * is one message when something fails and one when it works again, however often it failed between.
 */
export interface Conditions {
  /** Stores the state. What never failed is not stored. */
  observe(observation: Observation): Promise<void>;
  /**
   * Calls `tell` for each message that is due, and notes that it was told.
   *
   * @returns milliseconds until the next one is due.
   */
  settle(tell: (change: Change) => Promise<void>): Promise<number>;
  /** Forgets an app that was deleted. */
  forget(app: string): Promise<void>;
}

/** Milliseconds between two messages of the same event about the same subject. */
const QUIET_TIME = 5 * 60_000;
const TABLE = 'hosting_conditions';

type ConditionRow = RowOf<typeof TABLE>;

export function createConditions({ db }: Pick<HostingStore, 'db'>, now: () => number): Conditions {
  const update = (row: Pick<ConditionRow, 'topic' | 'subject'>, values: Partial<ConditionRow>) =>
    db
      .updateTable(TABLE)
      .set(values)
      .where('topic', '=', row.topic)
      .where('subject', '=', row.subject)
      .executeTakeFirst();
  return {
    async observe({ topic, subject, app, failing, title, text }) {
      const values = { app, failing: Number(failing), title, text };
      const changed = await update({ topic, subject }, values);
      if (!failing || Number(changed.numUpdatedRows) > 0) return;
      const row = { topic, subject, ...values, told: 0, failed_at: null, recovered_at: null };
      await db.insertInto(TABLE).values(row).execute();
    },
    async settle(tell) {
      const rows = await db
        .selectFrom(TABLE)
        .selectAll()
        .whereRef('failing', '<>', 'told')
        .execute();
      let next = Infinity;
      for (const row of rows) {
        const wait = waitOf(row, now());
        if (wait > 0) next = Math.min(next, wait);
        else {
          await tell(changeOf(row));
          const at = new Date(now()).toISOString();
          const stamp = row.failing ? { failed_at: at } : { recovered_at: at };
          await update(row, { told: row.failing, ...stamp });
        }
      }
      return next;
    },
    forget: async (app) => void (await db.deleteFrom(TABLE).where('app', '=', app).execute()),
  };
}

function waitOf({ failing, failed_at, recovered_at }: ConditionRow, now: number): number {
  const last = failing ? failed_at : recovered_at;
  return last === null ? 0 : Date.parse(last) + QUIET_TIME - now;
}

function changeOf({ topic, subject, app, failing, title, text }: ConditionRow): Change {
  const event = TOPICS[topic][failing ? 0 : 1];
  return { topic, subject, app, failing: Boolean(failing), title, text, event };
}
