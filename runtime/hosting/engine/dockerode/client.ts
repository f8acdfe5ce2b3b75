import { Agent } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import Dockerode from 'dockerode';
import type { Once } from '../drivers/driver.ts';
import { EngineError } from '../errors.ts';
import type { RegistryLogin } from '../images.ts';

/** The sockets on which Docker usually listens. */
export const DOCKER_SOCKETS = [
  '/var/run/docker.sock',
  join(homedir(), '.docker/run/docker.sock'),
] as const;

/** What Docker's API says of the engine at an address. None of it changes while that engine runs. */
export interface FoundEngine {
  readonly client: Dockerode;
  readonly version: Dockerode.DockerVersion;
  readonly info: EngineFacts;
}

interface EngineFacts {
  readonly OperatingSystem?: string;
  readonly NCPU: number;
  readonly MemTotal: number;
  readonly DockerRootDir?: string;
  readonly SecurityOptions?: readonly string[] | null;
  readonly Swarm?: { readonly LocalNodeState?: string; readonly ControlAvailable?: boolean };
}

/**
 * Asks once for all drivers: Podman starts processes for both answers. They take 252 ms, and
 * seconds each on a busy machine.
 */
export const findEngine = (
  address: string,
  once: Once = (_name, work) => work(),
): Promise<FoundEngine> =>
  once('docker', async () => {
    const client = new Dockerode(clientOptions(address));
    const [version, info] = await Promise.all([client.version(), client.info()]);
    return { client, version, info };
  });

/** @throws EngineError `unavailable` when it is an engine of another kind. */
export function assertKind({ version }: FoundEngine, wanted: 'docker' | 'podman' | 'swarm'): void {
  const { Components = [] } = version as { Components?: readonly { readonly Name?: string }[] };
  const isPodman = Components.some(({ Name = '' }) => /podman/i.test(Name));
  if (isPodman === (wanted === 'podman')) return;
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

/** A login in the form of Docker's API, which Podman's API shares. */
export interface RegistryAuth {
  readonly username: string;
  readonly password: string;
  readonly identitytoken?: string;
  readonly serveraddress: string;
}

/** Docker's own registry has an address of its own in the API. */
const HUB_ADDRESS = 'https://index.docker.io/v1/';

export function registryAuth(login: RegistryLogin): RegistryAuth {
  const { host, username, password, identityToken } = login;
  return {
    username,
    password,
    ...(identityToken !== undefined && { identitytoken: identityToken }),
    serveraddress: host === 'docker.io' ? HUB_ADDRESS : host,
  };
}
