import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../../config/log.ts';
import { AppError } from '../../errors.ts';
import type { Asker } from '../bounds.ts';
import { parsePosition, type Position, type ReadAfter, type Replicas } from '../replicas.ts';
import { unreachable } from '../unreachable.ts';
import { describePool, type StatementPool } from './pool.ts';

const LOOK_EVERY = 200;
const LOOK_WITHIN = 700;
/** Milliseconds that a read waits for a replica to come far enough. */
const REACH_WITHIN = 50;
const REACH_EVERY = 5;
/** A replica that is further behind than this many looks at the primary is far behind. */
const MARKS = 3_000;

const STATE = `select pg_is_in_recovery() as standby, pg_last_wal_replay_lsn()::text as replayed`;
const WRITTEN = 'select pg_current_wal_flush_lsn()::text as place';
const POSITION = 'select pg_current_wal_insert_lsn()::text as place';

/** Where statements run. */
export interface Place {
  readonly statements: StatementPool;
}

interface Replica<P extends Place> {
  readonly url: string;
  readonly place: P;
  /** How far it has come; undefined while it gets no reads. */
  replayed: Position | undefined;
  /** Settles what runs on it when it fails. */
  gone: PromiseWithResolvers<never>;
}

export interface ReplicaOptions<P extends Place> {
  readonly primary: P;
  readonly urls: readonly string[];
  readonly open: (url: string) => P;
  /** Milliseconds that a replica may be behind. */
  readonly maxLag: number;
  readonly log: Logger | undefined;
}

interface Reading<P extends Place> {
  readonly after: ReadAfter;
  replica?: Promise<Replica<P> | undefined>;
}

/** Chooses where an operation reads: from one replica that has come far enough, or the primary. */
export class ReadReplicas<P extends Place> implements Replicas {
  readonly #options: ReplicaOptions<P>;
  readonly #all: readonly Replica<P>[];
  readonly #readings = new WeakMap<Asker, Reading<P>>();
  /** When the primary had come how far, the oldest first. */
  readonly #marks: { readonly at: number; readonly place: Position }[] = [];
  #closed = false;

  constructor(options: ReplicaOptions<P>) {
    this.#options = options;
    this.#all = options.urls.map((url) => ({
      url,
      place: options.open(url),
      replayed: undefined,
      gone: newGone(),
    }));
  }

  get size(): number {
    return this.#all.length;
  }

  get pools(): readonly pg.Pool[] {
    return this.#all.map(({ place }) => place.statements.pool);
  }

  async start(): Promise<void> {
    const { primary, log } = this.#options;
    const { identity } = await describePool(primary.statements);
    await this.#mark();
    for (const replica of this.#all) {
      await this.#admit(replica, identity).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'DATABASE_URL_MISMATCH') throw error;
        const reason = unreachable(error, replica.url)?.problems[0] ?? String(error);
        log?.warn(`REPLICA_UNAVAILABLE  ${reason.replace('DATABASE_URL', 'DATABASE_READ_URL')}`);
      });
      void this.#watch(replica, identity);
    }
    void this.#watchPrimary();
  }

  allow(asker: Asker, after: ReadAfter): void {
    this.#readings.set(asker, { after });
  }

  async position(): Promise<Position> {
    const { pool } = this.#options.primary.statements;
    return parsePosition((await pool.query(POSITION)).rows[0].place);
  }

  /** Runs a read where the operation of `asker` reads. What fails on a replica is done again. */
  async read<T>(asker: Asker, run: (place: P) => Promise<T>): Promise<T> {
    const { primary } = this.#options;
    const reading = this.#readings.get(asker);
    const replica = reading && (await (reading.replica ??= this.#choose(reading.after)));
    if (!reading || !replica) return run(primary);
    try {
      return await Promise.race([run(replica.place), replica.gone.promise]);
    } catch (error) {
      if (asker.cancelled) throw error;
      reading.replica = Promise.resolve(undefined);
      return run(primary);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { place } of this.#all) {
      place.statements.presence.close();
      await place.statements.pool.end();
    }
  }

  async #choose(after: ReadAfter): Promise<Replica<P> | undefined> {
    if (after === 'primary') return undefined;
    const well = this.#all
      .filter((each) => this.#isNear(each) && !each.place.statements.presence.lost)
      .toSorted((one, other) => Number(other.replayed! - one.replayed!));
    const ready = well.filter(({ replayed }) => after === undefined || replayed! >= after);
    if (ready.length > 0) return ready[Math.floor(Math.random() * ready.length)];
    const [first] = well;
    return first && after !== undefined && (await this.#reaches(first, after)) ? first : undefined;
  }

  async #reaches(replica: Replica<P>, after: Position): Promise<boolean> {
    const until = performance.now() + REACH_WITHIN;
    while (performance.now() < until) {
      await Promise.race([look(replica), pause(until - performance.now())]).catch(() => {});
      if ((replica.replayed ?? 0n) >= after) return true;
      await pause(REACH_EVERY);
    }
    return false;
  }

  /** Whether a replica is not too far behind. While nothing is written, nothing is behind. */
  #isNear({ replayed }: Replica<P>): boolean {
    if (replayed === undefined) return false;
    const missed = this.#marks.find(({ place }) => place > replayed);
    return missed === undefined || performance.now() - missed.at < this.#options.maxLag;
  }

  async #admit(replica: Replica<P>, identity: string): Promise<void> {
    const { statements } = replica.place;
    const facts = await within(LOOK_WITHIN * 3, describePool(statements));
    if (facts.identity !== identity)
      throw new AppError(
        500,
        'DATABASE_URL_MISMATCH',
        `DATABASE_URL leads to the database ${identity}, and DATABASE_READ_URL to ${facts.identity}: replicas must be those of DATABASE_URL`,
      );
    await look(replica);
  }

  async #watch(replica: Replica<P>, identity: string): Promise<void> {
    for (; !this.#closed; await pause(LOOK_EVERY, undefined, { ref: false })) {
      const isKnown = replica.replayed !== undefined;
      await (isKnown ? look(replica) : this.#admit(replica, identity)).catch(() => giveUp(replica));
    }
  }

  async #watchPrimary(): Promise<void> {
    const every = Math.min(1_000, this.#options.maxLag / 4);
    for (; !this.#closed; await pause(every, undefined, { ref: false }))
      if (!this.#options.primary.statements.presence.lost) await this.#mark().catch(() => {});
  }

  async #mark(): Promise<void> {
    const { pool } = this.#options.primary.statements;
    const place = parsePosition((await within(LOOK_WITHIN, pool.query(WRITTEN))).rows[0].place);
    if (place === this.#marks.at(-1)?.place) return;
    if (this.#marks.push({ at: performance.now(), place }) > MARKS) this.#marks.shift();
  }
}

/** Asks a replica how far it has come. One that was promoted is no replica any more. */
async function look<P extends Place>(replica: Replica<P>): Promise<void> {
  const { pool } = replica.place.statements;
  const [state] = (await within(LOOK_WITHIN, pool.query(STATE))).rows;
  if (!state.standby || state.replayed === null) return giveUp(replica);
  replica.replayed = parsePosition(state.replayed);
}

function giveUp<P extends Place>(replica: Replica<P>): void {
  replica.replayed = undefined;
  replica.gone.reject(new Error('the replica does not answer'));
  replica.gone = newGone();
}

function newGone(): PromiseWithResolvers<never> {
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => {});
  return gone;
}

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const late = pause(milliseconds, undefined, { ref: false }).then(() => {
    throw new Error('timeout expired');
  });
  return Promise.race([work, late]);
}
