import type { Logger } from '../config/log.ts';
import { ownTransaction } from '../store/own-transaction.ts';
import type { ContextParts } from '../own-context/context-parts.ts';
import type { ClaimedJob } from './claim.ts';
import { type Definition, waitAfter } from './definitions.ts';
import type { Queue } from './queue.ts';
import { parseData } from './send.ts';
import type { Tracing } from '../traces/tracing.ts';
import { traceJob } from './traces.ts';
import type { RequestContext } from '../context/request-context.ts';
import { systemContext } from '../own-context/system-context.ts';

/** One running attempt of a job. */
export interface Attempt {
  readonly taken: ClaimedJob;
  /**
   * How the attempt ended. `done`: the end of the job is not written yet. `settled`: everything is
   * written. `left`: nobody waits for the result any more.
   */
  readonly ended: Promise<Ended>;
  /** Aborts its signal. It goes on until its function ends. */
  cancel(): void;
  /** Aborts the signal, and no longer waits for the function. */
  leave(): void;
}

export type Ended = 'done' | 'settled' | 'left';

/** The parts of the server that a job needs. */
export interface JobParts extends ContextParts {
  readonly tracing?: Tracing;
}

interface Running {
  readonly parts: JobParts;
  readonly queue: Queue;
  readonly taken: ClaimedJob;
  readonly definition: Definition;
  readonly log: Logger;
  /** The function that runs now. */
  call: Call;
  cancelled: boolean;
}

/** Another process has taken the job meanwhile. */
class JobLost extends Error {}

/** Begins the attempt. */
export function runJob(
  parts: JobParts,
  queue: Queue,
  definition: Definition,
  taken: ClaimedJob,
): Attempt {
  const { id, name, attempt } = taken;
  const log = parts.log.child({ job: id, name, attempt });
  const call = createCall(parts, definition.timeout);
  const running: Running = { parts, queue, taken, definition, log, call, cancelled: false };
  return {
    taken,
    ended: settle(running),
    cancel: () => {
      running.cancelled = true;
      running.call.cancel();
    },
    leave: () => running.call.leave(),
  };
}

async function settle(running: Running): Promise<Ended> {
  const { taken, definition, log } = running;
  if (taken.exhausted) return failFinally(running, new Error('its server ended while it ran'));
  try {
    await traceJob(running.parts, taken, () => attempt(running));
    return definition.transaction ? 'settled' : 'done';
  } catch (error) {
    if (error instanceof CallAbandoned) return 'left';
    if (!(error instanceof JobLost)) return afterFailure(running, error);
    log.warn('the job was given to another server: what it wrote here was undone');
    return 'settled';
  }
}

/** With `transaction`, the completion commits together with what the function wrote. */
async function attempt(running: Running): Promise<void> {
  const { queue, taken, definition, call } = running;
  const run = () => call.run(() => definition.run({ ...callOf(taken), ctx: call.ctx }));
  if (!definition.transaction) return run();
  await inTransaction(running, call.ctx, async () => {
    await run();
    if (!(await queue.complete(taken))) throw new JobLost();
  });
}

/** The call has a time limit of its own. */
const inTransaction = (
  { parts: { store }, taken }: Running,
  context: RequestContext,
  work: () => Promise<void>,
) => {
  const opened = `the job ${taken.name}`;
  const { timeout: _, ...opening } = ownTransaction(store, { context, once: 0, opened });
  return store.transactionLater(work, opening);
};

const callOf = ({ id, name, attempt, data }: ClaimedJob) => ({
  data: parseData(data),
  job: { id, name, attempt },
});

async function afterFailure(running: Running, error: unknown): Promise<Ended> {
  const { queue, taken, definition, log, cancelled } = running;
  if (cancelled) log.info('the job was cancelled');
  else if (taken.attempt >= taken.attempts) return failFinally(running, error);
  const retryIn = cancelled ? 0 : waitAfter(definition, taken.attempt);
  if (!cancelled)
    log.warn({ stack: stackOf(error) }, `the job failed and runs again in ${retryIn / 1000} s`);
  await queue.fail(taken, { error: messageOf(error), retryIn });
  return 'settled';
}

/**
 * Calls `failed`. This is done before the state is written, so that it is called again if the
 * process dies.
 */
async function failFinally(running: Running, error: unknown): Promise<Ended> {
  const { queue, taken, definition, log } = running;
  log.error({ stack: stackOf(error) }, 'the job failed, and it was the last attempt');
  const fail = () => queue.fail(taken, { error: messageOf(error), retryIn: undefined });
  try {
    if (definition.failed) await callFailed(running, error, fail);
  } catch (thrown) {
    if (thrown instanceof CallAbandoned) return 'left';
    log.error({ stack: stackOf(thrown) }, 'the function failed of the job threw');
  }
  // This changes nothing when the transaction of `failed` has written the state already.
  await fail();
  return 'settled';
}

async function callFailed(
  running: Running,
  error: unknown,
  fail: () => Promise<unknown>,
): Promise<void> {
  const { parts, taken, definition } = running;
  const call = (running.call = createCall(parts, definition.timeout));
  const run = () => call.run(() => definition.failed!({ ...callOf(taken), ctx: call.ctx, error }));
  if (!definition.transaction) return run();
  await inTransaction(running, call.ctx, async () => {
    await run();
    await fail();
  });
}

const messageOf = (error: unknown) =>
  error instanceof Error ? error.message || error.name : String(error);

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));

/** A call of a function of the project, for a limited time. */
interface Call {
  readonly ctx: RequestContext;
  /** Resolves when the function has ended. @throws CallAbandoned, or what the function threw */
  run(work: () => unknown): Promise<void>;
  /** Aborts the signal. */
  cancel(): void;
  /** Aborts the signal, and lets `run` reject at once. */
  leave(): void;
}

/**
 * Thrown when the process stops or has lost the job, so that nobody waits for the function any
 * more.
 */
class CallAbandoned extends Error {}

/** @param timeout milliseconds, after which `run` rejects and the signal is aborted. */
function createCall(parts: ContextParts, timeout: number): Call {
  const ctx = systemContext(parts);
  const left = Promise.withResolvers<never>();
  left.promise.catch(() => {});
  const abort = (name: string, text: string) => ctx.cancel(new DOMException(text, name));
  return {
    ctx,
    run: async (work) => {
      const late = setTimeout(() => {
        const text = `it took longer than ${timeout} ms`;
        left.reject(new Error(text));
        abort('TimeoutError', text);
      }, timeout);
      try {
        await Promise.race([new Promise((resolve) => resolve(work())), left.promise]);
      } finally {
        clearTimeout(late);
      }
    },
    cancel: () => abort('AbortError', 'the job was cancelled'),
    leave: () => {
      left.reject(new CallAbandoned());
      abort('AbortError', 'the server stops, or another one has the job');
    },
  };
}
