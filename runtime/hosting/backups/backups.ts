import { resolve } from 'node:path';
import { AppError, failure } from '@twofold/runtime/errors';
import type { Kernel } from '@twofold/runtime/kernel';
import { createBackupRepository, type StoredBackup } from '../records/backup-repository.ts';
import { sealingSecrets } from '../records/seal.ts';
import { backupKey } from './cipher.ts';
import { createTargets } from './targets/targets.ts';
import { LABELS } from '../host/containers.ts';
import { createOperations } from '../host/operations.ts';
import { createLoop } from '../host/loop.ts';
import { deploymentNumber, type HostedApp } from '../records/app.ts';
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

export function createBackups(
  { store, settings, root, dumpDatabase }: Kernel,
  made: Omit<BackupParts, 'store' | 'repository' | 'targets' | 'key' | 'inUse'>,
): Backups {
  const parts: SystemParts = {
    ...made,
    store,
    key: backupKey(settings),
    inUse: new Set(),
    dumpDatabase,
    secrets: sealingSecrets(settings, root),
    repository: createBackupRepository(store),
    targets: createTargets(store, made.seal, resolve(root, made.model.backups.directory)),
  };
  /** By the name of the app, as records outlive apps. */
  const tasks = createOperations();
  const clean = createCleaner(parts);
  const startTask = createTaskStarter(parts, tasks, clean);
  const schedule = createSchedule(parts.now, (app, kind) => isBusy(parts, tasks, app, kind));
  const begin: Backups['begin'] = (app) => startBackup(parts, startTask, app);
  const verify: Backups['verify'] = (app, backup) => startDrill(parts, startTask, { app, backup });
  const loop = createLoop({
    pause: () => TICK,
    async work() {
      if (parts.connection.info() === null) return;
      await clean();
      await bringBackAll(parts, startTask);
      for (const due of schedule.due(parts.apps.all()))
        await startDue(parts, due, { begin, verify });
    },
    onError: (error) => parts.log.warn(`backups: ${error.message}`),
  });
  return {
    parts,
    begin,
    verify,
    restore: (app, backup) => startRestore(parts, startTask, { app, backup }),
    async remove(backup) {
      if (backup.status === 'running') throw failure.conflict('The backup is still running');
      if (isInUse(parts, backup))
        throw failure.conflict('The backup is being restored or verified');
      await removeBackup(parts, backup);
    },
    restoreBeside: (into, backup) => startBeside(parts, startTask, { into, backup }),
    beginSystem: (target) => startSystem(parts, startTask, target),
    adopt: () => adoptRows(parts, root),
    cancel: ({ name }) => tasks.cancel(name),
    async recover() {
      await reportCutOff(parts);
      for (const backup of await parts.repository.running()) await endKilled(parts, backup);
    },
    start: loop.start,
    async stop() {
      // A tick may wait for the end of a task.
      await Promise.all([loop.stop(), tasks.stop()]);
    },
  };
}

interface OfBackup {
  readonly app: HostedApp;
  readonly backup: StoredBackup;
}

async function startBackup(parts: BackupParts, startTask: StartTask, app: HostedApp) {
  assertHasData(app);
  parts.connection.engine();
  const record = () => recordBackup(parts, app.name, backupRulesOf(app.spec.backup).target);
  return startRecorded(parts, startTask, {
    subject: app.name,
    record,
    work: (backup, signal) => makeBackup(parts, app, { backup, signal }),
  });
}

async function startSystem(parts: SystemParts, startTask: StartTask, target: string) {
  assertCanBackUp(parts);
  return startRecorded(parts, startTask, {
    subject: SYSTEM,
    record: () => recordBackup(parts, null, target),
    work: (backup, signal) => makeSystemBackup(parts, { backup, signal }),
  });
}

interface RecordedWork {
  readonly subject: string;
  readonly record: () => Promise<StoredBackup>;
  readonly work: (backup: StoredBackup, signal: AbortSignal) => Promise<void>;
}

/** Starts a backup, whose record is there when it returns. */
async function startRecorded(
  parts: BackupParts,
  startTask: StartTask,
  { subject, record, work }: RecordedWork,
): Promise<StartedWork & { readonly backup: StoredBackup }> {
  const recorded = Promise.withResolvers<StoredBackup>();
  const { done } = await startTask(subject, 'backup', async (signal, started) => {
    const backup = await record();
    recorded.resolve(backup);
    started();
    await announced(parts, backup, () => work(backup, signal));
  });
  return { backup: await recorded.promise, done };
}

async function startDrill(parts: BackupParts, startTask: StartTask, { app, backup }: OfBackup) {
  assertDone(backup);
  parts.connection.engine();
  return startTask(app.name, 'drill', async (signal, started) => {
    started();
    await whileInUse(parts, backup, () => drill(parts, app, { backup, signal }));
  });
}

async function startRestore(parts: BackupParts, startTask: StartTask, { app, backup }: OfBackup) {
  assertDone(backup);
  parts.connection.engine();
  deploymentNumber(app);
  return startTask(app.name, 'restore', async (_signal, started) => {
    started();
    await whileInUse(parts, backup, () => restoreApp(parts, { app, backup }));
  });
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
  parts: BackupParts,
  tasks: ReturnType<typeof createOperations>,
  clean: () => Promise<void>,
) {
  const report = (what: string) => (error: unknown) => {
    if (error instanceof AppError) parts.log.warn(`${what} failed: ${messageOf(error)}`);
    else parts.log.error({ stack: (error as Error).stack }, `${what} failed`);
  };
  return (subject: string, kind: string, work: TaskWork): Promise<StartedWork> =>
    new Promise((resolve, reject) => {
      let begun = false;
      const done: Promise<void> = tasks.run(subject, kind, async (signal) => {
        // `done` exists only after this function has returned.
        await Promise.resolve();
        // A backup of the server itself needs no engine, and what cannot be removed hinders no task.
        if (parts.connection.info() !== null) await clean().catch(report('cleaning up'));
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
async function bringBackAll(parts: BackupParts, startTask: StartTask): Promise<void> {
  for (const id of Object.keys(await waitingApps(parts.store))) {
    const app = parts.apps.byId(id);
    if (!app) continue;
    const { done } = await startTask(app.name, 'restore', async (signal, started) => {
      started();
      await bringBack(parts, { app, signal });
    });
    // Its reason was logged, and is in the app's `error`.
    await done.catch(() => {});
  }
}

async function startBeside(
  parts: BackupParts,
  startTask: StartTask,
  { into, backup }: { readonly into: string; readonly backup: StoredBackup },
) {
  assertDone(backup);
  parts.connection.engine();
  if (parts.apps.all().some(({ name }) => name === into))
    throw failure.conflict('App with this name already exists');
  return startTask(into, 'restore', async (signal, started) => {
    started();
    await whileInUse(parts, backup, () => restoreBeside(parts, { into, backup, signal }));
  });
}

/** @throws AppError 409 for a backup that cannot be restored. */
function assertDone({ id, status }: StoredBackup): void {
  if (status !== 'done')
    throw failure.conflict(`Backup ${id} is ${status}: choose one that is done`);
}

/** What cannot start is logged: the others of this look must not miss their time. */
async function startDue(
  parts: BackupParts,
  { name, kind }: Due,
  { begin, verify }: Pick<Backups, 'begin' | 'verify'>,
): Promise<void> {
  const app = parts.apps.all().find((each) => each.name === name);
  if (!app || app.deployment === null) return;
  const work =
    kind === 'schedule' ? beginScheduled(parts, app, begin) : verifyNewest(parts, app, verify);
  await work.catch((error: unknown) =>
    parts.log.warn(`${name}: the ${kind} of its backups does not start: ${messageOf(error)}`),
  );
}

/** Whether a scheduled task has to wait. One that stops its app waits for deployments too. */
function isBusy(
  parts: BackupParts,
  tasks: ReturnType<typeof createOperations>,
  { id, name, spec }: HostedApp,
  kind: Due['kind'],
): boolean {
  if (tasks.running(name) !== undefined) return true;
  const stops = kind === 'schedule' && backupRulesOf(spec.backup).stop;
  return stops && parts.operations.running(id) !== undefined;
}

/** Sends the events of a backup, which notifications are made of. */
async function announced(
  parts: BackupParts,
  backup: StoredBackup,
  work: () => Promise<void>,
): Promise<void> {
  const { app, id } = backup;
  parts.events.emit('backup', { app, backup: id, status: 'running' });
  try {
    await work();
  } catch (error) {
    await endFailed(parts, backup, error);
    parts.events.emit('backup', { app, backup: id, status: 'failed', error: messageOf(error) });
    throw error;
  }
  parts.events.emit('backup', { app, backup: id, status: 'done' });
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
  parts: BackupParts,
  { id, target, object, attempt }: StoredBackup,
): Promise<void> {
  const { repository, targets } = parts;
  const finished_at = new Date(parts.now()).toISOString();
  try {
    const opened = await targets.open(target);
    await opened.discard(object, attempt);
    // The object may be complete, if the server was killed before it could say so.
    await opened.remove(object);
    const error = 'The server stopped during this backup';
    await repository.update(id, { status: 'failed', error, attempt: null, finished_at });
  } catch (failed) {
    parts.log.warn(`the bytes of backup ${id} are left in ${target}: ${messageOf(failed)}`);
    const error = `The server stopped during this backup. Its bytes are left: ${messageOf(failed)}`;
    await repository.update(id, { status: 'failed', error, finished_at });
  }
}

/** Removes containers, networks and volumes of drills that were cut off. */
async function removeLeftovers(parts: BackupParts): Promise<void> {
  const engine = parts.connection.engine();
  const labels = taskLabels(parts);
  for (const container of await engine.list(labels))
    if (container.labels[LABELS.task] !== undefined) await engine.remove(container.id);
  await engine.removeLabelled(labels);
}
