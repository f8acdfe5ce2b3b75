import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { run } from './command.ts';

/** Fixed order, owner and times: the same files make the same bytes on every machine. */
const reproducible = [
  '--sort=name',
  '--mtime=@0',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--format=gnu',
];

/** Writes a folder's content as a tar file. */
export function writeArchive(folder: string, file: string): void {
  run('tar', [...reproducible, '-C', folder, '-cf', file, '.']);
}

/** A folder's content as a tar stream, for what does not fit in memory. */
export function streamArchive(folder: string): Readable {
  const tar = spawn('tar', [...reproducible, '-C', folder, '-cf', '-', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  tar.once(
    'exit',
    (code) => code && tar.stdout.destroy(new Error(`tar of ${folder} ended with ${code}`)),
  );
  return tar.stdout;
}

/**
 * Text files as a tar stream: a build's context, for example.
 *
 * @example
 * archiveOf({ Dockerfile: 'FROM twofold-test/web:1\nCOPY index.html /www/', 'index.html': 'hello' })
 */
export function archiveOf(files: Record<string, string>): Readable {
  const folder = mkdtempSync(join(tmpdir(), 'tf-files-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return streamArchive(folder).once('close', () =>
    rmSync(folder, { recursive: true, force: true }),
  );
}
