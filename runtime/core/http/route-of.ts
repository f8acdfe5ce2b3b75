import type Router from '@koa/router';
import type { Context } from 'koa';

/**
 * The pattern of the route that a request belongs to, for figures and traces: it has no value of
 * the request in it. Undefined when the request belongs to none.
 *
 * @param graphqlPath where GraphQL answers.
 * @param routers those that are asked for a request which was refused before it reached them.
 */
export function createRouteOf(
  graphqlPath: string,
  routers: readonly Router[],
): (ctx: Context) => string | undefined {
  return (ctx) => {
    const { url = '' } = ctx.req;
    if (url === graphqlPath) return url;
    const { route } = ctx.state as { readonly route?: string };
    const { _matchedRoute: matched } = ctx as { readonly _matchedRoute?: unknown };
    if (route !== undefined || typeof matched === 'string') return route ?? (matched as string);
    const { path } = ctx;
    if (path === graphqlPath) return path;
    if (path.startsWith(`${graphqlPath}/`)) return `${graphqlPath}/*`;
    for (const router of routers) {
      const found = router.match(path, ctx.method).pathAndMethod.at(-1)?.path;
      if (typeof found === 'string') return found;
    }
    return undefined;
  };
}
