import type { Environment } from '@twofold/runtime/kernel';
import type { FoundEngine } from '../dockerode/client.ts';
import type { Engine, EngineKind } from '../engine.ts';

/** How to find and use one kind of engine. */
export interface Driver {
  readonly kind: EngineKind;
  /** Whether to try this engine when the manifest names none. */
  readonly automatic: boolean;
  /** Addresses at which it usually listens, the most likely one first. */
  addresses(env: Environment): readonly (string | undefined)[];
  /** @throws EngineError `unavailable` when it is an engine of another kind. */
  connect(found: FoundEngine, env: Environment): Engine;
}
