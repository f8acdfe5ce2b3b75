import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers } from './call-engine.ts';
import { findCommand, needCommand, needRoot } from './command.ts';
import { startDaemon, stopDaemon } from './daemon.ts';
import { killLeftovers, removeContainers, unmountBelow } from './leftovers.ts';
import { claimNetwork, releaseNetwork } from './network.ts';
import type { Network } from './network.ts';

/** Starts a Podman service of our own, beside whatever Podman the machine has: its own images, networks and socket. */
export async function startPodman(directory: string): Promise<Record<string, string>> {
  needRoot('Podman');
  const podman = needCommand('podman', 'podman');
  for (const [name, debianPackage] of Object.entries(needed))
    needCommand(name, debianPackage, helperFolders);
  const socket = join(directory, 'podman.sock');
  writeSettings(directory, claimNetwork(directory, 'podman'));
  const args = [...ownView(directory), podman, 'system', 'service', '--time=0', `unix://${socket}`];
  await startDaemon(
    { directory, name: 'podman', command: 'unshare', args, env: environment(directory) },
    () => answers(socket),
  );
  return { TEST_PODMAN_SOCKET: socket };
}

/** Stops it, with its containers, bridges and packet rules. */
export async function stopPodman(directory: string): Promise<void> {
  const socket = join(directory, 'podman.sock');
  if (await answers(socket)) await removeContainers(socket);
  await stopDaemon(directory, 'podman');
  killLeftovers(directory);
  releaseNetwork(directory);
  unmountBelow(directory);
}

const helperFolders = ['/usr/lib/podman', '/usr/libexec/podman'];

const needed = {
  ip: 'iproute2',
  iptables: 'iptables',
  unshare: 'util-linux',
  conmon: 'conmon',
  netavark: 'netavark',
  'aardvark-dns': 'aardvark-dns',
};

/**
 * Every Podman of a machine keeps its name servers' and its addresses' tables in `/run/containers`, by network name.
 * A view of its own keeps ours apart, and takes its mounts away when the last process of it ends.
 */
function ownView(directory: string): string[] {
  const own = join(directory, 'shared');
  for (const path of [own, '/run/containers']) mkdirSync(path, { recursive: true });
  return [
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    'mount --bind "$0" /run/containers && exec "$@"',
    own,
  ];
}

function environment(directory: string): NodeJS.ProcessEnv {
  return {
    CONTAINERS_CONF: join(directory, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(directory, 'storage.conf'),
    CONTAINERS_REGISTRIES_CONF: join(directory, 'registries.conf'),
  };
}

function writeSettings(directory: string, network: Network): void {
  mkdirSync(join(directory, 'networks'));
  const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
  write('containers.conf', settings(directory, network.prefix));
  write(
    'storage.conf',
    `[storage]\ndriver = "overlay"\ngraphroot = "${directory}/graph"\nrunroot = "${directory}/run"\n`,
  );
  write('registries.conf', 'unqualified-search-registries = ["docker.io"]\n');
  write('networks/podman.json', JSON.stringify(defaultNetwork(network)));
}

/** No systemd and no journal are needed. runc, because crun refuses machines that have both versions of cgroups. */
function settings(directory: string, prefix: string): string {
  const runtime = findCommand('runc') ? 'runc' : 'crun';
  return `
[containers]
log_driver = "k8s-file"
default_ulimits = []
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "${runtime}"
tmp_dir = "${directory}/tmp"
static_dir = "${directory}/static"
volume_path = "${directory}/volumes"
[network]
network_backend = "netavark"
network_config_dir = "${directory}/networks"
default_subnet_pools = [{"base" = "${prefix}.128.0/17", "size" = 26}]
`;
}

/** The network of containers that name none. Podman's own is always `podman0`, which another Podman may have made. */
function defaultNetwork({ prefix, bridge }: Network) {
  return {
    name: 'podman',
    id: '2f259bab93aaaaa2542ba43ef33eb990d0999ee1b9924b557b7be53c0b7a1bb9',
    driver: 'bridge',
    network_interface: bridge,
    created: '2020-01-01T00:00:00Z',
    subnets: [{ subnet: `${prefix}.0.0/24`, gateway: `${prefix}.0.1` }],
    ipv6_enabled: false,
    internal: false,
    dns_enabled: false,
    ipam_options: { driver: 'host-local' },
  };
}
