import type { EngineConnection, Reach } from '../engine/connection.ts';
import type { ContainerDetail, ContainerSpec, EngineContainer } from '../engine/engine.ts';
import type { RouteTarget } from '../ingress/route-table.ts';
import { type AppSpec, type Deployment, healthCheckOf, type HostedApp } from '../records/app.ts';
import { namesOf } from '../records/names.ts';
import type { AppPort } from '../records/ports.ts';

/**
 * Labels on everything that we create on an engine. `instance` identifies one installation: two
 * installations on one engine do not touch each other's containers, and neither touches containers
 * without these labels.
 */
export const LABELS = {
  instance: 'twofold.instance',
  app: 'twofold.app',
  name: 'twofold.name',
  deployment: 'twofold.deployment',
  replica: 'twofold.replica',
  /** The ports that are not HTTP, as `5432/tcp,53/udp`. */
  streams: 'twofold.ports',
  /** On the container of a process: its name. */
  process: 'twofold.process',
  /** On the container of a run: the run's id. It is no replica. */
  run: 'twofold.run',
  /** Seconds between SIGTERM and SIGKILL, if the app sets them. */
  grace: 'twofold.grace',
  /** On what only a task of the server uses, as a backup. The task removes it, not the reconciler. */
  task: 'twofold.task',
  /** On an image that was built here: the HEALTHCHECK of its Dockerfile, as JSON. */
  health: 'twofold.health',
} as const;

/** Prefix of the names that one installation uses on the engine. */
export interface EngineNaming {
  /** The installation's id, eight characters. */
  readonly instance: string;
}

/** Whoever knows the names of the installation. */
export interface Named {
  readonly naming: EngineNaming;
}

export const instanceLabels = ({ naming }: Named) => ({ [LABELS.instance]: naming.instance });
export const appLabels = (named: Named, app: Pick<HostedApp, 'id'>) => ({
  ...instanceLabels(named),
  [LABELS.app]: app.id,
});
export const networkName = ({ naming }: Named) => `twofold-${naming.instance}`;

/**
 * The networks of an app: the one that all apps without a project share, or those of its project.
 * Neither a project nor a network of it has a dot in its name.
 */
export function networksOf(
  named: Named,
  { project, networks }: Pick<AppSpec, 'project' | 'networks'>,
): string[] {
  if (!project) return [networkName(named)];
  const own = `${networkName(named)}.${project}`;
  return networks?.length ? networks.map((name) => `${own}.${name}`) : [own];
}

/** The name of an app's volume on the engine. */
export const volumeName = (
  { naming: { instance } }: Named,
  app: Pick<HostedApp, 'name' | 'spec'>,
  volume: string,
) => {
  const { shared, external } = app.spec.volumes.find(({ name }) => name === volume) ?? {};
  if (external) return volume;
  // Neither an instance nor a project has a dot in its name.
  if (shared) return `twofold-${instance}.${app.spec.project}.${volume}`;
  return `twofold-${instance}-${app.name}-${volume}`;
};
/** Docker and Podman add a registry to a name without one, except to names with `localhost/`. */
export const allImagesPrefix = ({ naming }: Named) => `localhost/twofold-${naming.instance}/`;
export const imagePrefix = (named: Named, app: Pick<HostedApp, 'name'>) =>
  `${allImagesPrefix(named)}${app.name}:`;
export const imageTag = (named: Named, app: Pick<HostedApp, 'name'>, deployment: number) =>
  `${imagePrefix(named, app)}${deployment}`;

/**
 * Prefix of the build stages' names (the cache of later builds), apart from deployments' images.
 */
export const allStagesPrefix = ({ naming }: Named) => `localhost/twofold-${naming.instance}-cache/`;
export const stagesRepository = (named: Named, app: Pick<HostedApp, 'name'>) =>
  `${allStagesPrefix(named)}${app.name}`;

/** Separates the caches of an app's `RUN --mount=type=cache` from those of all other apps. */
export const cacheNamespace = ({ naming }: Named, app: Pick<HostedApp, 'id'>) =>
  `twofold-${naming.instance}-${app.id}`;

/** Reads the deployment's number from our labels. */
export const deploymentOf = (container: EngineContainer) =>
  Number(container.labels[LABELS.deployment]);
export const replicaOf = (container: EngineContainer) => Number(container.labels[LABELS.replica]);

/** How containers are named and reached. */
export interface Placement extends Named {
  readonly reach: Reach;
}

const MIB = 1024 * 1024;
/** The address of a container without a port. No request is sent to it. */
const NOWHERE = { host: '', port: 0 } as const;

/**
 * The specification of one replica. `attempt` makes its name differ from that of an older container
 * that is still being removed.
 */
export function containerSpec(
  {
    app,
    deployment,
    replica,
    attempt,
  }: {
    readonly app: HostedApp;
    readonly deployment: Pick<Deployment, 'number' | 'image' | 'image_id' | 'port'>;
    readonly replica: number;
    readonly attempt: string;
  },
  place: Placement,
): ContainerSpec {
  const { spec } = app;
  const { port } = deployment;
  const [network, ...networks] = networksOf(place, spec);
  const streams = [...new Set((spec.ports ?? []).map(streamOf))];
  return {
    name: `twofold-${place.naming.instance}-${app.name}-${deployment.number}-${replica}-${attempt}`,
    image: deployment.image_id ?? '',
    reference: deployment.image ?? '',
    labels: {
      ...appLabels(place, app),
      [LABELS.name]: app.name,
      [LABELS.deployment]: String(deployment.number),
      [LABELS.replica]: String(replica),
      ...(spec.stop_grace_period != null && { [LABELS.grace]: String(spec.stop_grace_period) }),
      ...(streams.length > 0 && { [LABELS.streams]: streams.join(',') }),
    },
    env: { ...(port !== null && { PORT: String(port) }), ...app.env, ...app.secrets },
    command: spec.command,
    port,
    streams,
    publish: place.reach === 'port',
    network: network!,
    networks,
    aliases: namesOf(app.name, spec),
    entrypoint: spec.entrypoint ?? null,
    user: spec.user ?? null,
    workingDir: spec.working_dir ?? null,
    init: spec.init ?? true,
    grace: spec.stop_grace_period ?? null,
    stays: healthCheckOf(spec).command !== undefined,
    files: app.files ?? [],
    volumes: spec.volumes.map(({ name, path }) => ({
      volume: volumeName(place, app, name),
      path,
    })),
    memory: spec.resources.memory_mb * MIB,
    cpus: spec.resources.cpus,
    pids: spec.resources.pids,
  };
}

/**
 * Where the container can be reached now: nowhere, if it is a worker's, whose port is null. Docker
 * publishes another port at each start, so the result must not be kept after a start.
 */
export function targetOf(
  detail: ContainerDetail,
  port: number | null,
  { naming, reach }: Placement,
): RouteTarget | null {
  // All networks of an app are on the engine's machine, so each address leads to the container.
  const host = detail.addresses[networkName({ naming })] ?? Object.values(detail.addresses)[0];
  const addressOf = (key: string): Address | null => {
    const inside = Number.parseInt(key, 10);
    if (!detail.machine && reach === 'address') return host ? { host, port: inside } : null;
    const published = detail.ports[key];
    return published ? { host: detail.machine ?? '127.0.0.1', port: published } : null;
  };
  const keys = detail.labels[LABELS.streams]?.split(',') ?? [];
  const streams = keys.map((key) => [key, addressOf(key)] as const);
  const main = port === null ? NOWHERE : addressOf(`${port}/tcp`);
  if (!main || streams.some(([, address]) => address === null)) return null;
  return {
    id: detail.id,
    ...main,
    ...(streams.length > 0 && {
      streams: Object.fromEntries(streams) as Readonly<Record<string, Address>>,
    }),
  };
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const streamOf = ({ target, protocol = 'tcp' }: AppPort): string => `${target}/${protocol}`;

/** The process that a container belongs to; null for a replica of the app itself. */
export const processOf = ({ labels }: Pick<EngineContainer, 'labels'>): string | null =>
  labels[LABELS.process] ?? null;

/** Whether a container is a run's, and so no replica of its app. */
export const isRun = ({ labels }: Pick<EngineContainer, 'labels'>) =>
  labels[LABELS.run] !== undefined;

interface OnEngine extends Named {
  readonly connection: Pick<EngineConnection, 'engine'>;
}

/** The replicas of one deployment of an app, or of one of its processes, ordered by their number. */
export const listReplicas = async (
  host: OnEngine,
  app: HostedApp,
  process: string | null = null,
): Promise<EngineContainer[]> =>
  app.deployment === null
    ? []
    : (await listContainers(host, app, app.deployment)).filter(
        (each) => processOf(each) === process,
      );

/**
 * All containers of an app, or of one of its deployments, except those of runs. They are ordered by
 * the number of the replica.
 */
export async function listContainers(
  host: OnEngine,
  app: Pick<HostedApp, 'id'>,
  deployment?: number,
): Promise<EngineContainer[]> {
  const all = await host.connection.engine().list(appLabels(host, app));
  return all
    .filter((each) => !isRun(each) && [undefined, deploymentOf(each)].includes(deployment))
    .sort((a, b) => replicaOf(a) - replicaOf(b));
}
