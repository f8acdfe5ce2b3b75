import { AppError, failure } from '@twofold/runtime/errors';
import type { Core } from '../core.ts';
import { listContainers } from '../deploy/containers.ts';
import { ensureReplicas, stopContainers } from '../deploy/lifecycle.ts';
import type { HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { assertSucceeded, runningContainer } from './sections.ts';
import { type BackupParts, openBackup } from './stored.ts';
import { emptyVolume, withVolume } from './volumes.ts';

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
  const { core } = parts;
  await removeContainers(core, app);
  const { parts: sections } = await openBackup(parts, backup);
  for await (const section of sections) {
    if (section.kind === 'volume') {
      const volume = await emptyVolume(core, app, section.name);
      await withVolume(core, volume, (files) => files.write(section.entries));
    } else if (section.kind === 'dump') await runRestore(core, app, section.chunks, signal);
  }
}

/** Engines do not remove a volume that a container uses. */
async function removeContainers(core: Core, app: HostedApp): Promise<void> {
  const engine = core.connection.engine();
  for (const { id } of await listContainers(engine, core.naming, app)) await engine.remove(id);
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
