import { randomBytes } from 'node:crypto';
import type { Core } from '../host/core.ts';
import { placement } from '../host/core.ts';
import type { EngineContainer } from '../engine/engine.ts';
import type { AppProcess, Deployment, HostedApp } from '../records/app.ts';
import { asProcess } from '../records/deployed.ts';
import { containerSpec, LABELS, processOf, replicaOf } from '../host/containers.ts';
import { createContainer, startReplica, type StartedReplica } from './replicas.ts';

/** One container of a deployment: a replica of the app itself, or of one of its processes. */
export interface Slot {
  readonly process: AppProcess | null;
  readonly replica: number;
}

type Slots = Pick<Deployment, 'replicas' | 'processes'>;

/** Everything that a deployment runs, the app itself first. */
export function slotsOf({ replicas, processes }: Slots): readonly Slot[] {
  const of = (process: AppProcess | null, count: number): Slot[] =>
    Array.from({ length: count }, (_, replica) => ({ process, replica }));
  return [
    ...of(null, replicas),
    ...processes.flatMap((process) => of(process, process.replicas ?? 1)),
  ];
}

/** The slot that a container fills; undefined when the deployment has none like that. */
export const slotOf = (deployment: Slots, container: EngineContainer): Slot | undefined =>
  slotsOf(deployment).find((slot) => fills(container, slot));

/** Whether a container fills a slot of its own deployment. */
export const fills = (container: EngineContainer, { process, replica }: Slot): boolean =>
  processOf(container) === (process?.name ?? null) && replicaOf(container) === replica;

/** Creates the container of a slot without starting it. @returns its id. */
export async function createSlot(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  { process, replica }: Slot,
): Promise<string> {
  const attempt = randomBytes(3).toString('hex');
  const place = placement(core);
  if (!process)
    return createContainer(core, containerSpec({ app, deployment, replica, attempt }, place));
  const spec = containerSpec(
    {
      app: asProcess(app, process),
      deployment: { ...deployment, port: null },
      replica,
      attempt: `${process.name}-${attempt}`,
    },
    place,
  );
  const labels = { ...spec.labels, [LABELS.process]: process.name };
  return createContainer(core, { ...spec, labels, aliases: [] });
}

/** A container that was started, and the name of its process; null for the app itself. */
export interface StartedSlot extends StartedReplica {
  readonly process: string | null;
}

/** Starts the container of a slot and waits until it is ready. */
export async function startSlot(
  core: Core,
  app: HostedApp,
  deployment: Deployment,
  { id, slot, signal }: { readonly id: string; readonly slot: Slot; readonly signal: AbortSignal },
): Promise<StartedSlot> {
  const { process } = slot;
  if (!process) {
    const started = await startReplica(core, app, { id, port: deployment.port, signal });
    return { ...started, process: null };
  }
  const started = await startReplica(core, asProcess(app, process), { id, port: null, signal });
  if (started.ready) core.processes.set(id, app.id);
  return { ...started, process: process.name };
}
