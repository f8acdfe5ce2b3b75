import { setTimeout as pause } from 'node:timers/promises';
import type { IsolationLevel } from '../../context/isolation.ts';
import type { TransactionOptions } from '../store.ts';
import { DatabaseLost } from '../unreachable.ts';
import { createMutex, type Mutex } from './semaphore.ts';
import { isSerializationFailure } from './transaction-failures.ts';
import type { Opening, Scopes } from './transaction-scope.ts';

interface AttemptOptions extends Pick<
  TransactionOptions,
  'retries' | 'again' | 'timeout' | 'opened'
> {
  readonly isolation: IsolationLevel;
}

/** See `Opening.repeats`. */
type Repeats = (error: unknown) => boolean;

/** Milliseconds during which a transaction without a time limit is begun again. */
const WITHIN = 10_000;

/** The attempts of one transaction, and whether another one follows. */
export class Attempts {
  readonly #options: AttemptOptions;
  readonly #until: number;
  #count = 1;
  #lost = 0;
  #judged: { readonly error: unknown; readonly again: boolean } | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#until = performance.now() + (options.timeout ?? WITHIN);
  }

  get opening(): Opening {
    const { timeout, opened, isolation } = this.#options;
    return { timeout, opened, isolation, attempt: this.#count, repeats: this.repeats };
  }

  /** It is asked twice of one error, and the time limit may pass in between. */
  readonly repeats: Repeats = (error) => {
    const judged = this.#judged;
    if (judged && judged.error === error) return judged.again;
    const { retries = 0 } = this.#options;
    const again =
      this.#count <= retries &&
      performance.now() < this.#until &&
      (isSerializationFailure(error) || this.#isLost(error));
    this.#judged = { error, again };
    return again;
  };

  /** Whether its connection was lost, which its own statements may be the cause of. */
  #isLost(error: unknown): boolean {
    return error instanceof DatabaseLost && error.again && (this.#lost += 1) <= MOST_LOST;
  }

  async next(): Promise<void> {
    const most = Math.min(FIRST_PAUSE * 2 ** this.#count, LONGEST_PAUSE);
    await pause(Math.random() * most);
    this.#count += 1;
    this.#judged = undefined;
    this.#options.again?.(this.#count);
  }
}

const MOST_LOST = 3;

/** Milliseconds between two attempts, at most. */
const FIRST_PAUSE = 2;
const LONGEST_PAUSE = 250;

/**
 * What runs again takes turns with what is opened by the same code, so that it does not lose to it
 * once more.
 */
const TURNS = new WeakMap<Scopes, Map<string | undefined, Mutex>>();

/** Whoever has the turn may wait for a lock of one that waits for its turn, so this wait ends. */
const acquired = (turn: Mutex, patience: number) =>
  turn.acquire(AbortSignal.timeout(patience)).catch(() => undefined);

/** Milliseconds to wait for a turn. */
const TURN = { first: 100, again: 1_000 };

/** The turn of a transaction that has lost; undefined when it takes too long. */
export function turnAgain(scopes: Scopes, opened: string | undefined) {
  const turns = TURNS.get(scopes) ?? new Map<string | undefined, Mutex>();
  const turn = turns.get(opened) ?? createMutex();
  TURNS.set(scopes, turns.set(opened, turn));
  return acquired(turn, TURN.again);
}

/** Lets those go first that run again. */
export async function afterOthers(scopes: Scopes, opened: string | undefined): Promise<void> {
  const turn = TURNS.get(scopes)?.get(opened);
  if (turn?.held) (await acquired(turn, TURN.first))?.();
}
