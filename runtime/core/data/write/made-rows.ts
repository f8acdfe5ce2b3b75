import type { Membership, RequestContext } from '../../context/request-context.ts';
import type { Store } from '../../store/store.ts';

/** A row that was just inserted or removed, in the transaction that is still open. */
export interface MadeRow {
  readonly id: string;
  /** The user id of the caller who did it. */
  readonly caller: number | string | null;
  /** The request that makes the change; undefined when no request does. */
  readonly request?: RequestContext | undefined;
}

/**
 * Code that runs after a row was inserted or removed, in the same transaction: a throw undoes
 * everything.
 */
export interface RowFollower {
  /** @returns the membership that the caller got by it, under which the rest is written */
  made(row: MadeRow): Promise<Membership | undefined>;
  removed(row: MadeRow): Promise<void>;
}

/** By the name of the entity. */
export type MadeRows = ReadonlyMap<string, RowFollower>;

const BY_STORE = new WeakMap<Store, Map<string, RowFollower>>();

/** The code that runs after rows of a database are inserted or removed. */
export const madeRowsOf = (store: Store): MadeRows => BY_STORE.get(store) ?? NONE;

/** Used by seeds, after whose rows no such code runs. */
export const NONE: MadeRows = new Map();

/**
 * Registers code that runs after rows of an entity change. A capability calls it before the server
 * starts.
 *
 * @example followRows(kernel.store, 'Company', { made: ({ id, caller }) => addFirstMember(id, caller), removed })
 */
export function followRows(store: Store, entity: string, follower: RowFollower): void {
  const known = BY_STORE.get(store) ?? new Map<string, RowFollower>();
  BY_STORE.set(store, known.set(entity, follower));
}
