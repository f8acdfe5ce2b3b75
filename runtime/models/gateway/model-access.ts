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
  names(): Promise<readonly ModelName[]>;
  /** The model that a name means, and then its fallbacks in their order. */
  candidates(name: string): readonly [ModelName, ...ModelName[]];
  /**
   * The model of this id, ready to answer.
   *
   * @throws AppError 404, 409, 503, 507
   */
  acquire(id: string, signal: AbortSignal): Promise<ModelLease>;
}

/** A name under which a model can be asked. */
export interface ModelName {
  readonly name: string;
  /** The id of the model. */
  readonly id: string;
}
