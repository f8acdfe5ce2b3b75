import type { ServerResponse } from 'node:http';
import type { Cancellable } from '../context/cancellation.ts';

/** The client of a response, which counts as cancelled when it disconnects. */
export function clientOf(response: ServerResponse): Cancellable {
  let made: AbortController | undefined;
  return {
    get cancelled() {
      return isGone(response);
    },
    get signal() {
      return (made ??= abortWhenGone(response)).signal;
    },
  };
}

/** Whether the client disconnected before it had its answer. */
export function isGone(response: ServerResponse): boolean {
  return response.destroyed && !response.writableFinished;
}

function abortWhenGone(response: ServerResponse): AbortController {
  const abort = new AbortController();
  const check = () => {
    if (isGone(response)) abort.abort(new DOMException('the client went away', 'AbortError'));
  };
  check();
  response.once('close', check);
  return abort;
}
