import type { RequestContext } from './request-context.ts';

const FIRST = new WeakMap<RequestContext, RequestContext>();

/** Notes that `context` belongs to the request of `parent`. */
export function isPartOf(context: RequestContext, parent: RequestContext): void {
  FIRST.set(context, requestOf(parent));
}

/** The first context of the request: contexts of one request share what is kept under it. */
export const requestOf = (context: RequestContext): RequestContext => FIRST.get(context) ?? context;
