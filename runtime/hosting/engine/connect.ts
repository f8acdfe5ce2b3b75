import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import Dockerode from 'dockerode';
import type { HostingModel } from '@twofold/schema';
import type { Environment } from '@twofold/runtime/kernel';
import { createDockerEngine } from './docker.ts';
import type { Engine } from './engine.ts';
import { EngineError, toEngineError } from './errors.ts';
import type { LogDialect } from './logs/log-source.ts';
import { createPodmanEngine } from './podman.ts';
import { createSwarmEngine } from './swarm/swarm.ts';

type Wanted = HostingModel['engine'];

/**
 * Finds an engine that answers: the manifest's socket, else `DOCKER_HOST`, else the usual sockets. What answers says
 * itself whether it is Docker or Podman; a manifest that asks for one does not get the other.
 *
 * @throws EngineError `unavailable` when none answers.
 */
export async function connectEngine(wanted: Wanted, env: Environment): Promise<Engine> {
  const tried: string[] = [];
  for (const address of addresses(wanted, env)) {
    const engine = await tryAddress(
      address,
      wanted.kind,
      env.HOSTING_LOGS === 'stream' ? { findLogPlace: null } : {},
    ).catch((error: unknown) => void tried.push(`${address}: ${toEngineError(error).message}`));
    if (engine) return engine;
  }
  throw new EngineError(
    'unavailable',
    tried.length > 0
      ? `No container engine answers (${tried.join('; ')})`
      : 'No container engine was found',
  );
}

/** Where an engine may listen, most wanted first. */
export function addresses(wanted: Wanted, env: Environment): string[] {
  if (wanted.socket) return [wanted.socket];
  if (env.DOCKER_HOST) return [env.DOCKER_HOST];
  const podman = [
    env.XDG_RUNTIME_DIR && join(env.XDG_RUNTIME_DIR, 'podman/podman.sock'),
    '/run/podman/podman.sock',
  ];
  const docker = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')];
  const order =
    wanted.kind === 'podman' ? podman : wanted.kind === 'auto' ? [...docker, ...podman] : docker;
  return order.filter((path): path is string => Boolean(path) && existsSync(path as string));
}

async function tryAddress(
  address: string,
  kind: Wanted['kind'],
  logs: Partial<LogDialect>,
): Promise<Engine> {
  const client = new Dockerode(clientOptions(address));
  const version = (await client.version()) as unknown as { Components?: { Name?: string }[] };
  const isPodman = version.Components?.some((part) => /podman/i.test(part.Name ?? '')) ?? false;
  if (kind !== 'auto' && (kind === 'podman') !== isPodman) {
    throw new EngineError(
      'unavailable',
      `this is ${isPodman ? 'Podman' : 'Docker'}, and the manifest asks for ${kind}`,
    );
  }
  if (kind === 'swarm') return connectSwarm(client);
  return isPodman ? createPodmanEngine(client, logs) : createDockerEngine(client, logs);
}

async function connectSwarm(client: Dockerode): Promise<Engine> {
  const { Swarm } = (await client.info()) as {
    Swarm?: { LocalNodeState?: string; ControlAvailable?: boolean };
  };
  if (Swarm?.LocalNodeState === 'active' && Swarm.ControlAvailable)
    return createSwarmEngine(client);
  throw new EngineError(
    'unavailable',
    'this Docker is no manager of a Swarm: run docker swarm init, or name another in the manifest',
  );
}

/**
 * dockerode opens a connection for each call unless it is given an agent that keeps them. It also writes down each call
 * for a debug log, whether there is one or not, with all that its agent holds: of many connections that took longer than
 * the call.
 */
export function createAgent(): Agent {
  return Object.assign(new Agent({ keepAlive: true, keepAliveMsecs: 10_000 }), {
    [inspect.custom]: () => 'Agent',
  });
}

function clientOptions(address: string): Dockerode.DockerOptions & { agent?: Agent } {
  const agent = createAgent();
  if (!/^[a-z]+:\/\//i.test(address)) return { socketPath: address, agent };
  const url = new URL(address);
  if (url.protocol === 'unix:') return { socketPath: decodeURIComponent(url.pathname), agent };
  if (url.protocol === 'ssh:')
    return { protocol: 'ssh', host: url.hostname, port: url.port || 22, username: url.username };
  return { protocol: 'http', host: url.hostname, port: url.port || 2375, agent };
}
