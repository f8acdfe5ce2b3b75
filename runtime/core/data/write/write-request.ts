import type { Model } from '../model.ts';
import type { Store } from '../../store/store.ts';
import type { Reader, Query } from '../reader.ts';
import type { Changes } from '../changes/changes.ts';
import type { Operation } from '@twofold/schema';
import type { Rules } from '../access/access.ts';
import type { Asker } from '../../store/bounds.ts';
import type { RequestContext } from '../../context/request-context.ts';
import type { Get, Call } from '../plan.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** What is needed to write. It is made once. */
export interface Actor {
  readonly model: Model;
  readonly store: Store;
  readonly reader: Reader;
  readonly changes: Changes;
  readonly now: () => number;
  /** Whether a subscription shows removed rows of the entity. */
  watchesRemoval(entity: string): boolean;
}

/** One mutation of one caller. */
export interface WriteRequest<T> {
  /** Its action is a `WriteAction`. */
  readonly operation: Operation;
  readonly args: Arguments;
  readonly rules: Rules;
  /** The prefix of field names in messages; the name of the input argument when absent. */
  readonly prefix?: string;
  /**
   * Reads what the answer shows of the row, in the same transaction: after a create or update,
   * before a removal.
   */
  read(id: string, query: Query): Promise<T>;
  /** Used in place of `read` for a create that one statement can insert and read. */
  readonly returning?: Returning<T> | undefined;
  /** Whether `read` may look at many rows. */
  readonly long?: boolean;
  /** What hooks get as `ctx`. */
  readonly context?: RequestContext;
  /** The caller that waits for the answer: when it is gone, nothing is written. */
  readonly asker?: Asker | undefined;
  /** Called before an existing row is written; a throw leaves the row unchanged. */
  precondition?(id: string, query: Query): Promise<void>;
}

/** Reads the answer from the inserting statement, when that statement can return it. */
export interface Returning<T> {
  readonly root: Get;
  readonly calls: readonly Call[];
  readonly tree: boolean;
  take(text: string | null): T;
}
