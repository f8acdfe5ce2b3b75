import { createHash } from 'node:crypto';
import type { ContainerSpec } from '../../engine.ts';
import type { ConfigReference } from './configs.ts';

/** A service of Docker Swarm, with the fields that we read and write (Engine API 1.41). */
export interface ServiceSpec {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly TaskTemplate: Readonly<Record<string, unknown>>;
  readonly Mode: { readonly Replicated: { readonly Replicas: number } };
  readonly EndpointSpec: Readonly<Record<string, unknown>>;
}

const NANOSECONDS = 1e9;
const GRACE = 10;
const LONGEST_NAME = 63;

/** The name of a container's service. A name that Swarm does not take is cut, and stays unique. */
export function serviceName(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${name.slice(0, LONGEST_NAME - mark.length - 1).replace(/-+$/, '')}-${mark}`;
}

/**
 * Describes one replica of an app as a service with one task. Swarm chooses the machine, and
 * another one when that machine is lost. The task publishes a port of its machine (host mode,
 * chosen by the engine), and our ingress sends requests directly to it, so neither IPVS nor the
 * routing mesh is needed. An app with a volume, with an image that only this machine has, or with a health
 * command has to stay on this machine.
 */
export function toService(
  spec: ContainerSpec,
  { nodeId, configs }: { nodeId: string; configs: readonly ConfigReference[] },
): ServiceSpec {
  const isLocal =
    spec.volumes.length > 0 || spec.stays === true || spec.reference.startsWith('localhost/');
  return {
    Name: serviceName(spec.name),
    Labels: spec.labels,
    TaskTemplate: {
      ContainerSpec: {
        Image: spec.reference || spec.image,
        Labels: spec.labels,
        Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
        ...(spec.command && { Args: spec.command }),
        ...(spec.entrypoint && { Command: spec.entrypoint }),
        ...(spec.user && { User: spec.user }),
        ...(spec.workingDir && { Dir: spec.workingDir }),
        Mounts: spec.volumes.map(({ volume, path }) => ({
          Type: 'volume',
          Source: volume,
          Target: path,
        })),
        Configs: configs,
        StopGracePeriod: (spec.grace ?? GRACE) * NANOSECONDS,
        CapabilityDrop: ['CAP_NET_RAW', 'CAP_MKNOD', 'CAP_AUDIT_WRITE'],
        Healthcheck: { Test: ['NONE'] },
        Init: spec.init !== false,
      },
      Resources: {
        Limits: {
          MemoryBytes: spec.memory,
          NanoCPUs: Math.round(spec.cpus * NANOSECONDS),
          Pids: spec.pids,
        },
      },
      // A task of a lost machine starts elsewhere only with a restart policy.
      RestartPolicy: { Condition: spec.once ? 'none' : 'any', Delay: NANOSECONDS / 2 },
      Placement: { Constraints: isLocal ? [`node.id==${nodeId}`] : [] },
      Networks: [spec.network, ...(spec.networks ?? [])].map((network) => ({
        Target: network,
        Aliases: spec.aliases,
      })),
      LogDriver: { Name: 'json-file', Options: { 'max-size': '10m', 'max-file': '3' } },
      ForceUpdate: 0,
    },
    Mode: { Replicated: { Replicas: 0 } },
    EndpointSpec: {
      Mode: 'dnsrr',
      Ports: portsOf(spec).map(([port, protocol]) => ({
        Protocol: protocol,
        TargetPort: Number(port),
        PublishMode: 'host',
      })),
    },
  };
}

/** The port for HTTP and the others, each once, as `['5432', 'tcp']`. */
function portsOf({ port, streams = [] }: ContainerSpec): string[][] {
  const main = port === null ? [] : [`${port}/tcp`];
  return [...new Set([...main, ...streams])].map((key) => key.split('/'));
}
