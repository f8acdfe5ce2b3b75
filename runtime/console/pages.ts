import type { Kernel } from '@twofold/runtime/kernel';
import type { Middleware } from 'koa';
import type { ConsoleModel } from '@twofold/schema';
import { type Asset, readAssets } from './assets.ts';
import { createOwnModules, type OwnModule } from './own-modules.ts';

/**
 * No inline code, nothing from other servers, no frames, and no text that becomes markup (Trusted
 * Types).
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=()',
} as const;

const A_YEAR = 'public, max-age=31536000, immutable';

/**
 * Sets the headers of every answer of the pages, also of those that are refused on the way there.
 */
export function createPolicy(path: string): Middleware {
  return function policy(ctx, next) {
    // Koa parses the address each time `ctx.path` is read.
    if (ctx.req.url?.startsWith(path) && isBelow(path, ctx.path)) ctx.set(HEADERS);
    return next();
  };
}

const isBelow = (path: string, asked: string) => asked === path || asked.startsWith(`${path}/`);

/** Serves the document at every path below `path`, and its files below `path/assets/`. */
export function createPages(model: ConsoleModel, kernel: Kernel): Middleware {
  const { path } = model;
  const { log } = kernel;
  // Read on the first request, because most servers never get one.
  let read: ReturnType<typeof readAssets> | undefined;
  const assets = () => (read ??= readAssets(path, kernel.project.api.path));
  const own = createOwnModules(model, kernel, async () => apiAsset([...(await assets()).keys()]));
  return function pages(ctx, next) {
    // Koa parses the address each time `ctx.path` is read.
    if (!ctx.req.url?.includes(path) || !isBelow(path, ctx.path)) return next();
    return answer(ctx);
  };

  async function answer(ctx: Parameters<Middleware>[0]): Promise<void> {
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
  }
}

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
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const packed = encoding === 'br' || encoding === 'gzip' ? asset[encoding] : undefined;
  if (packed) ctx.set('Content-Encoding', encoding as string);
  ctx.type = asset.type;
  ctx.body = packed ?? asset.bytes;
}
