import type Dockerode from 'dockerode';
import { createEngine } from './docker.ts';
import type { Dialect } from './docker.ts';
import type { Engine } from './engine.ts';
import { followByReading } from './logs/followed-stream.ts';
import { podmanLogPlace } from './logs/log-place.ts';
import type { LogDialect } from './logs/log-source.ts';
import { undisturbed } from './undisturbed.ts';

const PODMAN: Dialect = {
  kind: 'podman',
  // Without this a build's RUN is in the host's own network, whatever `networkmode` says, and reaches what listens on loopback.
  buildQuery: { nsoptions: JSON.stringify([{ Name: 'network', Host: false }]) },
  // `died` is what older versions say; `cleanup` and `init` mean nothing to us.
  eventActions: {
    ...{ start: 'start', die: 'die', died: 'die', stop: 'stop', remove: 'remove', oom: 'oom' },
  },
  // Its own process that sees to ends is often faster, and then there is only a `died`.
  tellsStops: false,
  pruneBuilds: false,
  // It has one file, and begins it anew when it is full: what nobody has read or has open by then is lost.
  logFiles: { 'max-size': '50m' },
  findLogPlace: podmanLogPlace,
  follow: (read) => (options) => followByReading(read, options),
};

/** Podman, through its Docker-compatible API. */
export function createPodmanEngine(client: Dockerode, logs: Partial<LogDialect> = {}): Engine {
  const engine = createEngine(client, { ...PODMAN, ...logs });
  return {
    ...engine,
    build: (context, options) =>
      undisturbed(() => engine.build(context, options), {
        again: () =>
          options.onLine(
            'Building again: Podman lost sight of its images while another one was removed',
          ),
        stop: () => options.signal.aborted,
      }),
  };
}
