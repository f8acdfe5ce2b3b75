import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { RouteSpec } from '@twofold/schema';
import type { Kernel, ServerModule } from '../module.ts';
import { type BoundRoute, reply } from './route.ts';

const spec: RouteSpec = {
  id: 'health',
  method: 'GET',
  path: '/api/health',
  access: 'public',
  tag: 'system',
  summary: 'Whether the server can answer',
  responses: {
    200: { description: 'It can' },
    503: { description: 'The database does not answer' },
  },
};

/** `GET /api/health`: 200 `{status:"ok"}` and more, or 503 when the database does not answer. */
export function healthRoute(kernel: Kernel, modules: readonly ServerModule[]): BoundRoute {
  return {
    spec,
    handle: async () => {
      const parts = await Promise.all(modules.map((module) => module.health?.() ?? {}));
      const alive = await answers(kernel);
      return reply(
        alive ? 200 : 503,
        Object.assign({ status: alive ? 'ok' : 'unavailable' }, ...parts),
        { 'Cache-Control': 'no-store' },
      );
    },
  };
}

/** Milliseconds after which a database that does not answer is taken for lost. */
const ANSWERS_WITHIN = 2_000;

async function answers({ store }: Kernel): Promise<boolean> {
  if (store.isLost?.()) return false;
  const asked = sql`select 1`.execute(store.db).then(
    () => true,
    () => false,
  );
  return Promise.race([asked, pause(ANSWERS_WITHIN, false, { ref: false })]);
}
