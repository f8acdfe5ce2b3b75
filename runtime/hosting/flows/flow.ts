import { object, text } from '@twofold/schema/shapes';
import { flowsOf, reply } from '@twofold/runtime/http';
import type { Leader } from '../leader.ts';

export const MIB = 1024 * 1024;

/** How a flow of hosting is written. `needs` is a permission; `area:*` and `host:manage` include it. */
export const flow = flowsOf<Leader>({
  tag: 'hosting',
  refused: { description: 'The reason; nothing was changed', schema: object({ error: text }) },
  limit: MIB,
  anything: object({}),
});

/** The statuses of refusals: of every call, of calls that name an app, of those that reach the engine. */
export const USUAL = [400, 401, 403, 500] as const;
export const ON_APP = [...USUAL, 404] as const;
export const ON_ENGINE = [...ON_APP, 409, 502, 503, 507] as const;

export const wait = { wait: { type: 'boolean', default: false } } as const;

export const deleted = () => reply(200, { status: 'deleted' });
