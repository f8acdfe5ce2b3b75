import type { Logger } from '../config/log.ts';
import type { Store } from '../store/store.ts';

/** What a context needs of the server. A `Kernel` has it. */
export interface ContextParts {
  readonly store: Store;
  readonly log: Logger;
}
