import type { EngineEvent, EngineKind } from '../engine.ts';
import type { LogDialect } from '../logs/log-source.ts';
import type { NetworkDialect } from './owned.ts';

/** The differences between engines that speak Docker's API. All other code is shared. */
export interface Dialect extends LogDialect, NetworkDialect {
  readonly kind: EngineKind;
  /** Additional query parameters of a build. */
  readonly buildQuery: Readonly<Record<string, unknown>>;
  readonly eventActions: Readonly<Record<string, EngineEvent['action']>>;
  readonly reportsStops: boolean;
  readonly pruneBuilds: boolean;
  /** How much of a container's output the engine keeps. */
  readonly logFiles: Readonly<Record<string, string>>;
}
