import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPackages } from '../generator/packages/pack.ts';
import { findInContents } from './checks/contents.ts';
import { findInTypes } from './checks/types.ts';
import { findWithPublint } from './checks/with-publint.ts';
import { readPack } from './read-pack.ts';
import { tryInstall } from './try-install.ts';

/**
 * Builds the packs from the sources, checks each, installs them into an empty folder and prints
 * what would be published.
 *
 * @param out a folder where the packs are written when no problem was found.
 * @returns the exit code: 1 when there is any problem.
 */
export async function dryRun(out?: string): Promise<number> {
  const packs = (await buildPackages()).map(readPack);
  const findings: string[] = [];
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
  findings.push(...(await tryInstall(packs, print)));
  for (const finding of findings) print(`found: ${finding}`);
  if (findings.length > 0) return 1;
  if (out !== undefined) {
    await mkdir(out, { recursive: true });
    for (const { file, bytes } of packs) await writeFile(join(out, file), bytes);
  }
  print('nothing found; nothing was published');
  return 0;
}

const size = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;

const print = (line: string) => void process.stdout.write(`${line}\n`);
