import { setTimeout as sleep } from 'node:timers/promises';
import type Dockerode from 'dockerode';
import { call, ignoring, nullIfNotFound, pairs } from '../../dockerode/calls.ts';
import {
  assertKind,
  DOCKER_SOCKETS,
  findEngine,
  type FoundEngine,
  registryAuth,
} from '../../dockerode/client.ts';
import { createDockerEngine } from '../docker/docker.ts';
import type {
  ContainerDetail,
  ContainerSpec,
  Engine,
  EngineContainer,
  EngineEvent,
} from '../../engine.ts';
import { EngineError, isUnchanged, toEngineError } from '../../errors.ts';
import { runCommand } from '../../dockerode/exec.ts';
import { pipeCommand } from '../../dockerode/pipe.ts';
import { readStream } from '../../dockerode/log-stream.ts';
import { openTerminal } from '../../dockerode/terminal.ts';
import { type ReadStream, readStreams } from '../../logs/stream-source.ts';
import type { Driver } from '../driver.ts';
import type { RegistryLogin } from '../../images.ts';
import { createConfigs, removeConfigs } from './configs.ts';
import { serviceName, toService } from './service-spec.ts';
import {
  currentTask,
  hasFailed,
  isOnce,
  portCount,
  publishedPorts,
  readNodes,
  type Service,
  type Task,
  toDetail,
} from './tasks.ts';

/** Milliseconds for a start, in which Swarm finds a machine and that may pull the image. */
const START_TIMEOUT = 120_000;
const POLL_INTERVAL = 200;
/**
 * Milliseconds between two checks of the tasks: a manager reports events of services, but not of
 * containers on other machines.
 */
const WATCH_INTERVAL = 1000;

/** The label of a task's container: the id of its service. */
const SERVICE_LABEL = 'com.docker.swarm.service.id';
/** Whether an id is that of a container. Ids of services are shorter. */
const isPlain = (id: string) => /^[0-9a-f]{64}$/.test(id);

/**
 * Docker Swarm, through dockerode and a manager of the swarm. Each container of the other folders
 * is a service with one task here, so probing, switching and draining work as on one machine. When
 * a machine is lost, Swarm starts its tasks on another one.
 */
function createSwarmEngine(found: FoundEngine): Engine {
  const { client } = found;
  const docker = createDockerEngine(found);
  return {
    ...docker,
    kind: 'swarm',
    reschedules: true,
    info: async () => ({ ...(await docker.info()), kind: 'swarm', oneMachine: false }),

    create: (spec, login) =>
      spec.local ? docker.create(spec) : call(() => create(client, spec, login)),
    start: (id) => (isPlain(id) ? docker.start(id) : call(() => start(client, id))),
    stop: (id, graceSeconds) =>
      isPlain(id) ? docker.stop(id, graceSeconds) : call(() => stop(client, id, graceSeconds)),
    remove: (id) =>
      isPlain(id) ? docker.remove(id) : ignoring(['not_found'], () => remove(client, id)),
    inspect: (id) =>
      isPlain(id) ? docker.inspect(id) : nullIfNotFound(() => readDetail(client, id)),
    list: async (labels) => [
      ...(await call(() => list(client, labels))),
      ...(await docker.list(labels)).filter((each) => each.labels[SERVICE_LABEL] === undefined),
    ],
    logs(id, options) {
      if (isPlain(id)) return docker.logs(id, options);
      const read: ReadStream = (each) =>
        readStream({ path: `/services/${id}`, modem: client.modem }, each);
      return readStreams({ read, follow: (each) => read({ ...each, follow: true }) }, options);
    },
    exec: (id, command, options) =>
      call(async () => runCommand(await localContainer(client, id), command, options)),
    pipe: (id, command, options) =>
      call(async () => pipeCommand(await localContainer(client, id), command, options)),
    terminal: (id, command, size) =>
      call(async () => openTerminal(await localContainer(client, id), command, size)),
    async usage(id) {
      const container = await nullIfNotFound(() => localContainer(client, id)).catch(() => null);
      return container && docker.usage(container.id);
    },
    // What is alone in a network is a plain container, and reaches nothing on other machines.
    ensureNetwork: (name, labels, options) =>
      docker.ensureNetwork(name, labels, options?.internal ? options : { driver: 'overlay' }),
    events: (labels, signal) => watch(client, labels, signal),
  };
}

export const swarmDriver: Driver = {
  kind: 'swarm',
  automatic: false,
  addresses: () => DOCKER_SOCKETS,
  async connect(address, _env, once) {
    const found = await findEngine(address, once);
    assertKind(found, 'swarm');
    const { Swarm } = found.info;
    if (Swarm?.LocalNodeState === 'active' && Swarm.ControlAvailable)
      return createSwarmEngine(found);
    throw new EngineError(
      'unavailable',
      'this Docker is no manager of a Swarm: run docker swarm init, or name another in the manifest',
    );
  },
};

async function create(
  client: Dockerode,
  spec: ContainerSpec,
  login: RegistryLogin | undefined,
): Promise<string> {
  const nodeId = await ownNode(client);
  const configs = await createConfigs(client, serviceName(spec.name), spec);
  const auth = login && (registryAuth(login) as Dockerode.AuthConfig);
  try {
    // With one argument, dockerode sends the service as the login too, in a header.
    const service = toService(spec, { nodeId, configs }) as never;
    return (await client.createService(auth as Dockerode.AuthConfig, service)).id;
  } catch (error) {
    await removeConfigs(client, configs);
    throw error;
  }
}

async function remove(client: Dockerode, id: string): Promise<void> {
  const service = client.getService(id);
  const { Spec } = (await service.inspect()) as Service;
  await service.remove();
  // Swarm removes the containers of its tasks later, and until then their volumes are in use.
  const filters = { label: [`${SERVICE_LABEL}=${id}`] };
  for (const { Id } of await client.listContainers({ all: true, filters }))
    await ignoring(['not_found', 'conflict'], async () => {
      await client.getContainer(Id).remove({ force: true });
    });
  await removeConfigs(client, Spec.TaskTemplate?.ContainerSpec?.Configs ?? []);
}

async function ownNode(client: Dockerode): Promise<string> {
  return ((await client.info()) as { Swarm: { NodeID: string } }).Swarm.NodeID;
}

/** When another change of the service came first, this change is repeated on the new version. */
async function scale(client: Dockerode, id: string, replicas: number): Promise<void> {
  const service = client.getService(id);
  for (let attempt = 0; ; attempt += 1) {
    const { Version, Spec } = (await service.inspect()) as Service;
    if (Spec.Mode.Replicated?.Replicas === replicas) return;
    const body = { ...Spec, Mode: { Replicated: { Replicas: replicas } } };
    try {
      return void (await service.update({
        _query: { version: Version.Index },
        _body: body,
      } as never));
    } catch (error) {
      if (attempt === 5 || !/out of sequence/.test(toEngineError(error).message)) throw error;
      await sleep(POLL_INTERVAL);
    }
  }
}

/** Resolves when the task runs and can be reached, or has failed: `inspect` has the reason. */
async function start(client: Dockerode, id: string): Promise<void> {
  const failures = new Set((await tasksOf(client, id)).filter(hasFailed).map(({ ID }) => ID));
  const wanted = portCount((await client.getService(id).inspect()) as Service);
  await scale(client, id, 1);
  for (const until = Date.now() + START_TIMEOUT; Date.now() < until; await sleep(POLL_INTERVAL)) {
    const [tasks, nodes] = await Promise.all([tasksOf(client, id), readNodes(client)]);
    const { task, running } = currentTask(tasks, nodes);
    if (running && Object.keys(publishedPorts(task)).length >= wanted) return;
    if (tasks.some((each) => hasFailed(each) && !failures.has(each.ID))) return;
  }
  const { error } = await readDetail(client, id);
  throw new EngineError(
    'failed',
    `The task did not start within ${START_TIMEOUT / 1000} s${error ? `: ${error}` : ''}`,
  );
}

/**
 * Swarm forgets a task that it stops, and its exit code with it. So the container of a run is
 * stopped itself where that is possible: on this machine.
 */
async function stop(client: Dockerode, id: string, graceSeconds: number): Promise<void> {
  const once = isOnce((await client.getService(id).inspect()) as Service);
  const container = once ? await localContainer(client, id).catch(() => null) : null;
  if (container) await container.stop({ t: graceSeconds }).catch(unlessStopped);
  else await scale(client, id, 0);
  await untilGone(client, id, (graceSeconds + 10) * 1000);
}

/** It may have ended by itself meanwhile. */
function unlessStopped(error: unknown): void {
  if (!isUnchanged(error) && toEngineError(error).kind !== 'not_found') throw error;
}

/** Resolves when no task of the service has a container any more. */
async function untilGone(client: Dockerode, id: string, timeout: number): Promise<void> {
  const until = Date.now() + timeout;
  while (Date.now() < until) {
    const [tasks, nodes] = await Promise.all([tasksOf(client, id), readNodes(client)]);
    if (!tasks.some(({ Status, NodeID }) => Status.State === 'running' && nodes.has(NodeID ?? '')))
      return;
    await sleep(POLL_INTERVAL);
  }
}

async function readDetail(client: Dockerode, id: string): Promise<ContainerDetail> {
  const [service, tasks, nodes] = await Promise.all([
    client.getService(id).inspect() as Promise<Service>,
    tasksOf(client, id),
    readNodes(client),
  ]);
  return toDetail(service, currentTask(tasks, nodes), nodes);
}

async function tasksOf(client: Dockerode, id: string): Promise<Task[]> {
  return (await client.listTasks({ filters: { service: [id] } } as never)) as unknown as Task[];
}

async function list(
  client: Dockerode,
  labels: Readonly<Record<string, string>>,
): Promise<EngineContainer[]> {
  const filters = { filters: { label: pairs(labels) } } as never;
  const [services, tasks, nodes] = await Promise.all([
    client.listServices(filters) as unknown as Promise<Service[]>,
    client.listTasks() as unknown as Promise<Task[]>,
    readNodes(client),
  ]);
  const byService = Map.groupBy(tasks, ({ ServiceID }) => ServiceID);
  return services.map((service) =>
    toDetail(service, currentTask(byService.get(service.ID) ?? [], nodes), nodes),
  );
}

/** The container of the service's task. `exec` works only for tasks on this machine. */
async function localContainer(client: Dockerode, id: string): Promise<Dockerode.Container> {
  if (isPlain(id)) return client.getContainer(id);
  const { task, running } = currentTask(await tasksOf(client, id), await readNodes(client));
  const container = task?.Status.ContainerStatus?.ContainerID;
  if (running && container && task.NodeID === (await ownNode(client)))
    return client.getContainer(container);
  if (!running) throw new EngineError('failed', 'The app does not run');
  throw new EngineError(
    'unsupported',
    'The app runs on another machine of the swarm, where this server cannot run commands: a volume or a health.command keeps an app here',
  );
}

/** Reports a container as ended when its task no longer runs, also when its machine is lost. */
async function* watch(
  client: Dockerode,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
): AsyncGenerator<EngineEvent> {
  let before = new Map<string, string>();
  while (!signal.aborted) {
    const now = await call(() => list(client, labels));
    const running = new Map(
      now
        .filter(({ state }) => state === 'running')
        .map((service) => [service.id, endpointOf(service)]),
    );
    for (const { id, labels: own } of now) {
      // A task that was replaced between two checks has ended too.
      if (before.has(id) && before.get(id) !== running.get(id))
        yield { action: 'die', containerId: id, labels: own, exitCode: null };
    }
    before = running;
    await sleep(WATCH_INTERVAL, undefined, { signal, ref: false }).catch(() => {});
  }
}

function endpointOf(service: EngineContainer): string {
  const { machine, ports, startedAt } = service as ContainerDetail;
  const published = Object.values(ports);
  return machine && published.length > 0 ? `${machine}:${published.join()}` : startedAt;
}
