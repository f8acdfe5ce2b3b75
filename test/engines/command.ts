import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where system services keep their programs; a shell of a plain account often leaves these out. */
const extraFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * The full path of a program.
 *
 * @example
 * findCommand('dockerd') // '/usr/sbin/dockerd', or undefined
 */
export function findCommand(name: string, folders: readonly string[] = []): string | undefined {
  const path = (process.env.PATH ?? '').split(delimiter);
  return [...folders, ...path, ...extraFolders].map((folder) => join(folder, name)).find(isProgram);
}

/** The full path of a program, or an error that names the Debian package that has it. */
export function needCommand(
  name: string,
  debianPackage: string,
  folders: readonly string[] = [],
): string {
  const found = findCommand(name, folders);
  if (!found) throw new Error(`${name} is not installed; run: apt-get install ${debianPackage}`);
  return found;
}

/** An error when this is not the administrator: an engine makes networks and mounts. */
export function needRoot(engine: string): void {
  if (process.getuid?.() !== 0)
    throw new Error(
      `${engine} of our own needs root; start it as root, or export the socket of one that you have`,
    );
}

/** Runs a program to its end and returns what it printed; its error text becomes the error's message. */
export function run(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; uid?: number; gid?: number } = {},
): string {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    }).trim();
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() || String(error);
    throw new Error(`${command} ${args.join(' ')}: ${said.replaceAll('\n', ' | ')}`, {
      cause: error,
    });
  }
}

/** True when a program ends with 0. */
export function succeeds(command: string, args: readonly string[]): boolean {
  try {
    run(command, args);
    return true;
  } catch {
    return false;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
