import type { IncomingMessage } from 'node:http';
import type { Principal, RequestContext } from '../context/request-context.ts';
import { AppError, failure } from '../errors.ts';
import type { RevalidateCaller } from '../module.ts';
import type { SocketCallers } from './socket-caller.ts';

/** Milliseconds. With the time that a look takes, a caller who changed is found out within 30 s. */
const LOOK_EVERY = 20_000;

/** Holds the caller of an open connection against what the server says of them now. */
export interface CallerWatch {
  /** @throws AppError 401 when the caller is no longer the same; `changed` was called then. */
  assertSame(): Promise<void>;
  stop(): void;
}

export interface Watched {
  readonly callers: SocketCallers;
  readonly revalidate: RevalidateCaller | undefined;
  /** The request that opened the connection, and headers that came later in its place. */
  readonly request: IncomingMessage;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: RequestContext;
  /** Called once. */
  readonly changed: () => void;
}

/**
 * Logout, revocation, a new password, a disabled or deleted user, another role or permission and the end of a token: each
 * makes another caller. Before each event the credentials are looked at again, and every 20 s the whole middleware of the
 * server says who calls, so that a refusal by middleware of the user's own ends the connection as well.
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
  const timer = setInterval(() => void look(isSameByMiddleware), LOOK_EVERY).unref();
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

/** Where middleware of the user's own says who calls, only the whole of it knows. */
async function isSameNow(watched: Watched): Promise<boolean> {
  const { revalidate, context } = watched;
  const principal = await revalidate?.(context);
  if (principal && isSameCaller(principal, context.principal)) return true;
  return isSameByMiddleware(watched);
}

async function isSameByMiddleware({ callers, request, headers, context }: Watched) {
  try {
    const { principal } = await callers.identify(request, headers, { revalidate: true });
    return isSameCaller(principal, context.principal);
  } catch (refused) {
    if (refused instanceof AppError && refused.status < 500) return false;
    throw refused;
  }
}

/** Two values of one caller under the same rules. */
function isSameCaller(one: Principal, other: Principal): boolean {
  return JSON.stringify(comparable(one)) === JSON.stringify(comparable(other));
}

/** Lists of names come from the database in any order. */
const comparable = (principal: Principal) => {
  if (principal.kind === 'user')
    return { ...principal, permissions: [...principal.permissions].sort() };
  if (principal.kind === 'api_key') return { ...principal, scopes: [...principal.scopes].sort() };
  return principal;
};
