import type { ContainerSpec } from '../../engine.ts';

/** A service of Docker Swarm, as far as we read and write one (Engine API 1.41). */
export interface ServiceSpec {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly TaskTemplate: Readonly<Record<string, unknown>>;
  readonly Mode: { readonly Replicated: { readonly Replicas: number } };
  readonly EndpointSpec: Readonly<Record<string, unknown>>;
}

const NANOSECONDS = 1e9;
const GRACE = 10;

/**
 * One replica of an app as a service of one task: Swarm chooses the machine, and another one when
 * that is lost. It answers on a port of its machine (host mode, chosen by the engine): neither IPVS
 * nor the routing mesh is needed, and our ingress sends requests to the task itself. What only this
 * machine has, a volume or an image that was built here, keeps it here.
 */
export function toService(spec: ContainerSpec, nodeId: string): ServiceSpec {
  const isLocal = spec.volumes.length > 0 || spec.reference.startsWith('localhost/');
  return {
    Name: spec.name.slice(0, 63).replace(/-+$/, ''),
    Labels: spec.labels,
    TaskTemplate: {
      ContainerSpec: {
        Image: spec.reference || spec.image,
        Labels: spec.labels,
        Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
        ...(spec.command && { Args: spec.command }),
        Mounts: spec.volumes.map(({ volume, path }) => ({
          Type: 'volume',
          Source: volume,
          Target: path,
        })),
        StopGracePeriod: GRACE * NANOSECONDS,
        CapabilityDrop: ['CAP_NET_RAW', 'CAP_MKNOD', 'CAP_AUDIT_WRITE'],
        Healthcheck: { Test: ['NONE'] },
        Init: true,
      },
      Resources: {
        Limits: {
          MemoryBytes: spec.memory,
          NanoCPUs: Math.round(spec.cpus * NANOSECONDS),
          Pids: spec.pids,
        },
      },
      // A task of a lost machine comes back elsewhere only under a policy that restarts.
      RestartPolicy: { Condition: 'any', Delay: NANOSECONDS / 2 },
      Placement: { Constraints: isLocal ? [`node.id==${nodeId}`] : [] },
      Networks: [{ Target: spec.network, Aliases: spec.aliases }],
      LogDriver: { Name: 'json-file', Options: { 'max-size': '10m', 'max-file': '3' } },
      ForceUpdate: 0,
    },
    Mode: { Replicated: { Replicas: 0 } },
    EndpointSpec: {
      Mode: 'dnsrr',
      Ports: [{ Protocol: 'tcp', TargetPort: spec.port, PublishMode: 'host' }],
    },
  };
}
