import type { Logger, Store } from '@twofold/runtime/kernel';
import { type BudgetState, EMPTY, LEASE, renew } from './budget.ts';

/** The states of budgets, for all processes that share the database. */
export interface BudgetStore {
  /**
   * Changes a state. Changes of one process that wait for the same state are written together.
   *
   * @param change Called again with the newer state when another process was faster. It changes
   * nothing else.
   */
  change<Result>(
    subject: string,
    change: (state: BudgetState) => { readonly state: BudgetState; readonly result: Result },
  ): Promise<Result>;
  read(subject: string): Promise<BudgetState>;
  /** Renews a reservation until it is let go. */
  keep(subject: string, id: string): void;
  letGo(id: string): void;
  /** Stops renewing. */
  stop(): void;
}

interface Change {
  apply(state: BudgetState): BudgetState;
  done(): void;
  fail(error: unknown): void;
}

interface VersionedState {
  readonly state: BudgetState;
  readonly version: number;
}

const TABLE = 'hosting_model_budgets';
const RENEW_INTERVAL = LEASE / 3;

/**
 * Each write is one statement that succeeds only if the state is still the one that it was made
 * from. So two processes never spend the same part of a budget, on SQLite and on PostgreSQL.
 */
export function createBudgetStore(
  store: Store,
  { log, now }: { readonly log: Logger; readonly now: () => number },
): BudgetStore {
  const lanes = new Map<string, Lane>();
  const kept = new Map<string, string>();
  const laneOf = (subject: string): Lane => {
    const known = lanes.get(subject) ?? new Lane(store, subject);
    lanes.set(subject, known);
    return known;
  };
  const change: BudgetStore['change'] = (subject, make) => laneOf(subject).change(make);
  const timer = setInterval(() => {
    for (const [subject, ids] of Map.groupBy(kept, ([, each]) => each))
      void change(subject, (state) => ({
        state: renew(
          state,
          ids.map(([id]) => id),
          now(),
        ),
        result: undefined,
      })).catch((error: Error) => log.error(`a budget cannot be renewed: ${error.message}`));
  }, RENEW_INTERVAL);
  timer.unref();
  return {
    change,
    read: async (subject) => (await load(store, subject))?.state ?? EMPTY,
    keep: (subject, id) => void kept.set(id, subject),
    letGo: (id) => void kept.delete(id),
    stop: () => clearInterval(timer),
  };
}

/** The changes of one state, in their order. */
class Lane {
  readonly #store: Store;
  readonly #subject: string;
  #waiting: Change[] = [];
  #known: VersionedState | null = null;
  #busy = false;

  constructor(store: Store, subject: string) {
    this.#store = store;
    this.#subject = subject;
  }

  change<Result>(
    make: (state: BudgetState) => { readonly state: BudgetState; readonly result: Result },
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      let result: Result;
      this.#waiting.push({
        apply(state) {
          const made = make(state);
          result = made.result;
          return made.state;
        },
        done: () => resolve(result),
        fail: reject,
      });
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#write(batch).then(
        () => batch.forEach(({ done }) => done()),
        (error: unknown) => {
          this.#known = null;
          batch.forEach(({ fail }) => fail(error));
        },
      );
    }
    this.#busy = false;
  }

  async #write(batch: readonly Change[]): Promise<void> {
    for (;;) {
      this.#known ??= (await load(this.#store, this.#subject)) ?? (await this.#create());
      const { state, version } = this.#known;
      const next = batch.reduce((made, { apply }) => apply(made), state);
      const { numUpdatedRows } = await this.#store.db
        .updateTable(TABLE)
        .set({ state: JSON.stringify(next), version: version + 1 })
        .where('subject', '=', this.#subject)
        .where('version', '=', version)
        .executeTakeFirst();
      const written = Number(numUpdatedRows) === 1;
      this.#known = written ? { state: next, version: version + 1 } : null;
      if (written) return;
    }
  }

  async #create(): Promise<VersionedState> {
    await this.#store.db
      .insertInto(TABLE)
      .values({ subject: this.#subject, version: 0, state: JSON.stringify(EMPTY) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return { state: EMPTY, version: 0 };
  }
}

async function load(store: Store, subject: string): Promise<VersionedState | null> {
  const row = await store.db
    .selectFrom(TABLE)
    .select(['state', 'version'])
    .where('subject', '=', subject)
    .executeTakeFirst();
  if (!row) return null;
  return { state: JSON.parse(row['state']) as BudgetState, version: Number(row['version']) };
}
