import type Dockerode from 'dockerode';
import { createUsageReader } from '../cgroup.ts';
import type { Engine, EngineKind } from '../engine.ts';
import { isUnchanged, toEngineError } from '../errors.ts';
import { readContainerLogs } from '../logs/log-source.ts';
import { call, ignoring, nullIfNotFound, pairs } from './calls.ts';
import { createContainers, toContainer, toDetail } from './containers.ts';
import type { Dialect } from './dialect.ts';
import { readEvents } from './event-stream.ts';
import { runCommand } from './exec.ts';
import { createImageStore } from './images.ts';
import { ensureNetwork, ensureVolume, removeLabelled, removeNetwork } from './owned.ts';
import { openTerminal } from './terminal.ts';
import { pipeCommand } from './pipe.ts';
import { readUsage } from './usage.ts';
import { openVolume } from './volume-files.ts';
import { volumeSizes } from './volume-sizes.ts';

/** Creates an engine that speaks Docker's API. */
export function createDockerodeEngine(client: Dockerode, dialect: Dialect): Engine {
  const container = (id: string) => client.getContainer(id);
  const create = createContainers(client, dialect);
  const usage = createUsageReader(async (id) => (await container(id).inspect()).State.Pid || null);
  return {
    kind: dialect.kind,
    reportsStops: dialect.reportsStops,
    reschedules: false,
    images: createImageStore(client, dialect),
    info: once(() => describeEngine(client, dialect.kind)),
    ping: () => call(async () => void (await client.ping())),

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
    inspect: (id) => nullIfNotFound(async () => toDetail(await container(id).inspect())),
    list: (labels) =>
      call(async () =>
        (await client.listContainers({ all: true, filters: { label: pairs(labels) } })).map(
          toContainer,
        ),
      ),
    logs: (id, options) => readContainerLogs(client, dialect, { ...options, id }),
    exec: (id, command, options) => call(() => runCommand(container(id), command, options)),
    pipe: (id, command, options) => call(() => pipeCommand(container(id), command, options)),
    terminal: (id, command, size) => call(() => openTerminal(container(id), command, size)),
    usage: (id) =>
      nullIfNotFound(async () => (await usage.read(id)) ?? (await readUsage(container(id)))),

    removeNetwork: (name, labels) =>
      ignoring(['not_found'], () => removeNetwork(client, dialect, name, labels)),
    ensureNetwork: (name, labels, options) =>
      call(() => ensureNetwork(client, dialect, { name, labels, ...options })),
    ensureVolume: (name, labels, options) =>
      call(() =>
        ensureVolume(client, name, {
          labels,
          driverOptions: options?.filled ? dialect.filledVolume : {},
        }),
      ),
    volumeSizes: () => call(() => volumeSizes(client)),
    volumeLabels: (name) =>
      nullIfNotFound(async () => (await client.getVolume(name).inspect()).Labels ?? {}),
    removeVolume: (name) =>
      ignoring(['not_found'], async () => void (await client.getVolume(name).remove())),
    removeLabelled: (labels) => call(() => removeLabelled(client, labels)),
    openVolume: (volume, labels) => call(() => openVolume(client, dialect, { volume, labels })),

    events: (labels, signal) => readEvents(client, dialect.eventActions, pairs(labels), signal),
  };
}

/** An engine answers 304 to a start or stop that changes nothing, and dockerode throws that. */
async function unlessUnchanged(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isUnchanged(error)) throw toEngineError(error);
  }
}

/**
 * Keeps the first result, because neither `version` nor `info` changes while an engine runs. On
 * Podman, `version` starts a process and takes 252 ms.
 */
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
    oneMachine: true,
  };
}
