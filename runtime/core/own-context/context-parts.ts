import type { Logger } from '../config/log.ts';
import type { Store } from '../store/store.ts';

/** The parts of the server that a context needs. A `Kernel` has them. */
export interface ContextParts {
  readonly store: Store;
  readonly log: Logger;
}
