import type { Environment } from '@twofold/runtime/kernel';
import type { Engine, EngineKind } from '../engine.ts';

/** How to find and use one kind of engine. */
export interface Driver {
  readonly kind: EngineKind;
  /** Whether to try this engine when the manifest names none. */
  readonly automatic: boolean;
  /** Addresses at which it usually listens, the most likely one first. */
  addresses(env: Environment): readonly (string | undefined)[];
  /**
   * @throws EngineError `unavailable` when there is no answer at the address, or another kind of
   * engine answers.
   */
  connect(address: string, env: Environment): Promise<Engine>;
}
