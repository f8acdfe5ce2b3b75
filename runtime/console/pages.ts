import {
  type BuiltFile,
  type BuiltFiles,
  readBuiltFiles,
  sendBuiltFile,
} from '@twofold/runtime/http';
import type { Kernel } from '@twofold/runtime/kernel';
import type { Context, Middleware } from 'koa';
import type { ConsoleModel } from '@twofold/schema';
import { createOwnModules, type OwnModule } from './own-modules.ts';
import { HEADERS } from './policy.ts';

const A_YEAR = 'public, max-age=31536000, immutable';

/** Serves the document at every path below `path`, and its files below `path/assets/`. */
export function createPages(model: ConsoleModel, kernel: Kernel): Middleware {
  const { path } = model;
  const { log } = kernel;
  let read: Promise<BuiltFiles> | undefined;
  const assets = () => (read ??= readFiles(path, kernel.project.api.path));
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
    if (name.startsWith('assets/')) return send(ctx, files.get(name));
    if (name.startsWith('modules/'))
      return sendModule(ctx, await own.read(name.slice('modules/'.length)));
    return send(ctx, files.get('index.html'));
  };
}

/** The file that pages of the project's own import as `@twofold/console`. */
const apiAsset = (names: readonly string[]): string =>
  names.find((name) => name.startsWith('assets/page-api-')) ?? '';

function sendModule(ctx: Context, module: OwnModule | null): Promise<void> | void {
  if (!module) return send(ctx, undefined);
  ctx.set('Cache-Control', module.kept ? A_YEAR : 'no-cache');
  ctx.status = 200;
  ctx.type = module.type;
  ctx.body = module.text;
}

function unavailable(ctx: Context): void {
  ctx.status = 503;
  ctx.body = { error: 'The console is not complete: run npm install @twofold/console' };
}

function send(ctx: Context, file: BuiltFile | undefined): Promise<void> | void {
  if (file) return sendBuiltFile(ctx, file);
  ctx.status = 404;
  ctx.body = { error: 'Not found' };
}

/** Reads the files of the application. The module that builds them is not in the package. */
const readFiles = (path: string, graphql: string): Promise<BuiltFiles> =>
  readBuiltFiles({
    dist: new URL('./dist/', import.meta.url),
    build: async () => {
      // A name in a variable is followed by no type.
      const module = './build.ts';
      return ((await import(module)) as typeof import('./build.ts')).buildConsole();
    },
    words: { PATH: path === '/' ? '' : path, GRAPHQL: graphql },
  });
