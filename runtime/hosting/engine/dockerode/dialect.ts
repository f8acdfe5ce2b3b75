import type { EngineEvent, EngineKind } from '../engine.ts';
import type { LogDialect } from '../logs/log-source.ts';

/** Where engines that speak Docker's API differ. Everything else is the same code. */
export interface Dialect extends LogDialect {
  readonly kind: EngineKind;
  /** What else a build is asked with. */
  readonly buildQuery: Readonly<Record<string, unknown>>;
  readonly eventActions: Readonly<Record<string, EngineEvent['action']>>;
  readonly reportsStops: boolean;
  readonly pruneBuilds: boolean;
  /** How much of a container's output is kept. */
  readonly logFiles: Readonly<Record<string, string>>;
}
