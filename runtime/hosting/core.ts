import type { HostingModel } from '@twofold/schema';
import type { Logger } from 'pino';
import type { EngineNaming, Reach } from './deploy/containers.ts';
import type { Operations } from './deploy/operations.ts';
import type { Retries } from './deploy/retries.ts';
import type { DeployStep } from './deploy/steps.ts';
import type { EngineConnection } from './engine/connection.ts';
import type { EventHub } from './events.ts';
import type { Ingress } from './ingress/ingress.ts';
import type { AppRepository } from './records/app-repository.ts';
import type { DeploymentRepository } from './records/deployment-repository.ts';

/** What the parts of the module share. Made once, in `hosting.ts`. */
export interface Core {
  readonly model: HostingModel;
  readonly naming: EngineNaming;
  readonly apps: AppRepository;
  readonly deployments: DeploymentRepository;
  readonly connection: EngineConnection;
  readonly ingress: Ingress;
  readonly operations: Operations;
  readonly events: EventHub;
  readonly log: Logger;
  readonly now: () => number;
  /** Containers that are being stopped on purpose: their end is no crash, and no one else removes them. */
  readonly leaving: Set<string>;
  /** Images that are to go and could not yet. */
  readonly oldImages: Retries;
  /** Told after each step of a deployment. */
  readonly onStep: (step: DeployStep) => void;
}

/** How containers are named and reached now. */
export const placement = (
  core: Core,
): { readonly naming: EngineNaming; readonly reach: Reach } => ({
  naming: core.naming,
  reach: core.connection.reach(),
});
