import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, engineJson } from '../engines/call-engine.ts';
import { findCommand, needCommand, run, succeeds } from '../engines/command.ts';
import { startDaemon, stopDaemon } from '../engines/daemon.ts';
import { removeDirectory } from '../engines/directory.ts';
import { killLeftovers, removeContainers, unmountBelow } from '../engines/leftovers.ts';

/** One machine of a swarm: a real dockerd in a network namespace of its own. */
export interface SwarmNode {
  readonly socket: string;
  readonly address: string;
  /** Pulls the plug: daemon, containers and all. */
  kill(): Promise<void>;
}

/** Several machines on one bridge, all of them managers. */
export interface SwarmCluster {
  readonly nodes: readonly SwarmNode[];
  /** This machine's address among them. A registry there needs no TLS. */
  readonly gateway: string;
  stop(): Promise<void>;
}

/** Whether this machine can do it at all. */
export const canRunSwarm =
  process.getuid?.() === 0 &&
  ['dockerd', 'containerd', 'ip', 'nsenter', 'iptables'].every(
    (name) => findCommand(name) !== undefined,
  );

/** Starts the machines and joins them. */
export async function startSwarm(count: number): Promise<SwarmCluster> {
  const mark = randomBytes(2).toString('hex');
  const prefix = `10.${randomInt(130, 190)}.${randomInt(0, 255)}`;
  const bridge = `tfw${mark}`;
  run('ip', ['link', 'add', bridge, 'type', 'bridge']);
  run('ip', ['addr', 'add', `${prefix}.1/24`, 'dev', bridge]);
  run('ip', ['link', 'set', bridge, 'up']);
  // Where bridged frames go through the packet filter, those between the machines have to be let through.
  const rule = ['FORWARD', '-i', bridge, '-o', bridge, '-j', 'ACCEPT'];
  succeeds('iptables', ['-I', ...rule]);
  const nodes: (SwarmNode & { end(): Promise<void> })[] = [];
  const stop = async () => {
    for (const node of nodes) await node.end();
    succeeds('iptables', ['-D', ...rule]);
    succeeds('ip', ['link', 'del', bridge]);
  };
  try {
    for (let index = 0; index < count; index += 1)
      nodes.push(
        await startNode({ name: `tfw${mark}${index}`, bridge, address: `${prefix}.${10 + index}` }),
      );
    await join_(nodes);
    return { nodes, gateway: `${prefix}.1`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function join_(nodes: readonly SwarmNode[]): Promise<void> {
  const [first, ...others] = nodes as [SwarmNode, ...SwarmNode[]];
  const listen = { ListenAddr: '0.0.0.0:2377' };
  await engineJson(first.socket, {
    method: 'POST',
    path: '/swarm/init',
    json: { ...listen, AdvertiseAddr: first.address },
  });
  const { JoinTokens } = await engineJson<{ JoinTokens: { Manager: string } }>(first.socket, {
    path: '/swarm',
  });
  for (const { socket, address } of others)
    await engineJson(socket, {
      method: 'POST',
      path: '/swarm/join',
      json: {
        ...listen,
        AdvertiseAddr: address,
        RemoteAddrs: [first.address],
        JoinToken: JoinTokens.Manager,
      },
    });
}

async function startNode({
  name,
  bridge,
  address,
}: {
  name: string;
  bridge: string;
  address: string;
}): Promise<SwarmNode & { end(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'tf-'));
  const socket = join(directory, 'docker.sock');
  run('ip', ['netns', 'add', name]);
  run('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
  run('ip', ['link', 'set', name, 'master', bridge, 'up']);
  const inside = (...args: string[]) => run('ip', ['-n', name, ...args]);
  inside('link', 'set', 'lo', 'up');
  inside('addr', 'add', `${address}/24`, 'dev', 'eth0');
  inside('link', 'set', 'eth0', 'up');
  writeSettings(directory, address.replace(/\d+$/, '0/24'));
  const enter = (command: string, args: string[]) => ({
    command: needCommand('nsenter', 'util-linux'),
    args: [`--net=/run/netns/${name}`, needCommand(command, command), ...args],
  });
  await startDaemon(
    {
      directory,
      name: 'containerd',
      ...enter('containerd', ['-c', join(directory, 'containerd.toml')]),
    },
    () => existsSync(join(directory, 'containerd.sock')),
  );
  await startDaemon(
    {
      directory,
      name: 'dockerd',
      ...enter('dockerd', ['--config-file', join(directory, 'daemon.json')]),
    },
    () => answers(socket),
    60,
  );
  const kill = async () => {
    for (const daemon of ['dockerd', 'containerd']) await stopDaemon(directory, daemon, 'SIGKILL');
    killLeftovers(directory);
  };
  const end = async () => {
    if (await answers(socket)) await removeContainers(socket).catch(() => {});
    await kill();
    unmountBelow(directory);
    succeeds('ip', ['link', 'del', name]);
    succeeds('ip', ['netns', 'del', name]);
    removeDirectory(directory);
  };
  return { socket, address, kill, end };
}

function writeSettings(directory: string, network: string): void {
  mkdirSync(join(directory, 'data'));
  const containerd = [
    'version = 2',
    `root = "${directory}/containerd"`,
    `state = "${directory}/tasks"`,
    'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
    '[grpc]',
    `address = "${directory}/containerd.sock"`,
  ];
  writeFileSync(join(directory, 'containerd.toml'), containerd.join('\n'));
  const docker = {
    hosts: [`unix://${directory}/docker.sock`],
    containerd: `${directory}/containerd.sock`,
    'data-root': `${directory}/data`,
    'exec-root': `${directory}/exec`,
    pidfile: `${directory}/own.pid`,
    bridge: 'none',
    'insecure-registries': [network],
  };
  writeFileSync(join(directory, 'daemon.json'), JSON.stringify(docker));
}
