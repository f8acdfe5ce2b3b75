import { Agent } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import Dockerode from 'dockerode';
import { EngineError } from '../errors.ts';

/** The sockets on which Docker usually listens. */
export const DOCKER_SOCKETS = [
  '/var/run/docker.sock',
  join(homedir(), '.docker/run/docker.sock'),
] as const;

/** @throws EngineError `unavailable` when another kind of engine answers at this address. */
export async function connectClient(
  address: string,
  wanted: 'docker' | 'podman' | 'swarm',
): Promise<Dockerode> {
  const client = new Dockerode(clientOptions(address));
  const version = (await client.version()) as unknown as { Components?: { Name?: string }[] };
  const isPodman = version.Components?.some(({ Name = '' }) => /podman/i.test(Name)) ?? false;
  if (isPodman === (wanted === 'podman')) return client;
  throw new EngineError(
    'unavailable',
    `this is ${isPodman ? 'Podman' : 'Docker'}, and the manifest asks for ${wanted}`,
  );
}

/**
 * Without an agent that keeps connections alive, dockerode opens a connection for each call.
 * dockerode also formats each call with its agent for a debug log, even when that log is off. With
 * many connections this took longer than the call itself, so the agent prints only its name.
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
