import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Makes a folder for a Unix socket that only this user may enter. As a service of systemd the server
 * has a folder for sockets, `RUNTIME_DIRECTORY`, which the unit of the ingress sees too; its `/tmp`
 * is its own. The names are short, because the path of a Unix socket must be.
 *
 * @example join(socketFolder('ingress'), 'control') // '/tmp/twofold-ingress-Ab3dEf/control'
 */
export function socketFolder(name: string): string {
  const base = process.env['RUNTIME_DIRECTORY']?.split(':')[0] || tmpdir();
  return mkdtempSync(join(base, `twofold-${name}-`));
}
