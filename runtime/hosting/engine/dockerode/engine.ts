import { createSemaphore } from '@twofold/runtime/kernel';
import { createUsageReader } from '../cgroup.ts';
import type { Engine, EngineInfo, EngineKind } from '../engine.ts';
import { isUnchanged, toEngineError } from '../errors.ts';
import { readContainerLogs } from '../logs/log-source.ts';
import { call, ignoring, nullIfNotFound, pairs } from './calls.ts';
import type { FoundEngine } from './client.ts';
import { createContainers, toContainer, toDetail } from './containers.ts';
import type { Dialect } from './dialect.ts';
import { volumeSizes } from './disk-usage.ts';
import { readEvents } from './event-stream.ts';
import { runCommand } from './exec.ts';
import { createImageStore } from './images.ts';
import { ensureNetwork, ensureVolume, removeLabelled, removeNetwork } from './owned.ts';
import { openTerminal } from './terminal.ts';
import { pipeCommand } from './pipe.ts';
import { retryOnRace } from './retry-on-race.ts';
import { readUsage } from './usage.ts';
import { openVolume } from './volume-files.ts';

/** Creates an engine that speaks Docker's API. */
export function createDockerodeEngine(found: FoundEngine, dialect: Dialect): Engine {
  const { client } = found;
  const info = describeEngine(found, dialect.kind);
  const container = (id: string) => client.getContainer(id);
  /** What makes a network or a volume sees the end of a call that removes it. */
  const turns = createSemaphore(1);
  const create = createContainers(client, dialect);
  const usage = createUsageReader(async (id) => (await container(id).inspect()).State.Pid || null);
  return {
    kind: dialect.kind,
    reportsStops: dialect.reportsStops,
    reschedules: false,
    images: createImageStore(found, dialect),
    info: async () => info,
    ping: () => call(async () => void (await client.ping())),

    create: (spec) => call(() => create(spec)),
    start: (id) => unlessUnchanged(() => retryOnRace(() => container(id).start())),
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

    removeNetwork: (name, labels, isWanted) =>
      turns.run(() => unless(isWanted, () => removeNetwork(client, dialect, name, labels))),
    ensureNetwork: (name, labels, options) =>
      turns.run(() => call(() => ensureNetwork(client, dialect, { name, labels, ...options }))),
    ensureVolume: (name, labels, options) =>
      turns.run(() =>
        call(() =>
          ensureVolume(client, name, {
            labels,
            driverOptions: options?.filled ? dialect.filledVolume : {},
          }),
        ),
      ),
    volumeSizes: () => call(() => volumeSizes(client)),
    volumeLabels: (name) =>
      nullIfNotFound(async () => (await client.getVolume(name).inspect()).Labels ?? {}),
    removeVolume: (name, isWanted) =>
      turns.run(() => unless(isWanted, async () => void (await client.getVolume(name).remove()))),
    removeLabelled: (labels) => call(() => removeLabelled(client, labels)),
    openVolume: (volume, labels) => call(() => openVolume(client, dialect, { volume, labels })),

    events: (labels, signal) => readEvents(client, dialect.eventActions, pairs(labels), signal),
  };
}

/** Removes what may be gone already, unless it is wanted when its turn has come. */
async function unless(isWanted = () => false, remove: () => Promise<void>): Promise<void> {
  if (!isWanted()) await ignoring(['not_found'], remove);
}

/** An engine answers 304 to a start or stop that changes nothing, and dockerode throws that. */
async function unlessUnchanged(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isUnchanged(error)) throw toEngineError(error);
  }
}

function describeEngine({ version, info }: FoundEngine, kind: EngineKind): EngineInfo {
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
