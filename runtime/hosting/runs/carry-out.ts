import type { RunStatus } from '../records/tables.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../host/core.ts';
import { placement } from '../host/core.ts';
import { createContainer, ensureVolumes } from '../deploy/replicas.ts';
import type { ContainerDetail } from '../engine/engine.ts';
import { EngineError } from '../engine/errors.ts';
import { findRunContainer, runContainer } from './run-container.ts';
import { readRunLog } from './run-log.ts';
import type { RunRepository } from './run-repository.ts';
import type { Run } from '../records/run.ts';

/** What the runner says to a run while it goes on. */
export interface RunControl {
  /** Whether to stop the run. */
  stop: boolean;
  /** Ends the pause between two looks. */
  wake: () => void;
  /** Aborts when the server ends. The run itself then goes on. */
  readonly signal: AbortSignal;
}

interface RunWork {
  readonly core: Core;
  readonly runs: RunRepository;
  readonly run: Run;
  readonly control: RunControl;
}

/** How a run has ended. */
interface RunEnd {
  readonly status: Exclude<RunStatus, 'running'>;
  readonly exit_code: number | null;
  readonly log: string;
}

/** Seconds between SIGTERM and SIGKILL. */
const GRACE = 10;
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1000;
/** Milliseconds between two attempts while the engine or the database is away. */
const FIRST_RETRY = 250;
const LONGEST_RETRY = 5000;
const BY_SIGKILL = 137;
const REMOVAL_LOOKS = 5;
const REMOVAL_PAUSE = 200;
/** The exit code of a shell for a command that cannot be started. */
const NOT_STARTED = 127;

/**
 * Carries a run out, from wherever a killed server has left it: creates the container if there was
 * none yet, starts it if it was never started, waits for its end, keeps its output and removes it.
 *
 * The record is written before the container exists, and the container's id before it is started.
 * So a container that was once started is never started again, and one that is gone is `lost`.
 */
export async function carryOut(work: RunWork): Promise<Run> {
  const { core, runs, run, control } = work;
  let end: RunEnd | null = null;
  for (let wait = FIRST_RETRY; ; wait = Math.min(LONGEST_RETRY, wait * 2)) {
    try {
      return end
        ? await finish(work, end)
        : await attempt(work, await runs.get(run.app_id, run.id));
    } catch (error) {
      if (control.signal.aborted) throw error;
      if (!core.apps.byId(run.app_id)) return { ...run, status: 'stopped' };
      if (isRefusal(error)) end = refused(error);
      else core.log.debug(`run ${run.id} is tried again: ${(error as Error).message}`);
      await pause(control, wait);
    }
  }
}

/** Whether the engine refuses the run. When the engine or the database is away, the run waits. */
const isRefusal = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.kind !== 'unavailable';

const refused = ({ message }: Error): RunEnd => ({
  status: 'failed',
  exit_code: NOT_STARTED,
  log: `${message}\n`,
});

async function attempt(work: RunWork, run: Run): Promise<Run> {
  if (run.status !== 'running') return run;
  const { core, runs } = work;
  const present = await findRunContainer(core, run);
  if (!present && run.container !== null) return finish(work, LOST);
  const begun = present !== undefined && present.state !== 'created';
  if (!begun && !isWanted(work)) return finish(work, STOPPED, present?.id);
  const id = present?.id ?? (await create(work));
  if (run.container === null) await runs.update(run.id, { container: id });
  core.onStep('run-noted');
  if (!begun) {
    const problem = isWanted(work) ? await start(work, id) : STOPPED;
    if (problem) return finish(work, problem, id);
  }
  return finish(work, await untilEnd(work, id), id);
}

async function start({ core }: RunWork, id: string): Promise<RunEnd | null> {
  try {
    await core.connection.engine().start(id);
  } catch (error) {
    if (isRefusal(error)) return refused(error);
    throw error;
  }
  core.onStep('run-started');
  return null;
}

const LOST: RunEnd = { status: 'lost', exit_code: null, log: '' };
const STOPPED: RunEnd = { ...LOST, status: 'stopped' };

/** An app may be stopped while the run begins, or while no server watched the run. */
function isWanted({ core, run, control }: RunWork): boolean {
  if (control.stop || run.purpose === 'release') return !control.stop;
  const app = core.apps.byId(run.app_id);
  const gaveUp = app?.status === 'crashed' || app?.status === 'failed';
  return app?.desired === 'running' || gaveUp;
}

async function create({ core, run }: RunWork): Promise<string> {
  const app = core.apps.byId(run.app_id);
  if (!app) throw new EngineError('failed', 'The app is gone');
  const deployment = await core.deployments.get(run.app_id, run.deployment);
  await ensureVolumes(core, app);
  const spec = runContainer({ app, deployment, run }, placement(core));
  core.onStep('run-recorded');
  const id = await createContainer(core, spec);
  core.onStep('run-created');
  return id;
}

/** Waits for the container's end, and brings it about when the time is over or a call asks for it. */
async function untilEnd(work: RunWork, id: string): Promise<RunEnd> {
  const { core, control, run } = work;
  let why: 'timeout' | 'stopped' | null = null;
  for (let wait = FIRST_PAUSE; ; wait = Math.min(LONGEST_PAUSE, wait * 1.3)) {
    const engine = core.connection.engine();
    const detail = await engine.inspect(id);
    if (!detail || detail.state === 'dead') return { ...LOST, ...(why && { status: why }) };
    if (detail.state === 'stopped')
      return !why && (await wasRemoved(work, detail)) ? LOST : endOf(work, detail, why);
    const left = startOf(run, detail) + run.timeout_s * 1000 - core.now();
    why ??= isWanted(work) ? (left <= 0 ? 'timeout' : null) : 'stopped';
    if (why) await engine.stop(id, GRACE);
    else await pause(control, Math.min(wait, left));
    control.signal.throwIfAborted();
  }
}

/** A forced removal kills the process first, and a busy engine removes the container later. */
async function wasRemoved({ core }: RunWork, { id, exitCode }: ContainerDetail): Promise<boolean> {
  if (exitCode !== BY_SIGKILL) return false;
  for (let look = 0; look < REMOVAL_LOOKS; look += 1) {
    await sleep(REMOVAL_PAUSE);
    if (!(await core.connection.engine().inspect(id))) return true;
  }
  return false;
}

/** Engines report a time in year 1 for a container that has not started. */
function startOf(run: Run, { startedAt }: ContainerDetail): number {
  const recorded = Date.parse(run.started_at);
  return Math.max(recorded, Date.parse(startedAt) || 0);
}

async function endOf(
  { core, run }: RunWork,
  detail: ContainerDetail,
  why: 'timeout' | 'stopped' | null,
): Promise<RunEnd> {
  core.onStep('run-ended');
  const { exitCode } = detail;
  const log = await readRunLog(core, run.app_id, detail.id).catch((error: unknown) => {
    if (isRefusal(error)) return `The output could not be read: ${error.message}\n`;
    throw error;
  });
  return { status: why ?? (exitCode === 0 ? 'done' : 'failed'), exit_code: exitCode, log };
}

/** Writes the result first: a container that is left is removed by the next sweep. */
async function finish({ core, runs, run }: RunWork, end: RunEnd, container?: string): Promise<Run> {
  const finished_at = new Date(core.now()).toISOString();
  await runs.update(run.id, { ...end, log: end.log.replaceAll('\0', ''), finished_at });
  core.onStep('run-finished');
  if (container)
    await core.connection
      .engine()
      .remove(container)
      .catch((error: Error) => core.log.debug(`run ${run.id}: ${error.message}`));
  core.onStep('run-removed');
  await runs.prune(run.app_id);
  announceRun(core, { ...run, ...end });
  const { log: _log, ...result } = end;
  return { ...run, ...result, finished_at };
}

/** Tells the listeners of `GET /api/events` that a run has begun or ended. */
function announceRun({ apps, events }: Core, run: Run): void {
  const { id, cron, status, exit_code } = run;
  const app = apps.byId(run.app_id)?.name ?? run.app_id;
  const reason = status === 'failed' ? { reason: `It ended with exit code ${exit_code}` } : {};
  events.emit('run', { app, id, cron, status, exit_code, ...reason });
}

async function pause(control: RunControl, milliseconds: number): Promise<void> {
  const woken = new AbortController();
  control.wake = () => woken.abort();
  if (control.signal.aborted) return;
  await sleep(Math.max(0, milliseconds), undefined, { signal: woken.signal }).catch(() => {});
}
