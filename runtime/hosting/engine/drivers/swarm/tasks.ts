import type Dockerode from 'dockerode';
import type { ContainerDetail, ContainerState } from '../../engine.ts';
import type { ConfigReference } from './configs.ts';

/** A task, with the fields that we read. */
export interface Task {
  readonly ID: string;
  readonly ServiceID: string;
  readonly NodeID?: string;
  readonly DesiredState: string;
  readonly CreatedAt: string;
  readonly Status: {
    readonly State: string;
    readonly Err?: string;
    readonly Message?: string;
    readonly Timestamp?: string;
    readonly ContainerStatus?: {
      readonly ContainerID?: string;
      readonly PID?: number;
      readonly ExitCode?: number;
    };
    readonly PortStatus?: {
      readonly Ports?: readonly {
        readonly Protocol: string;
        readonly TargetPort: number;
        readonly PublishedPort: number;
      }[];
    };
  };
}

export interface Service {
  readonly ID: string;
  readonly Version: { readonly Index: number };
  readonly Spec: {
    readonly Name: string;
    readonly Labels?: Readonly<Record<string, string>>;
    readonly Mode: { readonly Replicated?: { readonly Replicas: number } };
    readonly EndpointSpec?: { readonly Ports?: readonly unknown[] };
    readonly TaskTemplate?: {
      readonly RestartPolicy?: { readonly Condition?: string };
      readonly ContainerSpec?: { readonly Configs?: readonly ConfigReference[] };
    };
    readonly [key: string]: unknown;
  };
  /** Absent as long as the service is as it was created. */
  readonly PreviousSpec?: object;
}

/** Whether the service is a run: its task is not started again. */
export const isOnce = ({ Spec }: Service): boolean =>
  Spec.TaskTemplate?.RestartPolicy?.Condition === 'none';

/** How many ports a task of the service publishes. */
export const portCount = ({ Spec }: Service): number => (Spec.EndpointSpec?.Ports ?? []).length;

interface Node {
  readonly ID: string;
  readonly Status: { readonly State: string; readonly Addr?: string };
  readonly ManagerStatus?: { readonly Addr?: string };
}

/** The machines of the swarm that are up, with their addresses by node id. */
export async function readNodes(client: Dockerode): Promise<ReadonlyMap<string, string>> {
  const nodes = (await client.listNodes()) as unknown as Node[];
  const up = nodes.filter(({ Status }) => Status.State === 'ready');
  // A manager that listens on all addresses reports 0.0.0.0 as its own.
  const addressOf = ({ Status, ManagerStatus }: Node) =>
    Status.Addr && Status.Addr !== '0.0.0.0'
      ? Status.Addr
      : (ManagerStatus?.Addr?.replace(/:\d+$/, '') ?? '127.0.0.1');
  return new Map(up.map((node) => [node.ID, addressOf(node)]));
}

/** The running task, else the newest one, which has the reason why none runs. */
export function currentTask(
  tasks: readonly Task[],
  nodes: ReadonlyMap<string, string>,
): { readonly task: Task | undefined; readonly running: boolean } {
  const newest = tasks.toSorted((a, b) => (a.CreatedAt < b.CreatedAt ? 1 : -1));
  const running = newest.find(
    ({ Status, DesiredState, NodeID }) =>
      Status.State === 'running' && DesiredState === 'running' && nodes.has(NodeID ?? ''),
  );
  return { task: running ?? newest.find(hasFailed) ?? newest[0], running: running !== undefined };
}

const FAILED = new Set(['failed', 'rejected', 'complete']);

/** Whether the task's process has ended by itself or could not start. */
export const hasFailed = ({ Status }: Task): boolean => FAILED.has(Status.State);

/** Describes a service and its task as one container. */
export function toDetail(
  service: Service,
  current: ReturnType<typeof currentTask>,
  nodes: ReadonlyMap<string, string>,
): ContainerDetail {
  const { ID, Spec } = service;
  const { task, running } = current;
  const machine = nodes.get(task?.NodeID ?? '');
  return {
    id: ID,
    name: Spec.Name,
    labels: Spec.Labels ?? {},
    imageId: '',
    state: stateOf(service, current, nodes),
    // Swarm forgets the task of a service that was stopped.
    exitCode: task ? (task.Status.ContainerStatus?.ExitCode ?? 0) : null,
    error: task?.Status.Err ?? '',
    outOfMemory: false,
    // The process may run on another machine, where its id has another meaning.
    pid: 0,
    startedAt: task?.Status.Timestamp ?? '',
    addresses: {},
    ports: running ? publishedPorts(task) : {},
    ...(running && machine && { machine }),
  };
}

function stateOf(
  service: Service,
  { task, running }: ReturnType<typeof currentTask>,
  nodes: ReadonlyMap<string, string>,
): ContainerState {
  if (running) return 'running';
  const wanted = service.Spec.Mode.Replicated?.Replicas ?? 0;
  if (wanted === 0) return service.PreviousSpec ? 'stopped' : 'created';
  if (task && hasFailed(task)) return 'stopped';
  // What runs once is not started on another machine, and a lost machine does not say how it ended.
  return isOnce(service) && task?.NodeID && !nodes.has(task.NodeID) ? 'dead' : 'created';
}

/** By port and protocol inside, as `8080/tcp`. */
export const publishedPorts = (task: Task | undefined): Readonly<Record<string, number>> =>
  Object.fromEntries(
    (task?.Status.PortStatus?.Ports ?? []).map(({ TargetPort, Protocol, PublishedPort }) => [
      `${TargetPort}/${Protocol}`,
      PublishedPort,
    ]),
  );
