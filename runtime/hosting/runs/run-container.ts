import { containerSpec, instanceLabels, LABELS, type Placement } from '../host/containers.ts';
import type { Core } from '../host/core.ts';
import type { ContainerSpec, EngineContainer } from '../engine/engine.ts';
import type { Deployment, HostedApp } from '../records/app.ts';
import type { Run } from '../records/run.ts';

/**
 * The container of a run: as a replica of the app, but without a port and without the app's name in
 * the network. Its own name follows from the run, so an engine never creates two of them.
 */
export function runContainer(
  {
    app,
    deployment,
    run,
  }: { readonly app: HostedApp; readonly deployment: Deployment; readonly run: Run },
  place: Placement,
): ContainerSpec {
  const attempt = run.id.replaceAll('-', '').slice(-16);
  const spec = containerSpec(
    { app: { ...app, spec: { ...app.spec, ports: [] } }, deployment, replica: 0, attempt },
    place,
  );
  const { [LABELS.deployment]: _deployment, [LABELS.replica]: _replica, ...labels } = spec.labels;
  return {
    ...spec,
    name: `twofold-${place.naming.instance}-run-${attempt}`,
    labels: { ...labels, [LABELS.run]: run.id },
    env: {
      ...spec.env,
      TWOFOLD_RUN: run.id,
      ...(run.at !== null && { TWOFOLD_SCHEDULED_AT: run.at }),
    },
    command: run.command,
    port: null,
    publish: false,
    aliases: [],
    once: true,
  };
}

/** The containers of all runs, by the id of the run. */
export async function listRunContainers(core: Core): Promise<ReadonlyMap<string, EngineContainer>> {
  const all = await core.connection.engine().list(instanceLabels(core));
  return new Map(
    all.flatMap((container) => {
      const run = container.labels[LABELS.run];
      return run === undefined ? [] : [[run, container] as const];
    }),
  );
}

/** The container of one run; undefined when there is none. */
export async function findRunContainer(core: Core, run: Run): Promise<EngineContainer | undefined> {
  const labels = { ...instanceLabels(core), [LABELS.run]: run.id };
  return (await core.connection.engine().list(labels))[0];
}
