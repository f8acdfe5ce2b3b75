import type Dockerode from 'dockerode';
import { createEngine } from './docker.ts';
import type { Dialect } from './docker.ts';
import type { Engine } from './engine.ts';
import { followByReading } from './followed-logs.ts';
import { undisturbed } from './undisturbed.ts';

const PODMAN: Dialect = {
  kind: 'podman',
  // Without this a build's RUN is in the host's own network, whatever `networkmode` says, and reaches what listens on loopback.
  buildQuery: { nsoptions: JSON.stringify([{ Name: 'network', Host: false }]) },
  // `died` is what older versions say; `cleanup` and `init` mean nothing to us.
  eventActions: { start: 'start', die: 'die', died: 'die', remove: 'remove', oom: 'oom' },
  pruneBuilds: false,
  // It has one file and empties it when it is full: what nobody has read by then is lost.
  logFiles: { 'max-size': '50m' },
};

/** Podman, through its Docker-compatible API. */
export function createPodmanEngine(client: Dockerode): Engine {
  const engine = createEngine(client, PODMAN);
  return {
    ...engine,
    build: (context, options) =>
      undisturbed(() => engine.build(context, options), {
        again: () => options.onLine('Building again: Podman lost sight of its images while another one was removed'),
        stop: () => options.signal.aborted,
      }),
    logs: (id, options) => (options.follow ? followByReading((each) => engine.logs(id, each), options) : engine.logs(id, options)),
  };
}
