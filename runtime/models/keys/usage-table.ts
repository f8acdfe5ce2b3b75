import { sql } from 'kysely';
import type { Store } from '@twofold/runtime/kernel';
import type { Usage } from '../gateway/dialect.ts';

/** What one request has used. Money is in billionths. */
export interface UsageEntry {
  readonly key: string;
  readonly model: string;
  readonly failed: boolean;
  readonly input: number;
  readonly output: number;
  readonly money: number;
}

export interface UsageQuery {
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  /** ISO 8601. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly by: 'hour' | 'day';
}

/** The counts of one hour or day. */
export interface UsageRow {
  readonly at: string;
  readonly key: string;
  readonly model: string;
  readonly requests: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly money: number;
}

export interface UsageTable {
  add(entry: UsageEntry): Promise<void>;
  /** @returns at most 10,000 rows, the oldest first */
  read(query: UsageQuery): Promise<readonly UsageRow[]>;
}

const TABLE = 'hosting_model_usage';
const COUNTS = ['requests', 'failed', 'input_tokens', 'output_tokens', 'money'] as const;
const MAX_ROWS = 10_000;
const BILLION = 1e9;
/** Characters of `2026-11-23T10` and `2026-11-23`. */
const LENGTHS = { hour: 13, day: 10 } as const;

export function createUsageTable({ db }: Store, now: () => number): UsageTable {
  return {
    async add({ key, model, failed, input, output, money }) {
      const row = {
        requests: 1,
        failed: failed ? 1 : 0,
        input_tokens: input,
        output_tokens: output,
        money,
      };
      const at = new Date(now()).toISOString().slice(0, LENGTHS.hour);
      await db
        .insertInto(TABLE)
        .values({ at, key, model, ...row })
        .onConflict((conflict) =>
          conflict
            .columns(['at', 'key', 'model'])
            .doUpdateSet(
              Object.fromEntries(
                COUNTS.map((name) => [
                  name,
                  sql`${sql.ref(`${TABLE}.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
                ]),
              ),
            ),
        )
        .execute();
    },
    async read({ key, model, from, to, by }) {
      const at = sql<string>`substr(${sql.ref('at')}, 1, ${sql.lit(LENGTHS[by])})`;
      let query = db
        .selectFrom(TABLE)
        .select([at.as('period'), 'key', 'model'])
        .select(({ fn }) => COUNTS.map((name) => fn.sum(name).as(name)))
        .groupBy([at, 'key', 'model'])
        .orderBy('period')
        .orderBy('key')
        .orderBy('model')
        .limit(MAX_ROWS);
      if (key !== undefined) query = query.where('key', '=', key);
      if (model !== undefined) query = query.where('model', '=', model);
      if (from !== undefined) query = query.where('at', '>=', hourOf(from));
      if (to !== undefined) query = query.where('at', '<', hourOf(to));
      return (await query.execute()).map((row) => toUsage(row, by));
    },
  };
}

const hourOf = (time: string) => new Date(time).toISOString().slice(0, LENGTHS.hour);

function toUsage(row: Record<string, any>, by: UsageQuery['by']): UsageRow {
  const count = (name: (typeof COUNTS)[number]) => Number(row[name]);
  return {
    at: by === 'hour' ? `${row['period']}:00:00.000Z` : `${row['period']}T00:00:00.000Z`,
    key: row['key'],
    model: row['model'],
    requests: count('requests'),
    failed: count('failed'),
    input_tokens: count('input_tokens'),
    output_tokens: count('output_tokens'),
    money: count('money') / BILLION,
  };
}

/** The sum of rows. */
export function totalOf(rows: readonly UsageRow[]): Omit<UsageRow, 'at' | 'key' | 'model'> {
  const sum = (name: (typeof COUNTS)[number]) =>
    rows.reduce((all, row) => all + (row[name] as number), 0);
  return {
    requests: sum('requests'),
    failed: sum('failed'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    money: sum('money'),
  };
}

/** What a million tokens cost. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** The prices of models. */
export interface Prices {
  has(model: string): boolean;
  /** The money for tokens, in billionths; 0 without a price. */
  of(model: string, usage: Usage): number;
}

const BILLIONTHS_OF_MILLION = 1000;

export function createPrices(prices: Readonly<Record<string, Price>>): Prices {
  const known = new Map(Object.entries(prices));
  return {
    has: (model) => known.has(model),
    of(model, { input, output }) {
      const price = known.get(model);
      if (!price) return 0;
      return Math.ceil((input * price.input + output * price.output) * BILLIONTHS_OF_MILLION);
    },
  };
}
