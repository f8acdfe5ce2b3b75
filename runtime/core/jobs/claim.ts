import type { Dialect } from '../store/store.ts';
import type { Definitions } from './definitions.ts';
import type { Ask } from './dialect.ts';

/** A job that this process runs. */
export interface ClaimedJob {
  readonly id: number;
  readonly name: string;
  /** JSON */
  readonly data: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly fence: number;
  /** Whether its process ended during the last attempt, so that only `failed` is left to call. */
  readonly exhausted: boolean;
  readonly errors: readonly JobError[];
}

export interface JobError {
  readonly attempt: number;
  readonly at: string;
  readonly message: string;
}

interface Row extends Omit<ClaimedJob, 'errors' | 'exhausted'> {
  readonly slot: string | null;
  readonly errors: string | null;
}

interface ClaimParts {
  readonly store: { readonly dialect: Dialect };
  readonly definitions: Definitions;
  readonly owner: string;
  readonly only?: number | undefined;
}

/** Takes at most `free` due jobs, by priority and then by time. */
export interface Claim {
  (ask: Ask, free: number): Promise<ClaimedJob[]>;
  /** Whether it is one statement, which needs no transaction. */
  readonly single: boolean;
}

export function claimJobs(parts: ClaimParts): Claim {
  const { store, definitions } = parts;
  const isLimited = [...definitions.values()].some(({ concurrency }) => concurrency !== undefined);
  if (!isLimited && store.dialect === 'postgres') return claimAtOnce(parts);
  const find = dueStatement(parts);
  const claim = async (ask: Ask, free: number) => {
    if (isLimited && store.dialect === 'postgres') await lockLimits(ask);
    const slots = createSlots(definitions, isLimited ? await runningSlots(ask) : []);
    const taken: ClaimedJob[] = [];
    let priority = await nextPriority(ask, null);
    while (priority !== null && taken.length < free) {
      taken.push(...(await takeOf(priority, { ask, find, slots, parts }, free - taken.length)));
      if (taken.length < free) priority = await nextPriority(ask, priority);
    }
    return taken;
  };
  return Object.assign(claim, { single: false });
}

interface Taking {
  readonly ask: Ask;
  readonly find: string;
  readonly slots: Slots;
  readonly parts: ClaimParts;
}

/**
 * Takes jobs of one priority. A key that has no free slot is excluded from the next search, so that
 * its many jobs do not hide the others.
 */
async function takeOf(priority: number, taking: Taking, free: number): Promise<ClaimedJob[]> {
  const { ask, find, slots, parts } = taking;
  const taken: ClaimedJob[] = [];
  while (taken.length < free) {
    const wanted = free - taken.length;
    const rows = await ask<Row>(find, [priority, JSON.stringify(slots.full()), wanted]);
    const usable = rows.filter(({ slot }) => slots.take(slot));
    if (usable.length > 0) await markRunning(ask, usable, parts.owner);
    taken.push(...usable.map(toTaken));
    if (rows.length < wanted) break;
  }
  return taken;
}

/** SQL whose first parameter becomes `owner`. */
const RUNNING = `state = 'running', owner = ?, started_at = $now,
  fence = twofold_jobs.fence + 1,
  attempt = twofold_jobs.attempt
    + case when twofold_jobs.attempt < twofold_jobs.attempts then 1 else 0 end`;

async function markRunning(ask: Ask, rows: readonly Row[], owner: string): Promise<void> {
  await ask(`update twofold_jobs set ${RUNNING} where id in $numbers`, [
    owner,
    JSON.stringify(rows.map(({ id }) => id)),
  ]);
}

/** A row as it was before it was taken. */
function toTaken({ id, name, data, attempts, errors, ...row }: Row): ClaimedJob {
  const exhausted = row.attempt >= attempts;
  return {
    id,
    name,
    data,
    attempts,
    attempt: exhausted ? row.attempt : row.attempt + 1,
    fence: row.fence + 1,
    exhausted,
    errors: errors === null ? [] : (JSON.parse(errors) as JobError[]),
  };
}

/**
 * For PostgreSQL, where each statement is a round trip: one statement takes the jobs without
 * `concurrency`. The statement goes through the priorities that occur, and each is one step in the
 * index.
 */
function claimAtOnce({ owner, ...parts }: ClaimParts): Claim {
  const filter = filterOf(parts);
  const text = `with recursive levels (priority) as (
      (select priority from twofold_jobs where state = 'waiting' order by priority desc limit 1)
      union all
      select (select below.priority from twofold_jobs below
        where below.state = 'waiting' and below.priority < levels.priority
        order by below.priority desc limit 1)
      from levels where levels.priority is not null
    ), due as (
      select found.* from levels cross join lateral (
        select ${COLUMNS}, priority, at from twofold_jobs
        where state = 'waiting' and priority = levels.priority and at <= $now and ${filter}
        order by at, id limit ? $locked
      ) found
      order by found.priority desc, found.at, found.id limit ?
    )
    update twofold_jobs set ${RUNNING} from due where twofold_jobs.id = due.id returning due.*`;
  const claim = async (ask: Ask, free: number) => {
    const rows = await ask<Row & ClaimOrder>(text, [free, free, owner]);
    return rows.sort(inTurn).map(toTaken);
  };
  return Object.assign(claim, { single: true });
}

interface ClaimOrder {
  readonly priority: number;
  readonly at: number;
}

/** An update returns its rows in any order. */
const inTurn = (a: Row & ClaimOrder, b: Row & ClaimOrder) =>
  b.priority - a.priority || a.at - b.at || a.id - b.id;

const COLUMNS = 'id, name, data, attempt, attempts, fence, slot, errors';

/**
 * A condition of SQL. It contains names of jobs as text; they were checked when the files were
 * read.
 */
function filterOf({ definitions, only }: Pick<ClaimParts, 'definitions' | 'only'>): string {
  const names = [...definitions.keys()].map((name) => `'${name}'`).join(', ');
  return `name in (${names}) ${only === undefined ? '' : `and id = ${only}`}`;
}

const dueStatement = (parts: ClaimParts) =>
  `select ${COLUMNS} from twofold_jobs
   where state = 'waiting' and priority = ? and at <= $now and ${filterOf(parts)}
     and (slot is null or slot not in $texts)
   order by at, id limit ? $locked`;

/** The highest priority of waiting jobs below `below`. One step in an index. */
async function nextPriority(ask: Ask, below: number | null): Promise<number | null> {
  const rows = await (below === null
    ? ask(
        `select priority from twofold_jobs where state = 'waiting' order by priority desc limit 1`,
      )
    : ask(
        `select priority from twofold_jobs where state = 'waiting' and priority < ?
         order by priority desc limit 1`,
        [below],
      ));
  return (rows[0]?.['priority'] as number | undefined) ?? null;
}

/** Until the end of the transaction, no other server counts running jobs. */
const lockLimits = (ask: Ask) =>
  ask(`select pg_advisory_xact_lock(hashtextextended(current_schema() || '/twofold_jobs', 0))`);

interface SlotCount {
  readonly slot: string;
  readonly count: number;
}

const runningSlots = (ask: Ask) =>
  ask<SlotCount>(
    `select slot, count(*) as count from twofold_jobs
     where state = 'running' and slot is not null group by slot`,
  );

/** The numbers of running jobs for the keys of `concurrency`. */
interface Slots {
  /** The keys without a free slot. */
  full(): string[];
  /** Counts one more. @returns false when the key takes no more. */
  take(slot: string | null): boolean;
}

function createSlots(definitions: Definitions, running: readonly SlotCount[]): Slots {
  const counts = new Map(running.map(({ slot, count }) => [slot, Number(count)]));
  const limitOf = (slot: string) =>
    definitions.get(slot.split(':', 1)[0]!)?.concurrency?.limit ?? Infinity;
  return {
    full: () => [...counts].flatMap(([slot, count]) => (count >= limitOf(slot) ? [slot] : [])),
    take: (slot) => {
      if (slot === null) return true;
      const count = counts.get(slot) ?? 0;
      if (count >= limitOf(slot)) return false;
      counts.set(slot, count + 1);
      return true;
    },
  };
}
