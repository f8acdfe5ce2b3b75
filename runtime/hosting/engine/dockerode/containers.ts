import type Dockerode from 'dockerode';
import { pack } from 'tar-stream';
import type { ContainerDetail, ContainerSpec, ContainerState, EngineContainer } from '../engine.ts';
import { toEngineError } from '../errors.ts';
import type { Dialect } from './dialect.ts';
import { withAlgorithm } from './images.ts';
import { retryOnRace } from './calls.ts';
import { giveNewVolumes } from './volume-owner.ts';

/**
 * An init process reaps the zombie processes of an app. If the engine's own init is not installed,
 * apps run without one.
 */
export function createContainers(
  client: Dockerode,
  { logFiles, givesVolumes }: Dialect,
): (spec: ContainerSpec) => Promise<string> {
  let init = true;
  const create = async (spec: ContainerSpec): Promise<string> => {
    try {
      // Sent in the body only. By default dockerode also puts the options into the URL, and so an
      // app's secrets would be written to the engine's log.
      const inTheBody = {
        _query: { name: spec.name },
        _body: createOptions(spec, { init, logFiles }),
      };
      const made = await client.createContainer(inTheBody as Dockerode.ContainerCreateOptions);
      return await finish(client, made, { spec, givesVolumes });
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

/** Adds what an engine does not take with the creation. A container without it is removed. */
async function finish(
  client: Dockerode,
  container: Dockerode.Container,
  { spec, givesVolumes }: { readonly spec: ContainerSpec; readonly givesVolumes: boolean },
): Promise<string> {
  const { networks = [], aliases, files = [] } = spec;
  try {
    const endpoint = { Container: container.id, EndpointConfig: { Aliases: [...aliases] } };
    for (const network of networks)
      await retryOnRace(() => client.getNetwork(network).connect(endpoint));
    if (!givesVolumes) await giveNewVolumes(container, spec);
    if (files.length > 0) await container.putArchive(await packFiles(files), { path: '/' });
    return container.id;
  } catch (error) {
    await container.remove({ force: true }).catch(() => {});
    throw error;
  }
}

/** Files that their process may read and, if they are programs, run. */
async function packFiles(files: NonNullable<ContainerSpec['files']>): Promise<Buffer> {
  const archive = pack();
  for (const { path, content, executable } of files) {
    const mode = executable ? 0o555 : 0o444;
    archive.entry({ name: path.slice(1), mode }, Buffer.from(content, 'base64'));
  }
  archive.finalize();
  return Buffer.concat(await Array.fromAsync(archive as AsyncIterable<Buffer>));
}

function createOptions(
  spec: ContainerSpec,
  { init, logFiles }: { init: boolean; logFiles: Dialect['logFiles'] },
): Dockerode.ContainerCreateOptions {
  const main = spec.port === null ? [] : [`${spec.port}/tcp`];
  const ports = [...new Set([...main, ...(spec.streams ?? [])])];
  const published = ports.map((port) => [port, [{ HostIp: '127.0.0.1', HostPort: '' }]]);
  return {
    Image: spec.image,
    Labels: { ...spec.labels },
    Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
    ...(spec.command && { Cmd: [...spec.command] }),
    ...(spec.entrypoint && { Entrypoint: [...spec.entrypoint] }),
    ...(spec.user && { User: spec.user }),
    ...(spec.workingDir && { WorkingDir: spec.workingDir }),
    ExposedPorts: Object.fromEntries(ports.map((port) => [port, {}])),
    // The image's own HEALTHCHECK is switched off, because each check costs a process, and Podman
    // without systemd never runs it. `deploy/probe.ts` checks apps instead.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      NetworkMode: spec.network,
      Binds: spec.volumes.map(({ volume, path }) => `${volume}:${path}`),
      PortBindings: spec.publish ? Object.fromEntries(published) : {},
      // The supervisor restarts containers, because Podman restarts them without a pause and does
      // not report it.
      RestartPolicy: { Name: 'no' },
      Memory: spec.memory,
      MemorySwap: spec.memory,
      NanoCpus: Math.round(spec.cpus * 1e9),
      PidsLimit: spec.pids || -1,
      SecurityOpt: ['no-new-privileges'],
      CapDrop: ['NET_RAW', 'MKNOD', 'AUDIT_WRITE'],
      Init: init && spec.init !== false,
      LogConfig: { Type: 'json-file', Config: { ...logFiles } },
    },
    NetworkingConfig: { EndpointsConfig: { [spec.network]: { Aliases: [...spec.aliases] } } },
  };
}

export function toContainer(row: Dockerode.ContainerInfo): EngineContainer {
  return {
    id: row.Id,
    name: (row.Names[0] ?? '').replace(/^\//, ''),
    labels: row.Labels ?? {},
    state: toState(row.State),
  };
}

export function toDetail(row: Dockerode.ContainerInspectInfo): ContainerDetail {
  const networks = Object.entries(row.NetworkSettings.Networks ?? {});
  return {
    id: row.Id,
    name: row.Name.replace(/^\//, ''),
    labels: row.Config.Labels ?? {},
    state: toState(row.State.Status),
    imageId: withAlgorithm(row.Image),
    exitCode: row.State.ExitCode,
    error: row.State.Error ?? '',
    // Podman never sets this flag. There, `describeEnd` guesses from the exit code and the memory
    // limit.
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
): Record<string, number> {
  const bound = Object.entries(ports ?? {}).map(
    ([port, hosts]) => [port, Number(hosts?.[0]?.HostPort)] as const,
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
