import { globSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { callEngine, engineJson } from './call-engine.ts';
import { succeeds } from './command.ts';

/** Removes every container of an engine, so that stopping it does not wait for them. */
export async function removeContainers(socketPath: string): Promise<void> {
  const list = await engineJson<{ Id: string }[]>(socketPath, { path: '/containers/json?all=1' });
  const remove = ({ Id }: { Id: string }) =>
    callEngine(socketPath, { method: 'DELETE', path: `/containers/${Id}?force=1&v=1` });
  await Promise.all(list.map(remove));
}

/** Ends what an engine that was killed could not end itself: its helpers, and the first process of each container. */
export function killLeftovers(directory: string): void {
  const files = globSync(pidFiles.map((pattern) => join(directory, pattern)));
  const written = files
    .map((file) => Number(readFileSync(file, 'utf8')))
    .filter((pid) => isContainer(pid) || isNameServer(pid));
  const helpers = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && isHelper(pid, directory));
  for (const pid of [...helpers, ...written]) kill(pid);
}

const pidFiles = [
  'tasks/*/moby/*/init.pid',
  'run/overlay-containers/*/userdata/pidfile',
  'shared/networks/aardvark-dns/aardvark.pid',
];

const helperPrograms = /\/(containerd-shim[\w-]*|conmon|podman|runc|crun)$/;

/** Unmounts what is left below a folder, the innermost first. */
export function unmountBelow(directory: string): void {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const path of mounts.filter((path) => path.startsWith(`${directory}/`)).toReversed())
    succeeds('umount', ['-l', path]);
}

/** A helper of this run names the run's own folder in its command line. */
function isHelper(pid: number, directory: string): boolean {
  const [program = '', ...args] = read(`/proc/${pid}/cmdline`).split('\0');
  return helperPrograms.test(program) && args.some((arg) => arg.includes(`${directory}/`));
}

/** An id in a file may belong to another process by now; only a container's has a first process of its own. */
function isContainer(pid: number): boolean {
  return /^NSpid:\s+\d+\s+1$/m.test(read(`/proc/${pid}/status`));
}

function isNameServer(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).split('\0')[0]?.endsWith('/aardvark-dns') ?? false;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended on its own since it was listed.
  }
}
