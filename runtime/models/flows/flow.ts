import { object, text } from '@twofold/schema/shapes';
import { flowsOf } from '@twofold/runtime/http';
import type { Downloads } from '../download/downloads.ts';
import type { ModelStore } from '../download/model-store.ts';
import type { Chooser } from '../engine/choose.ts';
import type { AdmissionParts } from '../gateway/admission.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Model } from '../model.ts';
import type { Gpus } from '../pool/gpus.ts';
import type { ModelPool } from '../pool/model-pool.ts';
import type { Runner } from '../runner.ts';

/** The objects of the process that runs the models. A flow takes those that it uses. */
export interface ModelState extends Pick<
  AdmissionParts,
  'keys' | 'budgets' | 'usage' | 'prices' | 'now'
> {
  readonly modelStore: ModelStore;
  readonly downloads: Downloads;
  readonly pool: ModelPool;
  readonly gpus: Gpus;
  /** Available memory in bytes. */
  readonly memory: () => number;
  /** Ids that may be downloaded. */
  readonly allow: readonly string[];
  readonly choose: Chooser;
  readonly catalogue: ReadonlyMap<string, Model>;
  readonly runner: Runner;
  readonly gateway: Gateway;
}

/** How a flow of the models is written. */
export const flow = flowsOf<ModelState>({
  tag: 'models',
  refused: {
    description: 'The reason; nothing was changed',
    schema: object({ error: text }, ['error']),
  },
});

/**
 * The statuses of refusals: of every call, of calls that name a model, and of those that use the
 * machine. 507: too little disk or memory. 502: the model hub or the engine failed.
 */
export const USUAL = [400, 401, 403, 500] as const;
export const ON_MODEL = [...USUAL, 404, 409] as const;
export const ON_MACHINE = [...ON_MODEL, 413, 502, 503, 507] as const;

export const id = { type: 'string', minLength: 1, maxLength: 200 } as const;
