import type { HostingModel } from '@twofold/schema';
import type { Logger } from '@twofold/runtime/kernel';
import type { EngineNaming, Reach } from './deploy/containers.ts';
import type { Operations } from './deploy/operations.ts';
import type { Retries } from './deploy/retries.ts';
import type { EngineConnection } from './engine/connection.ts';
import type { EventHub } from './events.ts';
import type { Ingress } from './ingress/ingress.ts';
import type { AppRepository } from './records/app-repository.ts';
import type { DeployKeys } from './ssh/deploy-keys.ts';
import type { HostKeys } from './ssh/host-keys.ts';
import type { Registries } from './registries/registries.ts';
import type { DeploymentRepository } from './records/deployment-repository.ts';
import type { RunRelease } from './records/run.ts';
import type { OnStep } from './deploy/steps.ts';

/** Shared by all parts of this package. `createCore` creates it once for each leader session. */
export interface Core {
  readonly model: HostingModel;
  readonly naming: EngineNaming;
  readonly apps: AppRepository;
  readonly deployments: DeploymentRepository;
  readonly connection: EngineConnection;
  readonly ingress: Ingress;
  readonly registries: Registries;
  readonly deployKeys: DeployKeys;
  readonly hostKeys: HostKeys;
  readonly operations: Operations;
  readonly events: EventHub;
  readonly log: Logger;
  readonly now: () => number;
  /**
   * Containers that we are stopping on purpose. Their end is not a crash, and only the code that
   * added them here removes them.
   */
  readonly leaving: Set<string>;
  /** The running containers of processes, with the ids of their apps. */
  readonly processes: Map<string, string>;
  /** Images that should be removed and could not be removed yet. */
  readonly oldImages: Retries;
  /** Called after each step of a deployment or a run. */
  readonly onStep: OnStep;
  /** Stops the runs of an app that is stopped or deleted. */
  readonly stopRuns: (appId: string) => Promise<void>;
  /** Runs the release command of a deployment to its end. An abort stops it. */
  readonly release: RunRelease;
}

/** How containers are named and reached at the moment of the call. */
export const placement = (
  core: Core,
): { readonly naming: EngineNaming; readonly reach: Reach } => ({
  naming: core.naming,
  reach: core.connection.reach(),
});
