import type { Readable } from 'node:stream';
import type { RequestContext } from '../context/request-context.ts';
import { isSameCaller } from '../context/same-caller.ts';
import type { RevalidateCaller } from '../module.ts';
import type { BoundRoute, Call, Reply } from './route.ts';

/** Milliseconds between two looks at the caller of a stream. */
const EVERY = 1000;

/**
 * Ends the streams of a route when the session of their caller ends, or when they may do more or
 * less than before: they may ask again. Routes are wrapped where they are mounted, so that none can
 * be forgotten. An access token that expires ends no stream, because its session goes on.
 */
export function watchedRoute(
  revalidate: RevalidateCaller | undefined,
  route: BoundRoute,
): BoundRoute {
  const { spec, handle } = route;
  if (!revalidate || spec.method !== 'GET' || spec.access === 'public') return route;
  return {
    spec,
    handle: async (call) => {
      const answer = await handle(call);
      if (isStream(answer)) await watch(revalidate, call);
      return answer;
    },
  };
}

const isStream = ({ body }: Reply): boolean =>
  typeof (body as Readable | undefined)?.pipe === 'function';

async function watch(revalidate: RevalidateCaller, { context, koa }: Call): Promise<void> {
  const isSame = createLook(revalidate, context);
  // Middleware of the project may have recognised the caller in a way that only the project knows.
  if (!(await isSame()) || koa.res.destroyed) return;
  let looking = false;
  const look = async () => {
    looking = true;
    // The connection is cut as if the reader had left, which ends what the stream reads from.
    if (!(await isSame())) koa.res.destroy();
    looking = false;
  };
  const timer = setInterval(() => void (looking || look()), EVERY).unref();
  koa.res.once('close', () => clearInterval(timer));
}

/**
 * A function that compares the caller with the one at the start. If the caller cannot be
 * determined, they count as changed.
 */
function createLook(revalidate: RevalidateCaller, context: RequestContext) {
  const asked = context.principal;
  return async (): Promise<boolean> => {
    const now = await revalidate(context, { session: true }).catch(() => null);
    return now !== null && isSameCaller(now, asked);
  };
}
