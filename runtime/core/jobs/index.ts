import type { InputTypes } from '../http/input-types.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { addServices } from '../own-context/services.ts';
import { type Definitions, readDefinitions, unknownJob } from './definitions.ts';
import { createRecords, type JobRecords, found } from './records.ts';
import { createRunning, runHere } from './running.ts';
import { listSchedules } from './schedules.ts';
import { createSender, type Sender } from './send.ts';
import type { JobsMode } from './settings.ts';
import { jobMigrations } from './tables.ts';
import { createTelling } from './telling.ts';
import { sendTraced } from './traces.ts';
import type { JobOf, JobsApi } from './types.ts';
import { jobRoutes } from '@twofold/schema';
import { failure } from '../errors.ts';
import { bindRoutes, type BoundRoute, type Handler, reply } from '../http/route.ts';
import type { RequestContext } from '../context/request-context.ts';
import type { Sample } from '../metrics/family.ts';
import { renderFamilies } from '../metrics/render.ts';

export interface JobsOptions {
  readonly kernel: Kernel;
  /** The files of `src/jobs/` by their names. */
  readonly files: Readonly<Record<string, JobOf>>;
  readonly inputs: InputTypes;
  readonly mode: JobsMode;
  /** Whether the server can recognise callers. If not, there is no API for jobs. */
  readonly guarded: boolean;
}

/** The module of jobs, and the functions for the command line. */
export interface JobsModule extends ServerModule {
  readonly records: JobRecords;
  readonly definitions: Definitions;
  /** For callers outside; own code has `ctx.jobs`. */
  readonly api: JobsApi;
  /** Cancels a job wherever it runs. @returns whether it was waiting or running. */
  cancel(id: number): Promise<boolean>;
  /** Runs one job in this process until it has ended, or for one attempt. */
  runHere(id: number, once: boolean): Promise<void>;
}

/**
 * The queue of jobs, in tables of the server's database.
 *
 * @throws ConfigError for a file that cannot be used.
 */
export function createJobs({ kernel, files, inputs, mode, guarded }: JobsOptions): JobsModule {
  const definitions = readDefinitions(files, inputs);
  const records = createRecords(kernel.store);
  const telling = createTelling(kernel);
  const sender = createSender(kernel.store, definitions, telling.due);
  const cancel = async (id: number) => {
    const outcome = await records.cancel(id);
    if (outcome === 'asked') kernel.store.afterCommit(() => telling.cancel(id));
    return outcome !== false;
  };
  const traced: Sender = {
    send: (...args) => sendTraced(kernel.store, kernel.tracing, () => sender.send(...args)),
  };
  const own = createApi(traced, records, cancel, 'own');
  addServices(kernel.store, { jobs: () => own });
  const api = createApi(traced, records, cancel);
  const running =
    mode === 'off' ? undefined : createRunning({ kernel, definitions, sender, telling });
  return {
    name: 'jobs',
    migrations: jobMigrations,
    ...(guarded && {
      routes: jobHandlers({
        ...{ definitions, records, api, cancel },
        onWaiting: () => telling.due(0),
        schedules: () => listSchedules({ kernel, definitions }),
      }),
    }),
    ...(kernel.metrics && { metrics: (context) => jobMetrics(kernel, definitions, context) }),
    ...running,
    records,
    definitions,
    api,
    cancel,
    runHere: (id, once) => runHere({ kernel, definitions, records, telling }, id, once),
  };
}

function createApi(
  { send }: Sender,
  records: JobRecords,
  cancel: (id: number) => Promise<boolean>,
  as?: 'own',
): JobsApi {
  return {
    send: async (name: string, data?: unknown, options?: object) =>
      (await send(name, [data], options, as))[0]!,
    sendMany: (name: string, list: readonly unknown[], options?: object) =>
      send(name, list, options, as),
    get: (id: number) => records.get(id),
    cancel,
  } as JobsApi;
}

interface HandlerParts {
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
function jobHandlers(parts: HandlerParts): BoundRoute[] {
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

const STATES = ['waiting', 'running', 'done', 'failed', 'cancelled'] as const;

interface Count {
  readonly name: string;
  readonly state: string;
  readonly count: number | string;
}

/**
 * How many jobs there are, of each name in each state; 0 too, so that a rule can compare it. Jobs of
 * names that the project no longer has are counted as well.
 */
async function jobMetrics(
  { store, project }: Kernel,
  definitions: Definitions,
  context: RequestContext,
): Promise<string> {
  const rows = (await store.answerRows(
    {
      text: 'select name, state, count(*) as count from twofold_jobs group by name, state',
      long: true,
    },
    [],
    { asker: context, limits: project.api.limits, sent: false },
  )) as unknown as readonly Count[];
  const counts = new Map<string, Sample>(
    [...definitions.keys()].flatMap((name) =>
      STATES.map((state) => [`${name}\n${state}`, { of: [name, state], value: 0 }] as const),
    ),
  );
  for (const { name, state, count } of rows)
    counts.set(`${name}\n${state}`, { of: [name, state], value: Number(count) });
  const samples = [...counts.values()];
  return renderFamilies([
    { name: 'jobs', help: 'Jobs in the queue', type: 'gauge', labels: ['name', 'state'], samples },
  ]);
}
