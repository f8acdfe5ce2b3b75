import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** A file in the form in which it is sent. */
export interface Asset {
  readonly type: string;
  readonly tag: string;
  readonly bytes: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const packBrotli = promisify(brotliCompress);
const packGzip = promisify(gzip);

/**
 * The files of the application by name, `index.html` and `assets/<name>-<hash>`. A checkout has only
 * their sources, which are built on first use.
 */
export async function readAssets(
  path: string,
  graphql: string,
): Promise<ReadonlyMap<string, Asset>> {
  const dist = join(import.meta.dirname, 'dist');
  const files = existsSync(dist) ? await readFiles(dist) : await buildFiles();
  const entries = [...files].map(async ([name, bytes]) => {
    const placed = name === 'index.html' ? placedAt(bytes, path, graphql) : bytes;
    return [name, await assetOf(name, placed)] as const;
  });
  return new Map(await Promise.all(entries));
}

async function readFiles(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }) => {
        const full = join(parentPath, name);
        const key = full.slice(folder.length + 1).replaceAll('\\', '/');
        return [key, await readFile(full)] as const;
      }),
    ),
  );
}

/** The module is not in the package. Its name is in a variable, so that no type refers to it. */
async function buildFiles(): Promise<ReadonlyMap<string, Buffer>> {
  const module = './build.ts';
  const { buildAssets } = (await import(module)) as typeof import('./build.ts');
  return buildAssets();
}

/**
 * The built files are the same for every path. Only the document contains the console's path and
 * that of GraphQL.
 */
const placedAt = (bytes: Buffer, path: string, graphql: string): Buffer =>
  Buffer.from(
    bytes
      .toString()
      .replaceAll('%PATH%', path === '/' ? '' : path)
      .replaceAll('%GRAPHQL%', graphql),
  );

async function assetOf(name: string, bytes: Buffer): Promise<Asset> {
  const type = TYPES[extname(name)] ?? 'application/octet-stream';
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  // WOFF2 is packed already.
  if (type === TYPES['.woff2']) return { type, tag, bytes };
  return {
    type,
    tag,
    bytes,
    br: await packBrotli(bytes),
    gzip: await packGzip(bytes),
  };
}
