import type { RequestContext } from '../context/request-context.ts';
import type { Engine } from './engine.ts';
import { createLoaders } from './loaders.ts';

/** The same caller with loaders of its own: what one event loaded is not true for the next. */
export function freshContext(engine: Engine, context: RequestContext): RequestContext {
  let loaders: unknown;
  const fresh: RequestContext = {
    id: context.id,
    ip: context.ip,
    headers: context.headers,
    values: context.values,
    log: context.log,
    signal: context.signal,
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
