import type { Store } from '../store/store.ts';

/** A row that was just inserted, in the transaction that is still open. */
export interface MadeRow {
  readonly id: string;
  /** The user id of the caller who made it. */
  readonly caller: number | string | null;
}

/** Called in the transaction that made the row: a throw undoes it. */
export type OnMade = (row: MadeRow) => Promise<void>;

/** By the name of the entity. */
export type MadeRows = ReadonlyMap<string, OnMade>;

const BY_STORE = new WeakMap<Store, Map<string, OnMade>>();

/** What follows the making of rows in a database, whatever makes them. */
export const madeRowsOf = (store: Store): MadeRows => BY_STORE.get(store) ?? NONE;

/** For rows after which nothing follows: seeds. */
export const NONE: MadeRows = new Map();

/**
 * Calls `made` for every new row of the entity. A capability registers it before the server starts.
 *
 * @example onMade(kernel.store, 'Company', async ({ id, caller }) => addFirstMember(id, caller))
 */
export function onMade(store: Store, entity: string, made: OnMade): void {
  const known = BY_STORE.get(store) ?? new Map<string, OnMade>();
  BY_STORE.set(store, known.set(entity, made));
}
