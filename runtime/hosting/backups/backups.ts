import type { HostingStore } from '../records/tables.ts';
import { AppError, failure } from '@twofold/runtime/errors';
import { LABELS } from '../deploy/containers.ts';
import { createOperations } from '../deploy/operations.ts';
import { createLoop } from '../loop.ts';
import type { HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { restoreBeside } from './beside.ts';
import { drill } from './drill.ts';
import {
  assertHasData,
  endFailed,
  makeBackup,
  recordBackup,
  recordRefused,
  SYSTEM,
} from './make.ts';
import { reportCutOff, restoreApp } from './restore.ts';
import {
  isGood,
  removeBackup,
  type BackupParts,
  isInUse,
  messageOf,
  whileInUse,
} from './stored.ts';
import { adoptRows, bringBack, waitingApps } from './returned.ts';
import { createSchedule, type Due } from './schedule.ts';
import { assertCanBackUp, makeSystemBackup, type SystemParts } from './system.ts';
import { taskLabels } from './volumes.ts';

/** Work that has started. `done` rejects with the reason when it fails, which is logged too. */
export interface StartedWork {
  readonly done: Promise<void>;
}

/** The backups of apps. Each method that starts something returns when it has started. */
export interface Backups {
  readonly parts: BackupParts;
  /** @throws AppError 400 without data, 404 without the target, 409 while another one runs. */
  begin(app: HostedApp): Promise<StartedWork & { readonly backup: StoredBackup }>;
  /** @throws AppError 400, 409 */
  restore(app: HostedApp, backup: StoredBackup): Promise<StartedWork>;
  verify(app: HostedApp, backup: StoredBackup): Promise<StartedWork>;
  remove(backup: StoredBackup): Promise<void>;
  /** @throws AppError 409 when an app has the name. */
  restoreBeside(into: string, backup: StoredBackup): Promise<StartedWork>;
  /** Backs up the server itself. @throws AppError 400 without `BACKUP_KEY`, 404, 409 */
  beginSystem(target: string): Promise<StartedWork & { readonly backup: StoredBackup }>;
  /** Ends what runs for an app, so that it can be deleted. */
  cancel(app: HostedApp): Promise<void>;
  /** Called before all others: takes over the rows that were restored on this host. */
  adopt(): Promise<void>;
  /** Called before the engine is connected: ends the records of a server that was killed. */
  recover(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** Milliseconds between two looks at the schedules. */
const TICK = 1000;

export function createBackups(parts: SystemParts, store: HostingStore, root: string): Backups {
  const { core, repository } = parts;
  /** By the name of the app, as records outlive apps. */
  const tasks = createOperations();
  const clean = createCleaner(parts);
  const startTask = createTaskStarter(parts, tasks, clean);
  const schedule = createSchedule(core.now, (app, kind) => isBusy(parts, tasks, app, kind));

  const begin: Backups['begin'] = async (app) => {
    assertHasData(app);
    core.connection.engine();
    let backup: StoredBackup | undefined;
    const { done } = await startTask(app.name, 'backup', async (signal, started) => {
      backup = await recordBackup(parts, app.name, backupRulesOf(app.spec.backup).target);
      started();
      await announced(parts, backup, () => makeBackup(parts, app, { backup: backup!, signal }));
    });
    return { backup: backup!, done };
  };

  const verify: Backups['verify'] = async (app, backup) => {
    assertDone(backup);
    core.connection.engine();
    return startTask(app.name, 'drill', async (signal, started) => {
      started();
      await whileInUse(parts, backup, () => drill(parts, app, { backup, signal }));
    });
  };

  const look = async () => {
    if (core.connection.info() === null) return;
    await clean();
    await bringBackAll(parts, store, startTask);
    for (const due of schedule.due(core.apps.all())) await startDue(parts, due, { begin, verify });
  };
  const loop = createLoop({
    pause: () => TICK,
    work: look,
    onError: (error) => core.log.warn(`backups: ${error.message}`),
  });

  return {
    ...{ parts, begin, verify },
    async restore(app, backup) {
      assertDone(backup);
      core.connection.engine();
      if (app.deployment === null) throw failure.badRequest('App has not been deployed yet');
      return startTask(app.name, 'restore', async (_signal, started) => {
        started();
        await whileInUse(parts, backup, () => restoreApp(parts, store, { app, backup }));
      });
    },
    async remove(backup) {
      if (backup.status === 'running') throw failure.conflict('The backup is still running');
      if (isInUse(parts, backup))
        throw failure.conflict('The backup is being restored or verified');
      await removeBackup(parts, backup);
    },
    restoreBeside: (into, backup) => startBeside(parts, { into, backup, startTask }),
    beginSystem: (target) => startSystem(parts, target, startTask),
    adopt: () => adoptRows(parts, store, root),
    cancel: ({ name }) => tasks.cancel(name),
    async recover() {
      await reportCutOff(parts, store);
      for (const backup of await repository.running()) await endKilled(parts, backup);
    },
    start: loop.start,
    async stop() {
      // A tick may wait for the end of a task.
      await Promise.all([loop.stop(), tasks.stop()]);
    },
  };
}

type TaskWork = (signal: AbortSignal, started: () => void) => Promise<void>;

/**
 * Removes what a killed server has left, once. It must not come while a task runs, whose containers
 * have the same labels.
 */
function createCleaner(parts: BackupParts): () => Promise<void> {
  let cleaned: Promise<void> | undefined;
  return () =>
    (cleaned ??= removeLeftovers(parts).catch((error: unknown) => {
      cleaned = undefined;
      throw error;
    }));
}

/** Runs work in the background, and returns when it has started. */
function createTaskStarter(
  { core }: BackupParts,
  tasks: ReturnType<typeof createOperations>,
  clean: () => Promise<void>,
) {
  const report = (what: string) => (error: unknown) => {
    if (error instanceof AppError) core.log.warn(`${what} failed: ${messageOf(error)}`);
    else core.log.error({ stack: (error as Error).stack }, `${what} failed`);
  };
  return (subject: string, kind: string, work: TaskWork): Promise<StartedWork> =>
    new Promise((resolve, reject) => {
      let begun = false;
      const done: Promise<void> = tasks.run(subject, kind, async (signal) => {
        // `done` exists only after this function has returned.
        await Promise.resolve();
        // A backup of the server itself needs no engine, and what cannot be removed hinders no task.
        if (core.connection.info() !== null) await clean().catch(report('cleaning up'));
        await work(signal, () => {
          begun = true;
          resolve({ done });
        });
      });
      done.catch((error: unknown) =>
        begun ? report(`${subject}: the ${kind}`)(error) : reject(error as Error),
      );
    });
}

type StartTask = ReturnType<typeof createTaskStarter>;

/** One app after the other, so that a host with many is not overrun. */
async function bringBackAll(
  parts: BackupParts,
  store: HostingStore,
  startTask: StartTask,
): Promise<void> {
  for (const id of Object.keys(await waitingApps(store))) {
    const app = parts.core.apps.byId(id);
    if (!app) continue;
    const { done } = await startTask(app.name, 'restore', async (signal, started) => {
      started();
      await bringBack(parts, store, { app, signal });
    });
    // Its reason was logged, and is in the app's `error`.
    await done.catch(() => {});
  }
}

async function startBeside(
  parts: BackupParts,
  { into, backup, startTask }: { into: string; backup: StoredBackup; startTask: StartTask },
): Promise<StartedWork> {
  const { core } = parts;
  assertDone(backup);
  core.connection.engine();
  if (core.apps.all().some(({ name }) => name === into))
    throw failure.conflict('App with this name already exists');
  return startTask(into, 'restore', async (signal, started) => {
    started();
    await whileInUse(parts, backup, () => restoreBeside(parts, { into, backup, signal }));
  });
}

async function startSystem(
  parts: SystemParts,
  target: string,
  startTask: StartTask,
): Promise<StartedWork & { readonly backup: StoredBackup }> {
  assertCanBackUp(parts);
  let backup: StoredBackup | undefined;
  const { done } = await startTask(SYSTEM, 'backup', async (signal, started) => {
    backup = await recordBackup(parts, null, target);
    started();
    await announced(parts, backup, () => makeSystemBackup(parts, { backup: backup!, signal }));
  });
  return { backup: backup!, done };
}

/** @throws AppError 409 for a backup that cannot be restored. */
export function assertDone({ id, status }: StoredBackup): void {
  if (status !== 'done')
    throw failure.conflict(`Backup ${id} is ${status}: choose one that is done`);
}

/** What cannot start is logged: the others of this look must not miss their time. */
async function startDue(
  parts: BackupParts,
  { name, kind }: Due,
  { begin, verify }: Pick<Backups, 'begin' | 'verify'>,
): Promise<void> {
  const { core } = parts;
  const app = core.apps.all().find((each) => each.name === name);
  if (!app || app.deployment === null) return;
  const work =
    kind === 'schedule' ? beginScheduled(parts, app, begin) : verifyNewest(parts, app, verify);
  await work.catch((error: unknown) =>
    core.log.warn(`${name}: the ${kind} of its backups does not start: ${messageOf(error)}`),
  );
}

/** Whether a scheduled task has to wait. One that stops its app waits for deployments too. */
function isBusy(
  { core }: BackupParts,
  tasks: ReturnType<typeof createOperations>,
  { id, name, spec }: HostedApp,
  kind: Due['kind'],
): boolean {
  if (tasks.running(name) !== undefined) return true;
  const stops = kind === 'schedule' && backupRulesOf(spec.backup).stop;
  return stops && core.operations.running(id) !== undefined;
}

/** Sends the events of a backup, which notifications are made of. */
async function announced(
  parts: BackupParts,
  backup: StoredBackup,
  work: () => Promise<void>,
): Promise<void> {
  const { core } = parts;
  const { app, id } = backup;
  core.events.emit('backup', { app, backup: id, status: 'running' });
  try {
    await work();
  } catch (error) {
    await endFailed(parts, backup, error);
    core.events.emit('backup', { app, backup: id, status: 'failed', error: messageOf(error) });
    throw error;
  }
  core.events.emit('backup', { app, backup: id, status: 'done' });
}

/**
 * A scheduled backup that cannot start has a record too, and is reported as any other that fails: its
 * target may have been removed since. An engine or a server that is away is reported by itself.
 */
async function beginScheduled(
  parts: BackupParts,
  app: HostedApp,
  begin: Backups['begin'],
): Promise<void> {
  try {
    await begin(app);
  } catch (error) {
    const { status } = error as Partial<AppError>;
    if (status !== 503 && status !== 409) await recordRefused(parts, app, error);
    throw error;
  }
}

async function verifyNewest(
  { repository }: BackupParts,
  app: HostedApp,
  verify: Backups['verify'],
): Promise<void> {
  const newest = (await repository.list(app.name)).find(({ status }) => status === 'done');
  if (newest && (isGood(newest) || newest.verified_at === null)) await verify(app, newest);
}

/** Ends the record of a backup that was cut off, and removes its bytes. */
async function endKilled(
  { core, repository, targets }: BackupParts,
  { id, target, object, attempt }: StoredBackup,
): Promise<void> {
  const finished_at = new Date(core.now()).toISOString();
  try {
    const opened = await targets.open(target);
    await opened.discard(object, attempt);
    // The object may be complete, if the server was killed before it could say so.
    await opened.remove(object);
    const error = 'The server stopped during this backup';
    await repository.update(id, { status: 'failed', error, attempt: null, finished_at });
  } catch (failed) {
    core.log.warn(`the bytes of backup ${id} are left in ${target}: ${messageOf(failed)}`);
    const error = `The server stopped during this backup. Its bytes are left: ${messageOf(failed)}`;
    await repository.update(id, { status: 'failed', error, finished_at });
  }
}

/** Removes containers, networks and volumes of drills that were cut off. */
async function removeLeftovers({ core }: BackupParts): Promise<void> {
  const engine = core.connection.engine();
  const labels = taskLabels(core);
  for (const container of await engine.list(labels))
    if (container.labels[LABELS.task] !== undefined) await engine.remove(container.id);
  await engine.removeLabelled(labels);
}
