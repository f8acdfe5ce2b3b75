import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable that says where the running services keep their files. */
export const directoryVariable = 'TEST_ENGINES_DIR';

/** The folder of the services that this shell started, or undefined. */
export function currentDirectory(): string | undefined {
  const directory = process.env[directoryVariable];
  return directory && existsSync(directory) ? directory : undefined;
}

/** A fresh folder, so that what a killed run left behind is never in the way. Its name is short: socket paths may have 107 bytes. */
export function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tf-'));
  // The database's account has to reach its own folder below.
  chmodSync(directory, 0o711);
  return directory;
}

/** The folder of one service, made when missing. */
export function serviceDirectory(directory: string, service: string): string {
  const path = join(directory, service);
  mkdirSync(path, { recursive: true, mode: 0o711 });
  return path;
}

/** Keeps what a service exports, so that a second start repeats it instead of starting the service again. */
export function saveExports(directory: string, exports: Record<string, string>): void {
  writeFileSync(join(directory, 'exports.json'), JSON.stringify(exports));
}

/** What a running service exports. */
export function loadExports(directory: string): Record<string, string> {
  const file = join(directory, 'exports.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
}

/** Deletes a folder with all that is in it. */
export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
