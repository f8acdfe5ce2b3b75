import type { Endpoint, EngineName } from '../engine/engine.ts';

/** A model that may be asked, until it is given back. */
export interface ModelLease {
  readonly id: string;
  readonly engine: EngineName;
  readonly endpoint: Endpoint;
  release(): void;
}

/** The models that can be asked. */
export interface ModelAccess {
  /** The ids and aliases of all models that can be asked. */
  names(): Promise<readonly string[]>;
  /**
   * The model of this id or alias, ready to answer.
   *
   * @throws AppError 404, 409, 503, 507
   */
  acquire(name: string, signal: AbortSignal): Promise<ModelLease>;
}
