import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '../context/request-context.ts';
import { isSameCaller } from '../context/same-caller.ts';
import { AppError, failure } from '../errors.ts';
import type { RevalidateCaller } from '../module.ts';
import type { SocketCallers } from './socket-caller.ts';

/** Milliseconds. With the time that a check takes, a changed caller is noticed within 30 s. */
const CHECK_EVERY = 20_000;

/** Compares the caller of an open connection with what the server knows about them now. */
export interface CallerWatch {
  /** @throws AppError 401 when the caller has changed; `changed` has been called by then. */
  assertSame(): Promise<void>;
  stop(): void;
}

export interface Watched {
  readonly callers: SocketCallers;
  readonly revalidate: RevalidateCaller | undefined;
  /**
   * The request that opened the connection. For a WebSocket, `headers` came later, in
   * `connection_init`.
   */
  readonly request: IncomingMessage;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: RequestContext;
  /** Called once, when the caller has changed. */
  readonly changed: () => void;
}

/**
 * Notices that a caller has changed: by logout, revocation, a new password, a disabled or deleted
 * user, another role or permission, or an expired token. The credentials are checked before each
 * event, and every 20 s all middleware runs again, so that a refusal by the project's own
 * middleware ends the connection too.
 */
export function watchCaller(watched: Watched): CallerWatch {
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    clearInterval(timer);
    watched.changed();
  };
  const look = (isSame: (watched: Watched) => Promise<boolean>) =>
    isSame(watched).then(
      (same) => same || end(),
      (error: unknown) => {
        end();
        watched.context.log.warn({ error: String(error) }, 'a caller could not be looked at again');
      },
    );
  const timer = setInterval(() => void look(isSameByMiddleware), CHECK_EVERY).unref();
  return {
    assertSame: async () => {
      if (!over && watched.context.principal.kind !== 'anonymous') await look(isSameNow);
      if (over) throw failure.unauthenticated();
    },
    stop: () => {
      over = true;
      clearInterval(timer);
    },
  };
}

/** When the project's own middleware sets the caller, all middleware has to run again. */
async function isSameNow(watched: Watched): Promise<boolean> {
  const { revalidate, context } = watched;
  const principal = await revalidate?.(context);
  if (principal && isSameCaller(principal, context.principal)) {
    context.principal = principal;
    return true;
  }
  return isSameByMiddleware(watched);
}

async function isSameByMiddleware({ callers, request, headers, context }: Watched) {
  try {
    const { principal } = await callers.identify(request, headers, { revalidate: true });
    if (!isSameCaller(principal, context.principal)) return false;
    context.principal = principal;
    return true;
  } catch (refused) {
    if (refused instanceof AppError && refused.status < 500) return false;
    throw refused;
  }
}
