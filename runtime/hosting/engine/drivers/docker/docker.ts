import {
  assertKind,
  DOCKER_SOCKETS,
  findEngine,
  type FoundEngine,
} from '../../dockerode/client.ts';
import type { Dialect } from '../../dockerode/dialect.ts';
import { createDockerodeEngine } from '../../dockerode/engine.ts';
import type { Engine } from '../../engine.ts';
import { type LogDialect, logSetting } from '../../logs/log-source.ts';
import type { Driver } from '../driver.ts';
import type Dockerode from 'dockerode';
import { type EngineError, toEngineError } from '../../errors.ts';
import type { FindLogPlace } from '../../logs/records.ts';

const DOCKER: Dialect = {
  kind: 'docker',
  builder: 'docker',
  prepareBuild: async () => ({ query: { version: '1' }, files: {}, end: async () => {} }),
  eventActions: { start: 'start', die: 'die', stop: 'stop', destroy: 'remove', oom: 'oom' },
  reportsStops: true,
  pruneBuilds: true,
  logFiles: { 'max-size': '10m', 'max-file': '3' },
  readsOwners: true,
  volumeWrites: { into: '/', prefix: 'volume' },
  givesVolumes: false,
  filledVolume: {},
  networkOptions: {},
  findNetworks: async (client, name) =>
    (await client.listNetworks({ filters: { name: [name] } }))
      .filter(({ Name }) => Name === name)
      .toSorted((a, b) => a.Created.localeCompare(b.Created) || a.Id.localeCompare(b.Id))
      .map(({ Id, Labels = {}, IPAM }) => ({
        id: Id,
        labels: Labels,
        gateway: (IPAM?.Config as { Gateway?: string }[] | undefined)?.[0]?.Gateway ?? null,
      })),
  bindsToNetworks: true,
  findLogPlace: dockerLogPlace,
  follow: (read) => (options) => read({ ...options, follow: true }),
};

/** Creates the driver for Docker on one machine. */
export const createDockerEngine = (found: FoundEngine, logs: Partial<LogDialect> = {}): Engine =>
  createDockerodeEngine(found, { ...DOCKER, ...logs });

export const dockerDriver: Driver = {
  kind: 'docker',
  automatic: true,
  addresses: () => DOCKER_SOCKETS,
  async connect(address, env, once) {
    const found = await findEngine(address, once);
    assertKind(found, 'docker');
    return createDockerEngine(found, logSetting(env));
  },
};

/**
 * Finds the log file of a container. Docker's daemon writes this file itself, and the file is
 * complete when the daemon reports the end of the container.
 */
async function dockerLogPlace(client: Dockerode, id: string): ReturnType<FindLogPlace> {
  const container = client.getContainer(id);
  const { LogPath, HostConfig, State } =
    (await container.inspect()) as Dockerode.ContainerInspectInfo & {
      HostConfig: { LogConfig?: Dockerode.LogConfig };
    };
  const { Type, Config } = HostConfig.LogConfig ?? {};
  if (Type !== 'json-file' || !LogPath || Config?.['compress'] === 'true') return null;
  return {
    path: LogPath,
    format: 'json-file',
    open: State.Running,
    watchEnd(onEnd) {
      const abort = new AbortController();
      container.wait({ abortSignal: abort.signal } as object).then(
        () => onEnd(),
        (error) => onEnd(goneOr(toEngineError(error))),
      );
      return { close: () => abort.abort() };
    },
  };
}

const goneOr = (error: EngineError) => (error.kind === 'unavailable' ? error : undefined);
