import type { Middleware } from 'koa';
import type { Asset } from './explorer/page.ts';

/** The page may load files only from its own server, and no other page may frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The page that a browser gets at the endpoint: an editor with completion, variables and headers,
 * the schema's documentation, and a history. It is served from this package and contacts no other
 * host.
 *
 * @param path of the endpoint; the files of the page are below it.
 */
export function createExplorer(path: string, name: string): Middleware {
  let made: Promise<ReadonlyMap<string, Asset>> | undefined;
  // Loaded on first use, because most servers never get a request for the page.
  const assets = () =>
    (made ??= import('./explorer/page.ts').then(({ createAssets }) => createAssets(path, name)));
  return async function explorer(ctx, next) {
    const found = ctx.method === 'GET' ? (await assets()).get(ctx.path) : undefined;
    if (!found) return next();
    ctx.set({
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
      ETag: found.tag,
      Vary: 'Accept',
    });
    ctx.status = 200;
    if (ctx.fresh) return void (ctx.status = 304);
    ctx.type = `${found.type}; charset=utf-8`;
    ctx.body = found.text;
  };
}
