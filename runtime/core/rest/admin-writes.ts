import type { Entity, RestVerb } from '@twofold/schema';
import type { RequestContext } from '../context/request-context.ts';
import type { Store } from '../store/store.ts';

/** A write of `/api/data` that is about to be done, in the transaction that is already open. */
export interface AdminWrite {
  /** The caller with their own principal and credentials. */
  readonly context: RequestContext;
  readonly entity: Entity;
  readonly verb: Exclude<RestVerb, 'list' | 'get'>;
  /** The key of the row; null for a row that does not exist yet. */
  readonly id: string | null;
}

/**
 * Refuses a write by throwing. What it returns is called after the write, and may undo it by
 * throwing.
 */
export type AdminWriteGuard = (write: AdminWrite) => Promise<(() => Promise<void>) | undefined>;

const BY_STORE = new WeakMap<Store, AdminWriteGuard>();

/** The guard that was registered for a database; undefined without one. */
export const adminGuardOf = (store: Store): AdminWriteGuard | undefined => BY_STORE.get(store);

/**
 * Registers a guard for the writes of `/api/data`, to which no rules of the schema apply. The
 * capability that manages users calls it before the server starts, so that `/api/data` cannot
 * bypass its checks.
 *
 * @example guardAdminWrites(kernel.store, async ({ context, entity, id }) => { … })
 */
export function guardAdminWrites(store: Store, guard: AdminWriteGuard): void {
  BY_STORE.set(store, guard);
}
