import type { Environment } from '@twofold/runtime/kernel';
import type { Engine, EngineKind } from '../engine.ts';

/** How one kind of engine is found and used. */
export interface Driver {
  readonly kind: EngineKind;
  /** Whether it is looked for when the manifest names no engine. */
  readonly automatic: boolean;
  /** Addresses at which it usually listens, the likeliest first. */
  addresses(env: Environment): readonly (string | undefined)[];
  /** @throws EngineError `unavailable` when nothing answers there, or another kind of engine. */
  connect(address: string, env: Environment): Promise<Engine>;
}
