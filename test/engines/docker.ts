import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers } from './call-engine.ts';
import { needCommand, needRoot } from './command.ts';
import { startDaemon, stopDaemon } from './daemon.ts';
import { killLeftovers, removeContainers, unmountBelow } from './leftovers.ts';
import { addBridge, claimNetwork, releaseNetwork } from './network.ts';

/**
 * Starts a Docker of our own: its own images, its own bridge, its own socket. A Docker that the machine already has is
 * not touched. It lives in the machine's network, so that both a container's address and its published ports answer here.
 */
export async function startDocker(directory: string): Promise<Record<string, string>> {
  needRoot('Docker');
  const [dockerd, containerd] = [
    needCommand('dockerd', 'docker.io'),
    needCommand('containerd', 'containerd'),
  ];
  for (const [name, debianPackage] of [
    ['ip', 'iproute2'],
    ['iptables', 'iptables'],
  ] as const)
    needCommand(name, debianPackage);
  const socket = join(directory, 'docker.sock');
  const network = claimNetwork(directory, 'docker');
  addBridge(network);
  const [first, second] = [join(directory, 'containerd.toml'), join(directory, 'daemon.json')];
  writeFileSync(first, containerdSettings(directory));
  writeFileSync(second, JSON.stringify(dockerSettings(directory, network.bridge, network.prefix)));
  // Docker would start this itself, but then leaves it running when it is killed, and uses the machine's one when there is one.
  await startDaemon(
    { directory, name: 'containerd', command: containerd, args: ['-c', first] },
    () => listens(directory),
  );
  await startDaemon(
    { directory, name: 'dockerd', command: dockerd, args: ['--config-file', second] },
    () => answers(socket),
  );
  return { TEST_DOCKER_SOCKET: socket };
}

/** Stops it, with its containers, bridges and packet rules. */
export async function stopDocker(directory: string): Promise<void> {
  const socket = join(directory, 'docker.sock');
  if (await answers(socket)) await removeContainers(socket);
  await stopDaemon(directory, 'dockerd');
  await stopDaemon(directory, 'containerd');
  killLeftovers(directory);
  releaseNetwork(directory);
  unmountBelow(directory);
}

function containerdSettings(directory: string): string {
  return [
    'version = 2',
    `root = "${directory}/containerd"`,
    `state = "${directory}/tasks"`,
    'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
    '[grpc]',
    `address = "${directory}/containerd.sock"`,
  ].join('\n');
}

function dockerSettings(directory: string, bridge: string, prefix: string) {
  return {
    hosts: [`unix://${directory}/docker.sock`],
    containerd: `${directory}/containerd.sock`,
    'data-root': `${directory}/data`,
    'exec-root': `${directory}/exec`,
    pidfile: `${directory}/docker-own.pid`,
    bridge,
    // 512 networks: a test makes one for each app.
    'default-address-pools': [{ base: `${prefix}.128.0/17`, size: 26 }],
  };
}

function listens(directory: string): boolean {
  return existsSync(join(directory, 'containerd.sock'));
}
