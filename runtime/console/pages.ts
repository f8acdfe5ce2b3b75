import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Kernel } from '@twofold/runtime/kernel';
import type { Middleware } from 'koa';
import type { ConsoleModel } from '@twofold/schema';
import { createOwnModules, type OwnModule } from './own-modules.ts';
import { HEADERS } from './policy.ts';

const A_YEAR = 'public, max-age=31536000, immutable';

/** Serves the document at every path below `path`, and its files below `path/assets/`. */
export function createPages(model: ConsoleModel, kernel: Kernel): Middleware {
  const { path } = model;
  const { log } = kernel;
  let read: ReturnType<typeof readAssets> | undefined;
  const assets = () => (read ??= readAssets(path, kernel.project.api.path));
  const own = createOwnModules(model, kernel, async () => apiAsset([...(await assets()).keys()]));
  return async function pages(ctx) {
    // Middleware of the project may have set others.
    ctx.set(HEADERS);
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      ctx.status = 405;
      ctx.body = { error: 'Method not allowed' };
      return;
    }
    const files = await assets().catch((error: unknown) => {
      read = undefined;
      log.error({ error: String(error) }, 'the files of the console cannot be read');
      return null;
    });
    if (!files) return unavailable(ctx);
    const name = ctx.path.slice(path.length + 1);
    if (name.startsWith('assets/')) return send(ctx, files.get(name), A_YEAR);
    if (name.startsWith('modules/'))
      return sendModule(ctx, await own.read(name.slice('modules/'.length)));
    return send(ctx, files.get('index.html'), 'no-cache');
  };
}

/** Ways to pack a file, the smallest first. */
const PACKED = ['br', 'gzip'] as const;

/** The file that pages of the project's own import as `@twofold/console`. */
const apiAsset = (names: readonly string[]): string =>
  names.find((name) => name.startsWith('assets/page-api-'))!;

function sendModule(ctx: Parameters<Middleware>[0], module: OwnModule | null): void {
  if (!module) return send(ctx, undefined, '');
  ctx.set('Cache-Control', module.kept ? A_YEAR : 'no-cache');
  ctx.status = 200;
  ctx.type = module.type;
  ctx.body = module.text;
}

function unavailable(ctx: Parameters<Middleware>[0]): void {
  ctx.status = 503;
  ctx.body = { error: 'The console is not complete: run npm install @twofold/console' };
}

function send(ctx: Parameters<Middleware>[0], asset: Asset | undefined, cache: string): void {
  if (!asset) {
    ctx.status = 404;
    ctx.body = { error: 'Not found' };
    return;
  }
  ctx.set({ 'Cache-Control': cache, ETag: asset.tag, Vary: 'Accept-Encoding' });
  ctx.status = 200;
  if (ctx.fresh) return void (ctx.status = 304);
  // Browsers name gzip first, and of those named equally the first would be taken.
  const encoding = PACKED.find((each) => ctx.acceptsEncodings(each, 'identity') === each);
  const packed = encoding && asset[encoding];
  if (packed) ctx.set('Content-Encoding', encoding);
  ctx.type = asset.type;
  ctx.body = packed ?? asset.bytes;
}

/** A file in the form in which it is sent. */
interface Asset {
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
};

const packBrotli = promisify(brotliCompress);
const packGzip = promisify(gzip);

/**
 * The files of the application by name, `index.html` and `assets/<name>-<hash>`. A checkout has only
 * their sources, which are built on first use.
 */
async function readAssets(path: string, graphql: string): Promise<ReadonlyMap<string, Asset>> {
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
  return {
    type,
    tag,
    bytes,
    br: await packBrotli(bytes),
    gzip: await packGzip(bytes),
  };
}
