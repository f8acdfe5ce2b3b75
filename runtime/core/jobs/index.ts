import type { InputTypes } from '../http/input-types.ts';
import type { Kernel, ServerModule } from '../module.ts';
import { addServices } from '../own-context/services.ts';
import { type Definitions, readDefinitions } from './definitions.ts';
import { jobHandlers } from './handlers.ts';
import { jobMetrics } from './metrics.ts';
import { createRecords, type JobRecords } from './records.ts';
import { createRunning, runHere } from './running.ts';
import { listSchedules } from './schedules.ts';
import { createSender, type Sender } from './send.ts';
import type { JobsMode } from './settings.ts';
import { jobMigrations } from './tables.ts';
import { createTelling } from './telling.ts';
import { sendTraced } from './traces.ts';
import type { JobOf, JobsApi } from './types.ts';

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
