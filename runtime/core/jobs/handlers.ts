import { jobRoutes } from '@twofold/schema';
import { failure } from '../errors.ts';
import { bindRoutes, type BoundRoute, type Handler, reply } from '../http/route.ts';
import type { Definitions } from './definitions.ts';
import { unknownJob } from './definitions.ts';
import { found, type JobRecords } from './records.ts';
import type { listSchedules } from './schedules.ts';
import type { JobsApi } from './types.ts';

export interface HandlerParts {
  readonly definitions: Definitions;
  readonly records: JobRecords;
  readonly api: JobsApi;
  /** Cancels a job wherever it runs. */
  readonly cancel: (id: number) => Promise<boolean>;
  /** Called when jobs wait again. */
  readonly onWaiting: () => void;
  readonly schedules: () => ReturnType<typeof listSchedules>;
}

/** `/api/system/jobs`, for API keys and users with `jobs:read` and `jobs:write`. */
export function jobHandlers(parts: HandlerParts): BoundRoute[] {
  const { records, definitions, api } = parts;
  const listJobs: Handler = async ({ query: { state, name, limit, cursor } }) => {
    const after = cursor === undefined ? undefined : Number(cursor);
    if (after !== undefined && !Number.isSafeInteger(after))
      throw failure.invalid('cursor must be the next_cursor of another answer');
    return reply(200, await records.list({ state, name, limit, cursor: after }));
  };
  const sendJob: Handler = async ({ body: { name, data, at, key } }) => {
    if (!definitions.has(name)) throw failure.invalid(unknownJob(definitions, name));
    if (at !== undefined && Number.isNaN(Date.parse(at)))
      throw failure.invalid('at must be a time as 2030-01-31T08:00:00Z');
    const id = await api.send(name, data, {
      ...(at !== undefined && { at }),
      ...(key !== undefined && { key }),
    });
    return reply(201, found(await records.get(id)));
  };
  return bindRoutes(jobRoutes, {
    listJobs,
    sendJob,
    jobStats: async () =>
      reply(200, { stats: await records.stats(), schedules: parts.schedules() }),
    getJob: async ({ params }) => reply(200, found(await records.get(idOf(params)))),
    retryJob: (call) => change(parts, idOf(call.params), 'retry'),
    cancelJob: (call) => change(parts, idOf(call.params), 'cancel'),
  });
}

const idOf = ({ id }: Readonly<Record<string, string>>) => Number(id);

async function change(parts: HandlerParts, id: number, what: 'retry' | 'cancel') {
  const { records, cancel, onWaiting } = parts;
  const changed = await (what === 'retry' ? records.retry(id) : cancel(id));
  const job = found(await records.get(id));
  if (!changed)
    throw failure.conflict(
      what === 'retry'
        ? `The job is ${job.state}: only a failed one begins anew`
        : `The job is ${job.state}: only a waiting or running one can be cancelled`,
    );
  if (what === 'retry') onWaiting();
  return reply(200, job);
}
