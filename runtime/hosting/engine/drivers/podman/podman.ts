import { join } from 'node:path';
import { call, ignoring, nullIfNotFound, retryOnRace } from '../../dockerode/calls.ts';
import { assertKind, findEngine, type FoundEngine } from '../../dockerode/client.ts';
import type { Dialect } from '../../dockerode/dialect.ts';
import { createDockerodeEngine } from '../../dockerode/engine.ts';
import type { Engine } from '../../engine.ts';
import { type LogDialect, logSetting } from '../../logs/log-source.ts';
import type { Driver } from '../driver.ts';
import { followByReading } from './followed-stream.ts';
import { preparePodmanBuild } from './build.ts';
import type Dockerode from 'dockerode';
import type { FindNetworks } from '../../dockerode/owned.ts';
import { readFileSync } from 'node:fs';
import type { FindLogPlace } from '../../logs/records.ts';

const PODMAN: Omit<Dialect, 'prepareBuild'> = {
  kind: 'podman',
  builder: 'podman',
  // Older versions say `died`. `cleanup` and `init` are not listed, because we do not use them.
  eventActions: {
    start: 'start',
    die: 'die',
    died: 'die',
    stop: 'stop',
    remove: 'remove',
    oom: 'oom',
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
    ...PODMAN,
    ...logs,
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
  async connect(address, env, once) {
    const found = await findEngine(address, once);
    assertKind(found, 'podman');
    return createPodmanEngine(found, logSetting(env));
  },
};

interface PodmanNetwork {
  readonly labels?: Readonly<Record<string, string>>;
  readonly subnets?: readonly { readonly gateway?: string }[];
  readonly options?: Readonly<Record<string, string>>;
}

/** What our networks have, whichever server made them. */
const OURS = 'twofold.instance';

/**
 * Asks Podman's own API, which has one network of a name at most. Its Docker-compatible one (4.3.1)
 * removes the options of a network that it describes from memory: containers that start later are
 * no longer isolated.
 */
async function findPodmanNetworks(client: Dockerode, name: string): ReturnType<FindNetworks> {
  const found = await nullIfNotFound(() =>
    ask<PodmanNetwork>(client, `networks/${encodeURIComponent(name)}/json`),
  );
  if (!found) return [];
  const { labels = {}, subnets } = found;
  // Its name, which nothing else has: by its id Podman removes a network that containers have.
  return [{ id: name, labels, gateway: subnets?.[0]?.gateway ?? null }];
}

/**
 * Makes Podman read its networks again when it has forgotten the options of one of ours, because
 * another program asked for a list of them: a container that is started now would be reachable from
 * all networks. Podman reads them after each change of any network.
 */
async function isolateAgain(client: Dockerode): Promise<void> {
  const networks = await ask<readonly PodmanNetwork[]>(client, 'networks/json');
  const isOpen = ({ labels, options }: PodmanNetwork) =>
    labels?.[OURS] !== undefined && options?.['isolate'] === undefined;
  if (!networks.some(isOpen)) return;
  const name = 'twofold-read-again';
  // One that a killed server left, or that another server makes now, is as good.
  await ignoring(
    ['conflict'],
    async () => void (await client.createNetwork({ Name: name, Internal: true })),
  );
  await ignoring(['not_found'], async () => void (await client.getNetwork(name).remove()));
}

function ask<Answer>({ modem }: Dockerode, resource: string): Promise<Answer> {
  const { dial } = modem as {
    dial(options: object, done: (error: unknown, found: Answer) => void): void;
  };
  const path = `/v4.0.0/libpod/${resource}`;
  const statusCodes = { 200: true, 404: 'not found', 500: 'server error' };
  return new Promise((resolve, reject) =>
    dial.call(modem, { path, method: 'GET', statusCodes }, (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  );
}

interface PodmanContainer {
  readonly State: { readonly Running: boolean; readonly ConmonPid?: number };
  readonly HostConfig: { readonly LogConfig?: { readonly Type: string; readonly Path?: string } };
}

/**
 * Milliseconds between two checks of the writing process. Podman itself reports the end of a
 * container late, or before the last lines are written.
 */
const CHECK_INTERVAL = 100;

/** The container's conmon process writes the file, and ends when everything is written. */
async function podmanLogPlace(client: Dockerode, id: string): ReturnType<FindLogPlace> {
  const { State, HostConfig } = await ask<PodmanContainer>(client, `containers/${id}/json`);
  const { Type = '', Path } = HostConfig.LogConfig ?? {};
  const pid = State.ConmonPid ?? 0;
  const open = isWriter(pid, id);
  // A running container without a conmon process on this machine means that Podman runs on another
  // machine.
  if (!Path || !/^(json|k8s)-file$/.test(Type) || (State.Running && !open)) return null;
  return {
    path: Path,
    format: 'k8s-file',
    open,
    watchEnd(onEnd) {
      const timer = setInterval(() => {
        if (isWriter(pid, id)) return;
        clearInterval(timer);
        onEnd();
      }, CHECK_INTERVAL);
      return { close: () => clearInterval(timer) };
    },
  };
}

/**
 * Whether this process is the container's conmon: its arguments contain the container's id. A
 * zombie process has no arguments.
 */
function isWriter(pid: number, id: string): boolean {
  try {
    return pid > 0 && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(id);
  } catch {
    return false;
  }
}
