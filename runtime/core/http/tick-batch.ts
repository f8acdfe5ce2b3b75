import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** A request that was read but not handled yet. */
interface Waiting {
  /** Keeps the `AsyncLocalStorage` of the place where the request arrived. */
  readonly resource: AsyncResource;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Handles the requests of one tick of the event loop together, after all of them were read. The
 * code and data of each step are then still in the processor's caches, and a small body has already
 * arrived.
 *
 * @param begin called for the first request of a tick.
 * @example createServer(batchByTick(koa.callback()));
 */
export function batchByTick(listener: RequestListener, begin?: () => void): RequestListener {
  let waiting: Waiting[] = [];
  const handleAll = () => {
    const batch = waiting;
    waiting = [];
    for (const each of batch) handle(listener, each);
  };
  return (request, response) => {
    if (waiting.push({ resource: new AsyncResource('REQUEST'), request, response }) > 1) return;
    // This is scheduled before `begin` runs. If `begin` waits for a `setImmediate`, that comes
    // after these requests were handled.
    setImmediate(handleAll);
    begin?.();
  };
}

function handle(listener: RequestListener, { resource, request, response }: Waiting): void {
  try {
    resource.runInAsyncScope(listener, undefined, request, response);
  } catch (error) {
    // The next requests are handled even if this one throws.
    queueMicrotask(() => {
      throw error;
    });
  }
}
