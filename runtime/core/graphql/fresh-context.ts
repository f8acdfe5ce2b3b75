import type { Cancellable } from '../context/cancellation.ts';
import { DerivedContext } from '../own-context/derived-context.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Engine } from './engine.ts';

/**
 * A context of the same caller with new loaders, because rows that one event loaded may have
 * changed by the next.
 *
 * @param within the parent of its signal; the client of `context` when absent.
 */
export const freshContext = (
  engine: Engine,
  context: RequestContext,
  within: Cancellable = context,
): RequestContext =>
  new DerivedContext(engine, context, {
    principal: context.principal,
    within,
    sameRequest: false,
  });
