import { AppError } from '@twofold/runtime/errors';
import type { HostingModel } from '@twofold/schema';
import { diskOf, type Logger } from '@twofold/runtime/kernel';
import type { EngineNaming, Placement } from './containers.ts';
import type { Operations } from './operations.ts';
import type { Retries } from './retries.ts';
import type { EngineConnection } from '../engine/connection.ts';
import type { EventHub } from './events.ts';
import type { Ingress } from '../ingress/ingress.ts';
import type { AppRepository } from '../records/app-repository.ts';
import type { HostKeys } from '../ssh/host-keys.ts';
import type { Registries } from '../registries/registries.ts';
import type { DeploymentRepository } from '../records/deployment-repository.ts';
import type { OnStep } from './steps.ts';

/** What every part works on: the records of the apps, their engine and the ingress to them. */
export interface Core {
  readonly model: HostingModel;
  readonly naming: EngineNaming;
  readonly apps: AppRepository;
  readonly deployments: DeploymentRepository;
  readonly connection: EngineConnection;
  readonly ingress: Ingress;
  readonly registries: Registries;
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
}

/** How containers are named and reached at the moment of the call. */
export const placement = ({ naming, connection }: Core): Placement => ({
  naming,
  reach: connection.reach(),
});

/** A full disk stops everything. @throws AppError 507 when there is too little left for `what`. */
export async function assertRoom({ connection, model }: Core, what: string): Promise<void> {
  const root = connection.info()?.root;
  const disk = root ? await diskOf(root) : null;
  if (disk && disk.free < model.diskFloor)
    throw new AppError(507, 'DISK_FULL', `There is too little free disk space ${what}`);
}
