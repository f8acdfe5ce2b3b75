import type { ChangeKind } from '@twofold/schema';
import type { Store } from '../../store/store.ts';

/** One change of one row, which subscribers are told of. */
export interface Change {
  readonly entity: string;
  readonly kind: ChangeKind;
  readonly id: string;
  /** The removed row as it was, when a subscription shows removed rows. */
  readonly row?: Readonly<Record<string, unknown>>;
}

/** An event that the project's own code sends to the subscribers of a field of Subscription. */
export interface Published {
  readonly field: string;
  /** A JSON value. */
  readonly payload: unknown;
  /** By argument: JSON values of the arguments that subscribers must have given. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** Events that subscribers get. */
export type Announced = Change | Published;

/** Passes on changes after their transaction has committed. */
export interface Changes {
  publish(changes: readonly Announced[]): void;
  /**
   * @param missed called when changes of other servers may be missing from now on, or already.
   * @returns a function that ends the subscription.
   */
  subscribe(listener: (change: Announced) => void, missed?: (why: Error) => void): () => void;
  /** Says why other servers are not heard, and with nothing that they are heard again. */
  interrupt(why: Error | undefined): void;
}

/** Changes within this process. When one listener throws, the others are still called. */
function createChanges(onError: (error: unknown) => void = () => {}): Changes {
  const listeners = new Map<(change: Announced) => void, ((why: Error) => void) | undefined>();
  let deaf: Error | undefined;
  const tell = (listener: (change: Announced) => void, change: Announced) => {
    try {
      listener(change);
    } catch (error) {
      onError(error);
    }
  };
  return {
    publish: (changes) =>
      changes.forEach((change) => listeners.forEach((_, listener) => tell(listener, change))),
    subscribe: (listener, missed) => {
      listeners.set(listener, missed);
      if (deaf) missed?.(deaf);
      return () => void listeners.delete(listener);
    },
    interrupt: (why) => {
      deaf = why;
      if (why) for (const missed of [...listeners.values()]) missed?.(why);
    },
  };
}

const BY_STORE = new WeakMap<Store, Changes>();

/** The changes of one database. GraphQL and REST share them, so both tell the same listeners. */
export function changesOf(store: Store): Changes {
  const changes = BY_STORE.get(store) ?? createChanges();
  BY_STORE.set(store, changes);
  return changes;
}
