import type { Context as KoaContext, Middleware } from 'koa';
import type { RequestContext } from '../context/request-context.ts';

/** The part of a GraphQL operation that a line names. */
interface Operation {
  readonly operation: string;
  readonly name?: { readonly value: string } | undefined;
}

/**
 * Logs one line for each request when its response has been sent or its client has left: method,
 * path with the operation, status, time. Only for logs that people read.
 */
export function requestLines(): Middleware {
  return function requestLines(ctx, next) {
    const begun = performance.now();
    ctx.res.once('close', () => {
      const { log } = ctx.state['context'] as RequestContext;
      const time = Math.round((performance.now() - begun) * 10) / 10;
      const status = ctx.res.writableFinished ? ctx.res.statusCode : 'left';
      log.info(`${ctx.method} ${ctx.path}${operationOf(ctx)} ${status} ${time} ms`);
    });
    return next();
  };
}

function operationOf({ state }: KoaContext): string {
  const node = state['operation'] as Operation | undefined;
  return node ? ` ${node.operation}${node.name ? ` ${node.name.value}` : ''}` : '';
}
