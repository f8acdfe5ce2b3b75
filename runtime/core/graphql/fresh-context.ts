import { type Cancellable, Cancellation } from '../context/cancellation.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Engine } from './engine.ts';
import { createLoaders } from './loaders.ts';

/**
 * A context of the same caller with new loaders, because rows that one event loaded may have
 * changed by the next.
 *
 * @param within the parent of its signal; the client of `context` when absent.
 */
export function freshContext(
  engine: Engine,
  context: RequestContext,
  within: Cancellable = context,
): RequestContext {
  const cancellation = new Cancellation(within);
  let loaders: unknown;
  const fresh: RequestContext = {
    id: context.id,
    ip: context.ip,
    headers: context.headers,
    values: context.values,
    log: context.log,
    get signal() {
      return cancellation.signal;
    },
    get cancelled() {
      return cancellation.cancelled;
    },
    cancel: (reason) => cancellation.cancel(reason),
    db: context.db,
    principal: context.principal,
    get user() {
      return fresh.principal.kind === 'user' ? fresh.principal : null;
    },
    get loaders() {
      return (loaders ??= createLoaders(engine, fresh));
    },
  };
  return fresh;
}
