import type { RequestContext } from '../context/request-context.ts';
import type { Store } from '../store/store.ts';

/** A row that was just inserted or removed, in the transaction that is still open. */
export interface MadeRow {
  readonly id: string;
  /** The user id of the caller who did it. */
  readonly caller: number | string | null;
  /** The request that writes, if one does. */
  readonly request?: RequestContext | undefined;
}

/** What follows in the same transaction: a throw undoes all of it. */
export interface RowFollower {
  made(row: MadeRow): Promise<void>;
  removed(row: MadeRow): Promise<void>;
}

/** By the name of the entity. */
export type MadeRows = ReadonlyMap<string, RowFollower>;

const BY_STORE = new WeakMap<Store, Map<string, RowFollower>>();

/** What follows the making and removing of rows in a database, whatever does it. */
export const madeRowsOf = (store: Store): MadeRows => BY_STORE.get(store) ?? NONE;

/** For rows after which nothing follows: seeds. */
export const NONE: MadeRows = new Map();

/**
 * Follows the rows of an entity. A capability registers it before the server starts.
 *
 * @example followRows(kernel.store, 'Company', { made: ({ id, caller }) => addFirstMember(id, caller), removed })
 */
export function followRows(store: Store, entity: string, follower: RowFollower): void {
  const known = BY_STORE.get(store) ?? new Map<string, RowFollower>();
  BY_STORE.set(store, known.set(entity, follower));
}
