import { assertKind, DOCKER_SOCKETS, type FoundEngine } from '../../dockerode/client.ts';
import type { Dialect } from '../../dockerode/dialect.ts';
import { createDockerodeEngine } from '../../dockerode/engine.ts';
import type { Engine } from '../../engine.ts';
import { type LogDialect, logSetting } from '../../logs/log-source.ts';
import type { Driver } from '../driver.ts';
import { dockerLogPlace } from './log-place.ts';

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
        ...{ id: Id, labels: Labels },
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
  connect(found, env) {
    assertKind(found, 'docker');
    return createDockerEngine(found, logSetting(env));
  },
};
