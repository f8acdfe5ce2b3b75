import type { Dialect, Query, Store } from '../store/store.ts';
import type { Rules } from './access.ts';
import type { Change } from './changes.ts';
import { madeRowsOf, type MadeRows } from './made-rows.ts';
import type { Model } from './model.ts';

/** One transaction of writes for one caller. */
export interface Writing {
  readonly model: Model;
  readonly rules: Rules;
  readonly caller: number | string | null;
  readonly dialect: Dialect;
  /** Runs a statement of the transaction. */
  readonly query: Query;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** What follows the making of a row, in the same transaction. */
  readonly made: MadeRows;
  /** Changes to announce after the commit. */
  readonly changes: Change[];
}

/** What begins a transaction of writes: who writes, and where. */
interface Beginning {
  readonly model: Model;
  readonly store: Store;
  readonly now: () => number;
}

/** A transaction of writes without changes so far. */
export function startWriting(
  { model, store, now }: Beginning,
  { rules, caller }: Pick<Writing, 'rules' | 'caller'>,
  query: Query,
): Writing {
  const { dialect } = store;
  return {
    model,
    rules,
    caller,
    dialect,
    query,
    now: now(),
    made: madeRowsOf(store),
    changes: [],
  };
}

/** Values by column, in the form that arguments have. */
export type Values = ReadonlyMap<string, unknown>;

/** Values that an input gives to a row. */
export interface Given {
  readonly values: Map<string, unknown>;
  /** Names of the input's fields, by column, for messages. */
  readonly names?: ReadonlyMap<string, string>;
}

export type Key = string;

/** What is known before the transaction begins. */
export type Writer = Pick<Writing, 'model' | 'rules' | 'caller' | 'dialect' | 'now'>;
