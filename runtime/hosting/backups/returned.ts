import type { Db, HostingStore } from '../records/tables.ts';
import { randomBytes } from 'node:crypto';
import { AppError } from '@twofold/runtime/errors';
import type { HostedApp } from '../records/app.ts';
import type { StoredBackup } from '../records/backup-repository.ts';
import { backupRulesOf } from '../records/backup-rules.ts';
import { createIngressRecords, createSettingsTable } from '../records/settings-table.ts';
import { deployFilled, pulledImage, startFilled } from './beside.ts';
import { type HostMark, readMark, removeMark } from './host-restore.ts';
import { assertFits } from './restore.ts';
import { isGood, type BackupParts, checkBackup, measureObject, messageOf } from './stored.ts';

/** In the settings: the apps whose data is not back yet, and whether each one is to run. */
const WAITING = 'host-restore';

type Waiting = Readonly<Record<string, HostedApp['desired']>>;

/**
 * Makes the rows of another host those of this one, if `generator host restore` has written them.
 * Called before anything reads them: the apps wait for their data, and backups that ran on the
 * other host belong to it.
 */
export async function adoptRows(
  { store, targets }: Pick<BackupParts, 'store' | 'targets'>,
  root: string,
): Promise<void> {
  const mark = await readMark(root);
  if (!mark) return;
  const { db } = store;
  const found = await db
    .selectFrom('hosting_backups')
    .select('id')
    .where('object', '=', mark.object)
    .where('status', '=', 'running')
    .executeTakeFirst();
  if (found) {
    const name = await adoptTarget(targets, mark);
    await store.transaction((trx) => writeAdopted(trx, name, mark));
  }
  await removeMark(root);
}

/** Keeps how the target is reached from here. @returns its name. */
async function adoptTarget(
  targets: BackupParts['targets'],
  { fields, target }: HostMark,
): Promise<string> {
  const local = fields.kind === 'local';
  if (local && targets.isLocal(fields.path)) return 'local';
  const name = target === 'local' || local ? 'restored' : target;
  await targets.put(name, fields);
  return name;
}

async function writeAdopted(db: Db, name: string, { target }: HostMark): Promise<void> {
  const rows = await db
    .selectFrom('hosting_apps')
    .select(['id', 'desired'])
    .where('deployment', 'is not', null)
    .execute();
  const waiting = Object.fromEntries(rows.map(({ id, desired }) => [id, desired]));
  await createSettingsTable({ db }).set(WAITING, JSON.stringify(waiting));
  await createIngressRecords({ db }).remove();
  await db
    .updateTable('hosting_apps')
    .set({ desired: 'stopped', status: 'stopped', error: 'Its data is being restored' })
    .where('deployment', 'is not', null)
    .execute();
  await db.deleteFrom('hosting_backups').where('status', '=', 'running').execute();
  await db
    .updateTable('hosting_backups')
    .set({ target: name })
    .where('target', '=', target)
    .execute();
}

/** The ids of the apps whose data is not back yet. */
export async function waitingApps(store: Pick<HostingStore, 'db'>): Promise<Waiting> {
  return JSON.parse((await createSettingsTable(store).get(WAITING)) ?? '{}') as Waiting;
}

/**
 * Restores an app of another host: its image, the data of its newest good backup, and whether it
 * runs. An app whose data is not found stays stopped, and says so.
 */
export async function bringBack(
  parts: BackupParts,
  { app, signal }: { readonly app: HostedApp; readonly signal: AbortSignal },
): Promise<void> {
  const desired = (await waitingApps(parts.store))[app.id];
  try {
    const backup = hasData(app) ? await newestBackup(parts, app) : null;
    if (backup) assertFits(app, await checkBackup(parts, backup));
    const before = await parts.deployments.serving(app);
    const prepare = pulledImage(parts, before.image ?? app.spec.image);
    await deployFilled(parts, app, { prepare, source: before.source, backup, signal });
    if (desired === 'running') await startFilled(parts, app.id);
    parts.log.info(`${app.name} is back${backup ? `, with the data of backup ${backup.id}` : ''}`);
  } catch (error) {
    // The server stops: the next start tries again.
    if (signal.aborted) throw error;
    const why = `Its data was not restored: ${messageOf(error)}`;
    await parts.apps.update(app.id, { status: 'failed', desired: 'stopped', error: why });
    await forget(parts.store, app.id);
    throw error;
  }
  await forget(parts.store, app.id);
}

async function forget(store: Pick<HostingStore, 'db'>, id: string): Promise<void> {
  const { [id]: _done, ...rest } = await waitingApps(store);
  const settings = createSettingsTable(store);
  if (Object.keys(rest).length === 0) await settings.delete(WAITING);
  else await settings.set(WAITING, JSON.stringify(rest));
}

const hasData = ({ spec }: HostedApp) =>
  spec.volumes.length > 0 || backupRulesOf(spec.backup).dump !== null;

/**
 * The newest backup of an app that is good, as far as can be seen. One that was made after that of
 * the server has no row yet, and gets it.
 *
 * @throws AppError 404
 */
async function newestBackup(parts: BackupParts, { name, spec }: HostedApp): Promise<StoredBackup> {
  const rows = await parts.repository.list(name);
  const places = new Set([...rows.map(({ target }) => target), backupRulesOf(spec.backup).target]);
  const objects = await Promise.all([...places].map((target) => objectsIn(parts, target, name)));
  for (const found of objects.flat().toSorted((a, b) => (a.object < b.object ? 1 : -1))) {
    const row = rows.find(({ object }) => object === found.object);
    const backup = row ?? (await adoptObject(parts, name, found));
    if (backup && isGood(backup)) return backup;
  }
  throw new AppError(
    404,
    'BACKUP_MISSING',
    `No good backup of it was found in ${[...places].join(', ')}. Deploy it to start it without data`,
  );
}

type Found = Pick<StoredBackup, 'target' | 'object'>;

/** A target that was a folder of the other host has nothing here. */
async function objectsIn(parts: BackupParts, target: string, app: string): Promise<Found[]> {
  const { targets } = parts;
  try {
    const names = await (await targets.open(target)).list(`${parts.naming.instance}/${app}/`);
    return names.map((object) => ({ target, object }));
  } catch (error) {
    parts.log.warn(`the target ${target} cannot be looked at: ${messageOf(error)}`);
    return [];
  }
}

async function adoptObject(
  parts: BackupParts,
  app: string,
  found: Found,
): Promise<StoredBackup | null> {
  try {
    const { created_at, ...measured } = await measureObject(parts, found);
    const backup: StoredBackup = {
      id: idIn(found.object),
      app,
      ...found,
      status: 'done',
      ...measured,
      started_at: created_at,
      finished_at: created_at,
      verified_at: null,
      error: null,
      attempt: null,
    };
    await parts.repository.insert(backup);
    return backup;
  } catch (error) {
    parts.log.warn(`${found.object} is passed over: ${messageOf(error)}`);
    return null;
  }
}

/** The id at the end of the name of an object. */
const idIn = (object: string): string =>
  /-([0-9a-f]{16})\.tar$/.exec(object)?.[1] ?? randomBytes(8).toString('hex');
