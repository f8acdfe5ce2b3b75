import { createSemaphore } from '@twofold/runtime/kernel';
import { createUsageReader } from '../cgroup.ts';
import type { Engine, EngineInfo, EngineKind, EngineEvent, ContainerUsage } from '../engine.ts';
import { isUnchanged, toEngineError } from '../errors.ts';
import { readContainerLogs } from '../logs/log-source.ts';
import { call, ignoring, nullIfNotFound, pairs, retryOnRace } from './calls.ts';
import type { FoundEngine } from './client.ts';
import { createContainers, toContainer, toDetail } from './containers.ts';
import type { Dialect } from './dialect.ts';
import { volumeSizes } from './build-cache.ts';
import { runCommand } from './exec.ts';
import { createImageStore } from './images.ts';
import { ensureNetwork, ensureVolume, removeLabelled, removeNetwork } from './owned.ts';
import { openTerminal } from './terminal.ts';
import { pipeCommand } from './pipe.ts';
import { openVolume } from './volume-files.ts';
import type { Readable } from 'node:stream';
import type Dockerode from 'dockerode';

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

interface RawEvent {
  readonly Action?: string;
  readonly timeNano?: number;
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> };
}

/** Reads the container events that we use, with the same names for every engine. */
export async function* readEvents(
  client: Dockerode,
  actions: Readonly<Record<string, EngineEvent['action']>>,
  labels: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  try {
    const options = { filters: { type: ['container'], label: [...labels] }, abortSignal: signal };
    const stream = (await client.getEvents(
      options as Dockerode.GetEventsOptions,
    )) as unknown as Readable;
    signal.addEventListener('abort', () => stream.destroy(), { once: true });
    yield* parse(stream, actions);
  } catch (error) {
    if (!signal.aborted) throw toEngineError(error);
  }
}

async function* parse(
  stream: Readable,
  actions: Readonly<Record<string, EngineEvent['action']>>,
): AsyncGenerator<EngineEvent> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = toEvent(line, actions);
      if (event) yield event;
    }
  }
}

function toEvent(
  line: string,
  actions: Readonly<Record<string, EngineEvent['action']>>,
): EngineEvent | null {
  if (line.trim() === '') return null;
  const { Action, Actor, timeNano } = JSON.parse(line) as RawEvent;
  const action = actions[Action ?? ''];
  if (!action || !Actor?.ID) return null;
  const { exitCode, containerExitCode } = Actor.Attributes ?? {};
  const code = exitCode ?? containerExitCode;
  return {
    action,
    containerId: Actor.ID,
    labels: Actor.Attributes ?? {},
    exitCode: code === undefined ? null : Number(code),
    ...(timeNano !== undefined && { at: timeNano / 1e6 }),
  };
}

interface RawStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly limit?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
  readonly networks?: Readonly<
    Record<string, { readonly rx_bytes: number; readonly tx_bytes: number }>
  >;
  /** Podman's name for `networks`. */
  readonly network?: RawStats['networks'];
  readonly pids_stats?: { readonly current?: number };
}

/**
 * Reads one sample. `one-shot` avoids the second that Docker otherwise waits to compute a rate. Our
 * callers compute rates from two samples.
 */
export async function readUsage(container: Dockerode.Container): Promise<ContainerUsage> {
  const stats = (await container.stats({ stream: false, 'one-shot': true } as object as {
    stream: false;
  })) as unknown as RawStats;
  const networks = Object.values(stats.networks ?? stats.network ?? {});
  const memory = stats.memory_stats ?? {};
  // The kernel can drop this part of the page cache at any time, so it does not count as used
  // memory.
  const cache = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  return {
    cpu: stats.cpu_stats?.cpu_usage?.total_usage ?? 0,
    memory: Math.max(0, (memory.usage ?? 0) - cache),
    memoryLimit: memory.limit ?? 0,
    networkIn: networks.reduce((sum, network) => sum + network.rx_bytes, 0),
    networkOut: networks.reduce((sum, network) => sum + network.tx_bytes, 0),
    pids: stats.pids_stats?.current ?? 0,
  };
}
