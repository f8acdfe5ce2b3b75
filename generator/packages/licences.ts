import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TarEntry } from './tarball.ts';

const MODULES = '/node_modules/';

/** The licence of every package that one of the modules belongs to, as `licences/<package>.txt`. */
export async function licencesOf(modules: readonly string[]): Promise<TarEntry[]> {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined));
  return Promise.all(
    [...folders].map(async (folder) => ({
      path: `licences/${nameOf(folder)}.txt`,
      bytes: await licenceIn(folder),
    })),
  );
}

/** `/…/node_modules/@koa/router` */
function packageFolder(module: string): string | undefined {
  const path = module.replaceAll('\\', '/');
  const start = path.lastIndexOf(MODULES);
  if (start < 0 || path.startsWith('\0')) return undefined;
  const parts = path.slice(start + MODULES.length).split('/');
  return (
    path.slice(0, start + MODULES.length) +
    parts.slice(0, parts[0]?.startsWith('@') ? 2 : 1).join('/')
  );
}

const nameOf = (folder: string) => folder.slice(folder.lastIndexOf(MODULES) + MODULES.length);

/** Its file, or what its `package.json` says where it has none. */
async function licenceIn(folder: string): Promise<Buffer> {
  const file = (await readdir(folder)).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name));
  if (file) return readFile(join(folder, file));
  const { name, license, author } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  ) as Readonly<Record<string, unknown>>;
  return Buffer.from(`${JSON.stringify({ name, license, author }, null, 2)}\n`);
}
