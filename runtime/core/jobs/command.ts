import type { Kernel, ServerModule } from '../module.ts';
import { unknownJob } from './definitions.ts';
import type { JobsModule } from './index.ts';
import { isServed } from './presence.ts';
import type { JobCount, Listed, StoredJob } from './records.ts';
import { untilEnded } from './running.ts';
import { JOB_STATES, type JobState } from './types.ts';

/** A question of `generator jobs`. */
export interface JobsQuestion {
  readonly command: 'stats' | 'list' | 'show' | 'run' | 'retry' | 'cancel';
  /** An id, or the name of a job. */
  readonly subject?: string;
  readonly state?: string;
  readonly name?: string;
  readonly limit?: number;
  readonly data?: unknown;
  /** For `run`: whether to wait until the job has ended. */
  readonly wait?: boolean;
  /** For `retry`: all failed jobs, or those with the name `subject`. */
  readonly failed?: boolean;
}

export type JobsAnswer =
  | { readonly ok: true; readonly stats: readonly JobCount[] }
  | ({ readonly ok: true } & Listed)
  | { readonly ok: true; readonly job: StoredJob; readonly ended?: boolean }
  | { readonly ok: true; readonly retried: number }
  | { readonly ok: false; readonly refused: string };

interface Asking {
  readonly kernel: Kernel;
  readonly module: JobsModule;
}

export async function answerJobs(
  { kernel, modules }: { readonly kernel: Kernel; readonly modules: readonly ServerModule[] },
  question: JobsQuestion,
): Promise<JobsAnswer> {
  const module = modules.find(({ name }) => name === 'jobs') as JobsModule;
  return ANSWERS[question.command]({ kernel, module }, question);
}

type CommandHandler = (asking: Asking, question: JobsQuestion) => Promise<JobsAnswer>;

const ANSWERS: Readonly<Record<JobsQuestion['command'], CommandHandler>> = {
  stats: async ({ module }) => ({ ok: true, stats: await module.records.stats() }),
  list: async ({ module }, { state, name, limit = 50 }) => {
    if (state !== undefined && !JOB_STATES.includes(state as JobState))
      return refused(`there is no state ${state}: one of ${JOB_STATES.join(', ')}`);
    if (name !== undefined && !module.definitions.has(name) && !(await isKnown(module, name)))
      return refused(unknownJob(module.definitions, name));
    const asked = { state: state as JobState | undefined, name, limit };
    return { ok: true, ...(await module.records.list(asked)) };
  },
  show: ({ module }, { subject }) => shown(module, subject),
  run,
  retry: async ({ module }, { subject, failed }) => {
    if (failed) {
      if (subject !== undefined && !(await isKnown(module, subject)))
        return refused(unknownJob(module.definitions, subject));
      return { ok: true, retried: await module.records.retryAll(subject) };
    }
    const before = await shown(module, subject);
    if (!before.ok) return before;
    if (!(await module.records.retry(Number(subject))))
      return refused(`the job ${subject} is not failed: only a failed one begins anew`);
    return shown(module, subject);
  },
  cancel: async ({ module }, { subject }) => {
    const before = await shown(module, subject);
    if (!before.ok) return before;
    if (!(await module.cancel(Number(subject))))
      return refused(`the job ${subject} has ended: only a waiting or running one is cancelled`);
    return shown(module, subject);
  },
};

const refused = (text: string): JobsAnswer => ({ ok: false, refused: text });

/** Whether a job is known. A job without a file is known as long as the queue has one. */
const isKnown = async ({ records, definitions }: JobsModule, name: string) =>
  definitions.has(name) || (await records.stats()).some((count) => count.name === name);

async function shown({ records }: JobsModule, id: string | undefined): Promise<JobsAnswer> {
  const job = await records.get(Number(id));
  return job ? { ok: true, job } : refused(`there is no job with the id ${id}`);
}

/**
 * Sends a job. If no server would run it, the job is run here: one attempt, or all of them with
 * `wait`.
 */
async function run({ kernel, module }: Asking, question: JobsQuestion): Promise<JobsAnswer> {
  const { subject: name = '', data, wait = false } = question;
  if (!module.definitions.has(name)) return refused(unknownJob(module.definitions, name));
  const id = await module.api.send(name, data);
  if (!(await isServed(kernel, name))) await module.runHere(id, !wait);
  else if (wait) await untilEnded(module.records, id);
  const job = await module.records.get(id);
  return { ok: true, job: job!, ended: job!.state !== 'waiting' && job!.state !== 'running' };
}
