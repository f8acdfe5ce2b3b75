import type { Context as KoaContext, Middleware } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import type { Kernel } from '../module.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';
import { openPosition, type ReadAfter, sealPosition } from '../store/replicas.ts';
import type { Store } from '../store/store.ts';

/** Seconds after a write during which its caller reads what it wrote. */
const KEPT = 60;
const HEADER = 'Read-After';
const COOKIE = 'read_after';

/** Requests that only read; others may have written, whatever their method. */
const READS = /^(GET|HEAD|OPTIONS)$/;
const SIGNS_IN = /^\/api\/(auth|oauth)\//;

const LAST = new WeakMap<Store, ReturnType<typeof createLast>>();
const createLast = () => createBoundedCache<string>({ entries: 100_000, bytes: 20_000_000 });

function callerOf({ principal }: RequestContext): string | undefined {
  return 'id' in principal ? `${principal.kind} ${principal.id}` : undefined;
}

/** Gives the position of each write to its caller. Nothing without replicas. */
export function readAfter({ store }: Kernel): Middleware[] {
  const { replicas } = store;
  if (!replicas) return [];
  const last = createLast();
  LAST.set(store, last);
  const give = async (ctx: KoaContext) => {
    const isRead = READS.test(ctx.method) && !SIGNS_IN.test(ctx.path);
    if (isRead || ctx.state['reads'] || ctx.res.headersSent) return;
    const given = sealPosition(await replicas.position());
    ctx.set(HEADER, given);
    const secure = ctx.secure ? '; Secure' : '';
    const kept = `${COOKIE}=${given}; Path=/; Max-Age=${KEPT}; HttpOnly; SameSite=Lax${secure}`;
    ctx.append('Set-Cookie', kept);
    const caller = callerOf(ctx.state['context']);
    if (caller)
      last.set(caller, `${Date.now()} ${given}`, 2 * (caller.length + given.length) + 100);
  };
  return [
    async function readAfter(ctx, next) {
      try {
        await next();
      } finally {
        await give(ctx).catch(() => {});
      }
    },
  ];
}

/** Lets an operation that only reads use a replica. */
export function readFromReplica(store: Store, ctx: KoaContext): void {
  if (!store.replicas) return;
  ctx.state['reads'] = true;
  store.replicas.allow(ctx.state['context'], newest(store, ctx));
}

function newest(store: Store, ctx: KoaContext): ReadAfter {
  const caller = callerOf(ctx.state['context']);
  const [at, kept] = ((caller && LAST.get(store)?.get(caller)) || '').split(' ');
  const given = [ctx.get(HEADER), ctx.cookies.get(COOKIE)];
  if (Number(at) > Date.now() - KEPT * 1000) given.push(kept);
  let after: bigint | undefined;
  for (const text of given) {
    if (!text) continue;
    const position = openPosition(text);
    if (position === 'primary') return position;
    if (after === undefined || position > after) after = position;
  }
  return after;
}
