import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';
import { call, ignoring, orNull, pairs } from './calls.ts';
import { createUsageReader } from './cgroup.ts';
import { classifyText, EngineError, isUnchanged, toEngineError } from './errors.ts';
import type {
  ContainerDetail,
  ContainerSpec,
  ContainerState,
  Engine,
  EngineContainer,
  EngineEvent,
  EngineImage,
  EngineKind,
} from './engine.ts';
import { readEvents } from './event-stream.ts';
import { runCommand } from './exec.ts';
import { dockerLogPlace } from './logs/log-place.ts';
import { type LogDialect, readContainerLogs } from './logs/log-source.ts';
import { ensureNetwork, ensureVolume } from './owned.ts';
import { readProgress } from './progress.ts';
import { prune } from './prune.ts';
import { createStageReader, keepStages } from './stages.ts';
import { undisturbed } from './undisturbed.ts';
import { readUsage } from './usage.ts';

/** What Podman's Docker API does otherwise. Everything else is the same code. */
export interface Dialect extends LogDialect {
  readonly kind: EngineKind;
  /** What else a build is asked with. */
  readonly buildQuery: Readonly<Record<string, unknown>>;
  readonly eventActions: Readonly<Record<string, EngineEvent['action']>>;
  readonly tellsStops: boolean;
  readonly pruneBuilds: boolean;
  /** How much of a container's output is kept. */
  readonly logFiles: Readonly<Record<string, string>>;
}

const DOCKER: Dialect = {
  kind: 'docker',
  buildQuery: { version: '1' },
  eventActions: { start: 'start', die: 'die', stop: 'stop', destroy: 'remove', oom: 'oom' },
  tellsStops: true,
  pruneBuilds: true,
  logFiles: { 'max-size': '10m', 'max-file': '3' },
  findLogPlace: dockerLogPlace,
  follow: (read) => (options) => read({ ...options, follow: true }),
};

/** Docker, through dockerode. */
export function createDockerEngine(client: Dockerode, logs: Partial<LogDialect> = {}): Engine {
  return createEngine(client, { ...DOCKER, ...logs });
}

/** The code that Docker and Podman share. */
export function createEngine(client: Dockerode, dialect: Dialect): Engine {
  const container = (id: string) => client.getContainer(id);
  const create = createContainers(client, dialect);
  const usage = createUsageReader(async (id) => (await container(id).inspect()).State.Pid || null);
  return {
    kind: dialect.kind,
    tellsStops: dialect.tellsStops,
    bringsBack: false,
    info: once(() => describeEngine(client, dialect.kind)),
    ping: () => call(async () => void (await client.ping())),

    pull: (reference, signal) => call(() => pull(client, reference, signal)),
    image: (reference) => orNull(async () => toImage(await client.getImage(reference).inspect())),
    tag: (imageId, reference) =>
      call(async () => void (await client.getImage(imageId).tag(splitReference(reference)))),
    untag: (reference) =>
      ignoring(['not_found'], async () => void (await client.getImage(reference).remove())),
    tags: (prefix) =>
      call(async () =>
        (await undisturbed(() => client.listImages()))
          .flatMap((image) => image.RepoTags ?? [])
          .filter((tag) => tag.startsWith(prefix)),
      ),
    build: (context, options) => call(() => build(client, dialect, context(), options)),

    create: (spec) => call(() => create(spec)),
    start: (id) => unlessUnchanged(() => container(id).start()),
    stop: (id, graceSeconds) =>
      unlessUnchanged(() => container(id).stop({ t: graceSeconds })).finally(() =>
        usage.forget(id),
      ),
    remove: (id) =>
      ignoring(
        ['not_found'],
        async () => void (await container(id).remove({ force: true, v: false })),
      ).finally(() => usage.forget(id)),
    inspect: (id) => orNull(async () => toDetail(await container(id).inspect())),
    list: (labels) =>
      call(async () =>
        (await client.listContainers({ all: true, filters: { label: pairs(labels) } })).map(
          toContainer,
        ),
      ),
    logs: (id, options) => readContainerLogs(client, dialect, { ...options, id }),
    exec: (id, command, options) => call(() => runCommand(container(id), command, options)),
    usage: (id) => orNull(async () => (await usage.read(id)) ?? (await readUsage(container(id)))),

    ensureNetwork: (name, labels) => call(() => ensureNetwork(client, name, labels)),
    removeNetwork: (name) =>
      ignoring(['not_found'], async () => void (await client.getNetwork(name).remove())),
    ensureVolume: (name, labels) => call(() => ensureVolume(client, name, labels)),
    volumeLabels: (name) =>
      orNull(async () => (await client.getVolume(name).inspect()).Labels ?? {}),
    removeVolume: (name) =>
      ignoring(['not_found'], async () => void (await client.getVolume(name).remove())),

    events: (labels, signal) => readEvents(client, dialect.eventActions, pairs(labels), signal),
    prune: (options) => call(() => prune(client, dialect, options)),
  };
}

/** Starting what runs and stopping what does not is a 304, which dockerode throws. */
async function unlessUnchanged(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isUnchanged(error)) throw toEngineError(error);
  }
}

/** `version` forks a process on Podman (252 ms), and neither it nor `info` changes while an engine runs. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= call(work).catch((error) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}

async function describeEngine(client: Dockerode, kind: EngineKind) {
  const [version, info] = await Promise.all([client.version(), client.info()]);
  return {
    kind,
    version: version.Version,
    os: info.OperatingSystem ?? version.Os,
    arch: version.Arch,
    cpus: info.NCPU,
    memory: info.MemTotal,
    root: info.DockerRootDir ?? '',
  };
}

async function pull(client: Dockerode, reference: string, signal: AbortSignal): Promise<void> {
  const stream = (await client.pull(withTag(reference), {
    abortSignal: signal,
  } as object)) as unknown as Readable;
  for await (const message of readProgress(stream)) {
    if (message.error)
      throw new EngineError(
        classifyText(message.error) === 'disk' ? 'disk' : 'not_found',
        message.error,
      );
  }
}

async function build(
  client: Dockerode,
  dialect: Dialect,
  context: Readable,
  options: Parameters<Engine['build']>[1],
): Promise<string> {
  const stream = (await client.buildImage(context, {
    t: options.tag,
    dockerfile: options.dockerfile,
    labels: { ...options.labels },
    memory: options.memory || undefined,
    memswap: options.memory || undefined,
    cpuperiod: options.cpus ? 100_000 : undefined,
    cpuquota: options.cpus ? Math.round(options.cpus * 100_000) : undefined,
    rm: true,
    forcerm: true,
    ...dialect.buildQuery,
    abortSignal: options.signal,
  } as unknown as Dockerode.ImageBuildOptions)) as unknown as Readable;
  const stages = createStageReader();
  try {
    for await (const message of readProgress(stream)) {
      stages.line(message.text);
      if (message.text) options.onLine(message.text);
      if (message.error)
        throw new EngineError(
          classifyText(message.error) === 'disk' ? 'disk' : 'failed',
          message.error,
        );
    }
    return (await client.getImage(options.tag).inspect()).Id;
  } finally {
    // What cannot be named now is named by the next build.
    const images = stages.images();
    await keepStages(client, { repository: options.cache, images }).catch(() => {});
  }
}

/** An init process reaps what an app leaves behind; where the engine's own is not installed, apps run without one. */
function createContainers(
  client: Dockerode,
  { logFiles }: Dialect,
): (spec: ContainerSpec) => Promise<string> {
  let init = true;
  const create = async (spec: ContainerSpec): Promise<string> => {
    try {
      // dockerode would put all of it into the address as well, and addresses with an app's secrets into the engine's log.
      const inTheBody = {
        _query: { name: spec.name },
        _body: createOptions(spec, { init, logFiles }),
      };
      return (await client.createContainer(inTheBody as Dockerode.ContainerCreateOptions)).id;
    } catch (error) {
      if (
        !init ||
        !/container-init binary not found|docker-init/.test(toEngineError(error).message)
      )
        throw error;
      init = false;
      return create(spec);
    }
  };
  return create;
}

function createOptions(
  spec: ContainerSpec,
  { init, logFiles }: { init: boolean; logFiles: Dialect['logFiles'] },
): Dockerode.ContainerCreateOptions {
  const port = `${spec.port}/tcp`;
  return {
    Image: spec.image,
    Labels: { ...spec.labels },
    Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
    ...(spec.command && { Cmd: [...spec.command] }),
    ExposedPorts: { [port]: {} },
    // One attempt of an image's own HEALTHCHECK costs a process each time, and Podman without systemd never runs it: probes are ours.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: spec.network,
      Binds: spec.volumes.map(({ volume, path }) => `${volume}:${path}`),
      PortBindings: spec.publish ? { [port]: [{ HostIp: '127.0.0.1', HostPort: '' }] } : {},
      // Restarts are ours too: Podman restarts without a pause and never says so.
      RestartPolicy: { Name: 'no' },
      Memory: spec.memory,
      MemorySwap: spec.memory,
      NanoCpus: Math.round(spec.cpus * 1e9),
      PidsLimit: spec.pids || -1,
      SecurityOpt: ['no-new-privileges'],
      CapDrop: ['NET_RAW', 'MKNOD', 'AUDIT_WRITE'],
      Init: init,
      LogConfig: { Type: 'json-file', Config: { ...logFiles } },
    },
    NetworkingConfig: { EndpointsConfig: { [spec.network]: { Aliases: [...spec.aliases] } } },
  };
}

function toImage(image: Dockerode.ImageInspectInfo): EngineImage {
  const exposed = Object.keys(image.Config?.ExposedPorts ?? {}).filter((port) =>
    port.endsWith('/tcp'),
  );
  return {
    id: withAlgorithm(image.Id),
    tags: image.RepoTags ?? [],
    digests: image.RepoDigests ?? [],
    ports: exposed.map((port) => Number.parseInt(port, 10)),
    labels: image.Config?.Labels ?? {},
    triggers: (image.Config?.OnBuild as string[] | null) ?? [],
    size: image.Size,
  };
}

function toContainer(row: Dockerode.ContainerInfo): EngineContainer {
  return {
    id: row.Id,
    name: (row.Names[0] ?? '').replace(/^\//, ''),
    labels: row.Labels ?? {},
    state: toState(row.State),
  };
}

function toDetail(row: Dockerode.ContainerInspectInfo): ContainerDetail {
  const networks = Object.entries(row.NetworkSettings.Networks ?? {});
  return {
    id: row.Id,
    name: row.Name.replace(/^\//, ''),
    labels: row.Config.Labels ?? {},
    state: toState(row.State.Status),
    imageId: withAlgorithm(row.Image),
    exitCode: row.State.ExitCode,
    error: row.State.Error ?? '',
    // Podman never sets the flag: a kill under a memory limit is the best sign there is.
    outOfMemory: row.State.OOMKilled === true,
    pid: row.State.Pid,
    startedAt: row.State.StartedAt,
    addresses: Object.fromEntries(
      networks.map(([name, network]) => [name, network.IPAddress]).filter(([, address]) => address),
    ),
    ports: toPorts(row.NetworkSettings.Ports),
  };
}

function toPorts(
  ports: Record<string, { HostPort: string }[] | null> | undefined,
): Record<number, number> {
  const bound = Object.entries(ports ?? {}).map(
    ([port, hosts]) => [Number.parseInt(port, 10), Number(hosts?.[0]?.HostPort)] as const,
  );
  return Object.fromEntries(bound.filter(([, host]) => host > 0));
}

const STATES: Readonly<Record<string, ContainerState>> = {
  created: 'created',
  configured: 'created',
  initialized: 'created',
  running: 'running',
  stopping: 'running',
  restarting: 'running',
  paused: 'paused',
  exited: 'stopped',
  stopped: 'stopped',
  removing: 'dead',
  dead: 'dead',
};

const toState = (word: string): ContainerState => STATES[word.toLowerCase()] ?? 'dead';
const withAlgorithm = (id: string) => (id.includes(':') ? id : `sha256:${id}`);
/** A name without a tag would pull every tag there is. */
function withTag(reference: string): string {
  return reference.includes('@') || /:[^/]+$/.test(reference) ? reference : `${reference}:latest`;
}

function splitReference(reference: string): { repo: string; tag: string } {
  const at = reference.lastIndexOf(':');
  return { repo: reference.slice(0, at), tag: reference.slice(at + 1) };
}
