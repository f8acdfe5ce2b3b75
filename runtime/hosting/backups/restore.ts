import { failure, AppError } from '@twofold/runtime/errors';
import { volumeName, listContainers } from '../host/containers.ts';
import { startInOperation, stopContainers, ensureReplicas } from '../deploy/lifecycle.ts';
import { idleRoute } from '../deploy/rollout.ts';
import type { HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup-repository.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { createSettingsTable } from '../records/settings-table.ts';
import type { Description } from './archive.ts';
import { archive, recordBackup } from './make.ts';
import { type BackupParts, checkBackup, messageOf, openBackup } from './stored.ts';
import type { Core } from '../host/core.ts';
import { assertSucceeded, runningContainer } from './sections.ts';
import { emptyVolume, withVolume } from './volumes.ts';

/**
 * Puts a backup in the place of an app's data: stop, back up what is there, restore, start. The
 * backup is read to its end before anything is changed. When it cannot be restored, what was there
 * comes back.
 *
 * @throws AppError with the reason, which is in the app's `error` too.
 */
export async function restoreApp(
  parts: BackupParts,
  { app, backup }: { readonly app: HostedApp; readonly backup: StoredBackup },
): Promise<void> {
  try {
    assertFits(app, await checkBackup(parts, backup));
    await parts.operations.run(app.id, 'restore', (signal) =>
      exchange(parts, { app, backup, signal }),
    );
  } catch (error) {
    const why = `Backup ${backup.id} was not restored: ${messageOf(error)}`;
    if (parts.apps.byId(app.id)) await parts.apps.update(app.id, { error: why });
    parts.events.emit('restore', {
      app: app.name,
      backup: backup.id,
      status: 'failed',
      error: why,
    });
    throw error;
  }
  parts.events.emit('restore', { app: app.name, backup: backup.id, status: 'done' });
}

/** @throws AppError 409 when the app has no place for what the backup contains. */
export function assertFits(
  { spec }: Pick<HostedApp, 'spec'>,
  { kind, volumes }: Description,
): void {
  const unknown = volumes.find((name) => !spec.volumes.some((volume) => volume.name === name));
  if (unknown !== undefined)
    throw failure.conflict(
      `The backup has the volume ${unknown}, and the app has not: add it first`,
    );
  if (kind === 'dump' && backupRulesOf(spec.backup).restore === null)
    throw failure.conflict('The backup is a dump, and the app has no backup.restore: set it first');
}

interface Exchange {
  readonly app: HostedApp;
  readonly backup: StoredBackup;
  readonly signal: AbortSignal;
}

async function exchange(parts: BackupParts, { app, backup, signal }: Exchange): Promise<void> {
  const settings = createSettingsTable(parts.store);
  // A server that is killed now must not start the app on half of its data.
  await settings.set(markOf(app.id), JSON.stringify({ backup: backup.id, before: null }));
  await parts.apps.update(app.id, { desired: 'stopped', status: 'stopped', error: null });
  parts.ingress.set(idleRoute(app, 'stopped'));
  let before: StoredBackup | null = null;
  try {
    await stopContainers(parts, app);
    before = await backUpVolumes(parts, app, signal);
    await settings.set(markOf(app.id), JSON.stringify({ backup: backup.id, before: before?.id }));
    await fillApp(parts, app, backup, signal);
  } catch (error) {
    if (before) await fillApp(parts, app, before, new AbortController().signal);
    throw error;
  } finally {
    await settings.delete(markOf(app.id));
    await startInOperation(parts, app.id, new AbortController().signal);
  }
}

/** The volumes as they are on the disk, also of an app with a dump: it may not run any more. */
async function backUpVolumes(
  parts: BackupParts,
  app: HostedApp,
  signal: AbortSignal,
): Promise<StoredBackup | null> {
  const { repository } = parts;
  const present = await presentVolumes(parts, app);
  if (present.length === 0) return null;
  const backup = await recordBackup(parts, app.name, backupRulesOf(app.spec.backup).target);
  const spec = { ...app.spec, volumes: present };
  await archive(parts, { ...app, spec }, { backup, signal });
  parts.log.info(`${app.name}: what was there before the restore is backup ${backup.id}`);
  return repository.get(app.name, backup.id);
}

/** A volume may be gone, which is the reason for many restores. */
async function presentVolumes(parts: BackupParts, app: HostedApp) {
  const engine = parts.connection.engine();
  const found = await Promise.all(
    app.spec.volumes.map(async (volume) => {
      const labels = await engine.volumeLabels(volumeName(parts, app, volume.name));
      return labels ? [volume] : [];
    }),
  );
  return found.flat();
}

const MARK = 'restore:';
const markOf = (appId: string) => `${MARK}${appId}`;

/** Says what is left of restores that were cut off. Their apps stay stopped. */
export async function reportCutOff(parts: BackupParts): Promise<void> {
  const settings = createSettingsTable(parts.store);
  for (const app of parts.apps.all()) {
    const mark = await settings.get(markOf(app.id));
    if (mark === undefined) continue;
    const { backup, before } = JSON.parse(mark) as { backup: string; before: string | null };
    const what = before === null ? '' : `, or ${before}, which is what was there before`;
    const error = `The server stopped while it restored backup ${backup}: restore it again${what}`;
    await parts.apps.update(app.id, { status: 'failed', desired: 'stopped', error });
    await settings.delete(markOf(app.id));
  }
}

/**
 * Replaces the data of an app by that of a backup. The app must be stopped, and is stopped
 * afterwards.
 *
 * @throws AppError when it cannot; the data is then in any state.
 */
export async function fillApp(
  parts: BackupParts,
  app: HostedApp,
  backup: StoredBackup,
  signal: AbortSignal,
): Promise<void> {
  await removeContainers(parts, app);
  const { parts: sections } = await openBackup(parts, backup);
  for await (const section of sections) {
    if (section.kind === 'volume') {
      const volume = await emptyVolume(parts, app, section.name);
      await withVolume(parts, volume, (files) => files.write(section.entries));
    } else if (section.kind === 'dump') await runRestore(parts, app, section.chunks, signal);
  }
}

/** Engines do not remove a volume that a container uses. */
async function removeContainers(core: Core, app: HostedApp): Promise<void> {
  const engine = core.connection.engine();
  for (const { id } of await listContainers(core, app)) await engine.remove(id);
}

/** Starts the app without data, and lets its `restore` command read the dump. */
async function runRestore(
  core: Core,
  app: HostedApp,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const { restore } = backupRulesOf(app.spec.backup);
  if (restore === null) throw failure.conflict('App has no backup.restore');
  for (const { name } of app.spec.volumes) await emptyVolume(core, app, name, { filled: false });
  const { reason } = await ensureReplicas(core, app, signal);
  if (reason !== null)
    throw new AppError(502, 'NOT_READY', `App did not become ready without data: ${reason}`);
  const id = await runningContainer(core, app);
  const command = await core.connection.engine().pipe(id, restore, { input: chunks, signal });
  for await (const _chunk of command.output);
  await assertSucceeded(command, app, 'restore');
  await stopContainers(core, app);
}
