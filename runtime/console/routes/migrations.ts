import { type Handler, reply } from '@twofold/runtime/http';
import { failure } from '@twofold/runtime/errors';
import type { Kernel } from '@twofold/runtime/kernel';

/**
 * `GET /api/system/migrations`: what `migrate status --json` says, and its drift when it is asked.
 */
export function describeMigrations({ migrations }: Kernel): Handler {
  return async ({ query }) => {
    if (!migrations) throw failure.notFound();
    const { status, drift } = await migrations();
    if (query.drift !== true) return reply(200, await status());
    return reply(200, { ...(await status()), drift: await drift() });
  };
}
