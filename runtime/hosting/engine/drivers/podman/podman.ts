import { join } from 'node:path';
import { call } from '../../dockerode/calls.ts';
import { assertKind, type FoundEngine } from '../../dockerode/client.ts';
import type { Dialect } from '../../dockerode/dialect.ts';
import { createDockerodeEngine } from '../../dockerode/engine.ts';
import { retryOnRace } from '../../dockerode/retry-on-race.ts';
import type { Engine } from '../../engine.ts';
import { type LogDialect, logSetting } from '../../logs/log-source.ts';
import type { Driver } from '../driver.ts';
import { findPodmanNetworks, isolateAgain } from './find-network.ts';
import { followByReading } from './followed-stream.ts';
import { preparePodmanBuild } from './build.ts';
import { podmanLogPlace } from './log-place.ts';

const PODMAN: Omit<Dialect, 'prepareBuild'> = {
  kind: 'podman',
  builder: 'podman',
  // Older versions say `died`. `cleanup` and `init` are not listed, because we do not use them.
  eventActions: {
    ...{ start: 'start', die: 'die', died: 'die', stop: 'stop', remove: 'remove', oom: 'oom' },
  },
  // Podman's cleanup process is often faster than the stop call, and then only `died` is reported.
  reportsStops: false,
  pruneBuilds: false,
  // Docker separates its networks from each other, netavark only when it is told so.
  networkOptions: { isolate: 'true' },
  findNetworks: findPodmanNetworks,
  bindsToNetworks: false,
  // Podman writes one file and replaces it when it is full. Unread lines are lost unless a reader
  // still has the old file open.
  logFiles: { 'max-size': '50m' },
  readsOwners: false,
  volumeWrites: { into: '/volume', prefix: '.' },
  givesVolumes: true,
  // Podman leaves the owner of a volume alone only if it was created with one.
  filledVolume: { o: 'uid=0,gid=0' },
  findLogPlace: podmanLogPlace,
  follow: (read) => (options) => followByReading(read, options),
};

/** Creates the driver for Podman, through its Docker-compatible API. */
function createPodmanEngine(found: FoundEngine, logs: Partial<LogDialect>): Engine {
  const engine = createDockerodeEngine(found, {
    ...{ ...PODMAN, ...logs },
    prepareBuild: async (options) => preparePodmanBuild(found, options),
  });
  return {
    ...engine,
    async start(id) {
      await call(() => isolateAgain(found.client));
      return engine.start(id);
    },
    images: {
      ...engine.images,
      build: (context, options) =>
        retryOnRace(() => engine.images.build(context, options), {
          again: () =>
            options.onLine(
              'Building again: Podman lost sight of its images while another one was removed',
            ),
          stop: () => options.signal.aborted,
        }),
    },
  };
}

export const podmanDriver: Driver = {
  kind: 'podman',
  automatic: true,
  addresses: ({ XDG_RUNTIME_DIR }) => [
    XDG_RUNTIME_DIR && join(XDG_RUNTIME_DIR, 'podman/podman.sock'),
    '/run/podman/podman.sock',
  ],
  connect(found, env) {
    assertKind(found, 'podman');
    return createPodmanEngine(found, logSetting(env));
  },
};
