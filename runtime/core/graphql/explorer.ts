import type { Middleware } from 'koa';
import { type BuiltFiles, readBuiltFiles, sendBuiltFile } from '../http/built-files.ts';

/** The page may load files only from its own server, and no other page may frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/**
 * The page that a browser gets at the endpoint: the console's page of GraphQL, without the console.
 * It is served from this package and contacts no other host.
 *
 * @param path of the endpoint; the files of the page are below it.
 */
export function createExplorer(path: string, name: string): Middleware {
  let read: Promise<BuiltFiles> | undefined;
  return async function explorer(ctx, next) {
    if (ctx.method !== 'GET') return next();
    const asked = ctx.path === path ? 'index.html' : ctx.path.slice(path.length + 1);
    const file = (await (read ??= readExplorer(path, name))).get(asked);
    if (!file) return next();
    ctx.set({
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      Vary: 'Accept',
    });
    await sendBuiltFile(ctx, file);
  };
}

const readExplorer = (path: string, name: string): Promise<BuiltFiles> =>
  readBuiltFiles({
    dist: new URL('../dist/', import.meta.url),
    build: async () => {
      // Only a checkout has the sources, which stand with the console's.
      const module = new URL('../../console/build.ts', import.meta.url).href;
      return (await import(module)).buildExplorer();
    },
    words: { PATH: path === '/' ? '' : path, GRAPHQL: path, NAME: name },
  });
