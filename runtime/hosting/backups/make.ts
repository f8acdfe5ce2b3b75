import { randomBytes } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';
import type { Core } from '../host/core.ts';
import { startInOperation, stopContainers } from '../deploy/lifecycle.ts';
import { idleRoute } from '../deploy/rollout.ts';
import type { HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup-repository.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import {
  removeOutdated,
  type BackupParts,
  type BackupWork,
  messageOf,
  storeBackup,
} from './stored.ts';
import { describeApp, dumpSection, volumeSections } from './sections.ts';

/**
 * Creates the record of a backup that has started. Names of objects sort by time, so that the newest
 * one of an app can be found in a target alone.
 */
export async function recordBackup(
  parts: BackupParts,
  app: string | null,
  target: string,
): Promise<StoredBackup> {
  const { repository, targets } = parts;
  await targets.open(target);
  const backup = newRecord(parts, app, target);
  await repository.insert(backup);
  return backup;
}

function newRecord(core: Core, app: string | null, target: string): StoredBackup {
  const started_at = new Date(core.now()).toISOString();
  const id = randomBytes(8).toString('hex');
  const time = started_at.replace(/[-:.]/g, '');
  return {
    id,
    app,
    target,
    status: 'running',
    bytes: null,
    sha256: null,
    started_at,
    finished_at: null,
    verified_at: null,
    error: null,
    attempt: null,
    object: `${core.naming.instance}/${app ?? SYSTEM}/${time}-${id}.tar`,
  };
}

/** Records a backup that could not start, and sends its event. */
export async function recordRefused(
  parts: BackupParts,
  { name, spec }: HostedApp,
  reason: unknown,
): Promise<void> {
  const { repository } = parts;
  const { target, keep } = backupRulesOf(spec.backup);
  const record = newRecord(parts, name, target);
  const error = messageOf(reason);
  const finished_at = record.started_at;
  await repository.insert({ ...record, status: 'failed', error, finished_at });
  parts.events.emit('backup', { app: name, backup: record.id, status: 'failed', error });
  await removeOutdated(parts, name, keep);
}

/** Ends the record of a backup that failed before anything of it was stored. */
export async function endFailed(
  parts: BackupParts,
  { app, id }: StoredBackup,
  reason: unknown,
): Promise<void> {
  const { repository } = parts;
  const { status } = await repository.get(app, id);
  if (status !== 'running') return;
  const finished_at = new Date(parts.now()).toISOString();
  await repository.update(id, { status: 'failed', error: messageOf(reason), finished_at });
}

/** The folder of the server's own backups in a target. No app has this name. */
export const SYSTEM = '_system';

/** @throws AppError 400 for an app that has nothing to back up. */
export function assertHasData({ spec }: HostedApp): void {
  if (spec.volumes.length > 0 || backupRulesOf(spec.backup).dump !== null) return;
  throw failure.badRequest('App has no volume and no backup.dump: there is nothing to back up');
}

/** Makes a backup as the app's rules say, then removes those that are not kept any more. */
export async function makeBackup(
  parts: BackupParts,
  app: HostedApp,
  { backup, signal }: BackupWork,
): Promise<void> {
  const rules = backupRulesOf(app.spec.backup);
  try {
    if (rules.dump !== null) await store(parts, app, 'dump', { backup, signal });
    else if (!rules.stop || app.desired === 'stopped')
      await archive(parts, app, { backup, signal });
    else
      await parts.operations.run(app.id, 'backup', (stopped) =>
        whileStopped(parts, app, () => archive(parts, app, { backup, signal: stopped })),
      );
  } finally {
    await removeOutdated(parts, app.name, rules.keep);
  }
}

/** Archives the app's volumes as they are now. */
export async function archive(
  parts: BackupParts,
  app: HostedApp,
  making: BackupWork,
): Promise<void> {
  await store(parts, app, 'volumes', making);
}

async function store(
  parts: BackupParts,
  app: HostedApp,
  kind: 'volumes' | 'dump',
  { backup, signal }: BackupWork,
): Promise<void> {
  const seal = (text: string) => parts.seal.seal(text, aboutBackup(app.name));
  const description = await describeApp(parts, app, { kind, seal });
  const sections = kind === 'dump' ? dumpSection(parts, app, signal) : volumeSections(parts, app);
  await storeBackup(parts, backup, { description, sections, signal });
}

/** What the values of an app in its backup are sealed for. */
export const aboutBackup = (app: string) => `backup:${app}`;

/**
 * Stops the app's containers for the time of `work`. What the app should be stays `running`, so a
 * server that is killed meanwhile starts it again.
 */
async function whileStopped(
  parts: BackupParts,
  app: HostedApp,
  work: () => Promise<void>,
): Promise<void> {
  await parts.apps.update(app.id, { status: 'stopped' });
  parts.ingress.set(idleRoute(app, 'holding'));
  try {
    await stopContainers(parts, app);
    await work();
  } finally {
    await startInOperation(parts, app.id, new AbortController().signal).catch((error: unknown) =>
      parts.log.error(`${app.name} does not start after its backup: ${messageOf(error)}`),
    );
  }
}
