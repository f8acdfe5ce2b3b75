import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { answers } from '../engines/call-engine.ts';
import { needCommand } from '../engines/command.ts';
import { startDaemon, stopDaemon } from '../engines/daemon.ts';
import { createDirectory, removeDirectory, serviceDirectory } from '../engines/directory.ts';
import { startDocker, stopDocker } from '../engines/docker.ts';
import { withPacketRules } from '../engines/packet-rules.ts';
import { startPodman, stopPodman } from '../engines/podman.ts';

/** An engine that one test has for itself, to kill it. */
export interface KillableEngine {
  readonly socket: string;
  /** SIGKILL, at once: what it ran goes on without it. */
  kill(): void;
  /** Starts it on what it left. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

/** Starts a Docker or a Podman with images, networks and a socket of its own. */
export async function startKillableEngine(kind: 'docker' | 'podman'): Promise<KillableEngine> {
  const root = createDirectory();
  const directory = serviceDirectory(root, kind);
  return kind === 'docker' ? killableDocker(root, directory) : killablePodman(root, directory);
}

async function killableDocker(root: string, directory: string): Promise<KillableEngine> {
  await withPacketRules(() => startDocker(directory));
  const socket = join(directory, 'docker.sock');
  return {
    socket,
    kill: () => killNow(directory, 'dockerd'),
    async restart() {
      await stopDaemon(directory, 'dockerd', 'SIGKILL');
      // It may take a container's grace period for each that it finds running.
      const args = ['--config-file', join(directory, 'daemon.json')];
      const command = needCommand('dockerd', 'docker.io');
      await withPacketRules(() =>
        startDaemon({ directory, name: 'dockerd', command, args }, () => answers(socket), 60),
      );
    },
    async end() {
      await stopDocker(directory);
      removeDirectory(root);
    },
  };
}

/**
 * A Podman of the tests has a view of the file system of its own, where the mounts of its containers are. On a machine
 * they outlive the service: here a process that sleeps in the view keeps them.
 */
async function killablePodman(root: string, directory: string): Promise<KillableEngine> {
  await startPodman(directory);
  const socket = join(directory, 'podman.sock');
  const nsenter = needCommand('nsenter', 'util-linux');
  const view = spawn(
    nsenter,
    [`--mount=/proc/${pidOf(directory, 'podman')}/ns/mnt`, 'sleep', '600'],
    { stdio: 'ignore' },
  );
  await inside(view, pidOf(directory, 'podman'));
  const env = {
    CONTAINERS_CONF: join(directory, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(directory, 'storage.conf'),
    CONTAINERS_REGISTRIES_CONF: join(directory, 'registries.conf'),
  };
  return {
    socket,
    kill: () => killNow(directory, 'podman'),
    async restart() {
      await stopDaemon(directory, 'podman', 'SIGKILL');
      rmSync(socket, { force: true });
      const args = [
        `--mount=/proc/${view.pid}/ns/mnt`,
        needCommand('podman', 'podman'),
        'system',
        'service',
        '--time=0',
        `unix://${socket}`,
      ];
      await startDaemon({ directory, name: 'podman', command: nsenter, args, env }, () =>
        answers(socket),
      );
    },
    async end() {
      await stopPodman(directory);
      const ended = once(view, 'exit');
      if (view.kill('SIGKILL')) await ended;
      removeDirectory(root);
    },
  };
}

const pidOf = (directory: string, name: string) =>
  Number(readFileSync(join(directory, `${name}.pid`), 'utf8').split(' ')[0]);

function killNow(directory: string, name: string): void {
  process.kill(pidOf(directory, name), 'SIGKILL');
}

/** Until a process has come into the view of another. */
async function inside(child: ChildProcess, pid: number): Promise<void> {
  const viewOf = (id: number | undefined) =>
    existsSync(`/proc/${id}/mountinfo`) ? readFileSync(`/proc/${id}/mountinfo`, 'utf8') : '';
  for (const wanted = viewOf(pid); viewOf(child.pid) !== wanted;)
    await new Promise((resolve) => setTimeout(resolve, 10));
}
