import type { Environment } from '@twofold/runtime/kernel';
import type { Engine, EngineKind } from '../engine.ts';

/** How to find and use one kind of engine: its folder, and its row in `connect.ts`. */
export interface Driver {
  readonly kind: EngineKind;
  /** Whether to try this engine when the manifest names none. */
  readonly automatic: boolean;
  /** Addresses at which it usually listens, the most likely one first. */
  addresses(env: Environment): readonly (string | undefined)[];
  /** @throws EngineError `unavailable` when none answers, or one of another kind. */
  connect(address: string, env: Environment, once?: Once): Promise<Engine>;
}

/** Does work with this name once for all drivers that try an address. */
export type Once = <T>(name: string, work: () => Promise<T>) => Promise<T>;
