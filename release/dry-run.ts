import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildPackages, type PackedFile } from '../generator/packages/pack.ts';
import { findInContents } from './checks/contents.ts';
import { findInTypes } from './checks/types.ts';
import { findWithPublint } from './checks/with-publint.ts';
import { samePacks } from './keep.ts';
import { readPack } from './read-pack.ts';
import { tryInstall } from './try-install.ts';

export interface DryRun {
  /** A folder where the packs are written when no problem was found. */
  readonly out?: string | undefined;
  /** Also installs the packs on the newest Node. */
  readonly newestNode: boolean;
}

/**
 * Builds the packs from the sources, checks each, installs them into an empty folder and prints
 * what would be published.
 *
 * @returns the exit code: 1 when there is any problem.
 */
export async function dryRun({ out, newestNode }: DryRun): Promise<number> {
  const built = await buildPackages();
  const packs = built.map(readPack);
  const findings: string[] = [];
  const unready = await unreadyParts(built);
  if (out !== undefined) findings.push(...unready);
  else unready.forEach((each) => print(`not yet to be published: ${each}`));
  for (const pack of packs) {
    findings.push(...findInContents(pack));
    findings.push(...(await findWithPublint(pack)), ...(await findInTypes(pack)));
  }
  for (const { manifest, files, bytes } of packs) {
    const unpacked = files.reduce((sum, file) => sum + file.bytes.length, 0);
    const { name, version } = manifest;
    print(
      `${name}@${version}: ${files.length} files, ${size(bytes.length)}, unpacked ${size(unpacked)}`,
    );
  }
  findings.push(...(await tryInstall(packs, { newestNode, print })));
  for (const finding of findings) print(`found: ${finding}`);
  if (findings.length > 0) return 1;
  if (out !== undefined) {
    await mkdir(out, { recursive: true });
    for (const { file, bytes } of packs) await writeFile(join(out, file), bytes);
  }
  print('nothing found; nothing was published');
  return 0;
}

/** What keeps a clone from being published, and is no mistake before: other files than its commit. */
async function unreadyParts(built: readonly PackedFile[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', ['status', '--porcelain'], { cwd: repo });
  const uncommitted = stdout.split('\n').filter((line) => line !== '').length;
  return [
    ...(uncommitted > 0 ? [`${uncommitted} files are not committed`] : []),
    ...((await samePacks(built))
      ? []
      : ['test/releases has other packs of this version: npm run release -- --keep, then commit']),
  ];
}

const repo = fileURLToPath(new URL('..', import.meta.url));

const size = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;

const print = (line: string) => void process.stdout.write(`${line}\n`);
