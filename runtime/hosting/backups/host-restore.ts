import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Readable } from 'node:stream';
import { AppError } from '@twofold/runtime/errors';
import type { App } from '@twofold/runtime/kernel';
import { addSealingSecrets } from '../records/seal.ts';
import { type Description, openArchive, type SystemDescription } from './archive.ts';
import { decrypt, parseKey } from './cipher.ts';
import { wrongKey } from './failures.ts';
import { SYSTEM } from './make.ts';
import { parseTarget, createTarget, type TargetFields } from './targets/targets.ts';
import type { Target } from './targets/target.ts';

export interface HostRestoreInput {
  /** A folder, or `s3://bucket/prefix`. */
  readonly target: string;
  /** `BACKUP_KEY` of the server that made the backup. */
  readonly key: string;
  /** The variables with the key to a bucket. */
  readonly env?: Readonly<Record<string, string>>;
  /** Says what would be restored, and changes nothing. */
  readonly dryRun?: boolean;
}

export interface HostRestoreReport {
  /** The object in the target. */
  readonly backup: string;
  readonly created_at: string;
  readonly tables: number;
  readonly rows: number;
  /** The apps, with the newest backup of each in this target. */
  readonly apps: readonly {
    readonly name: string;
    readonly domain: string;
    readonly volumes: readonly string[];
    readonly backup: string | null;
  }[];
}

/**
 * Brings the database and the keys of a server back on an empty host, from the newest backup of a
 * server in the target, for `generator host restore`. The server restores the apps when it starts.
 *
 * @throws AppError `BACKUP_KEY_WRONG`, `BACKUP_DAMAGED`, `BACKUP_MISSING`, `HOST_NOT_EMPTY`
 */
export async function restoreHostApp(
  app: App,
  { target: given, key: text, env = {}, dryRun = false }: HostRestoreInput,
): Promise<HostRestoreReport> {
  const root = app.root ? fileURLToPath(app.root) : process.cwd();
  const key = parseKey(text);
  if (!key) throw wrongKey('the key must be 32 bytes in base64');
  const fields = parseTarget(given, env);
  const target = createTarget(fields);
  const names = await target.list('');
  const object = newestOf(names, given);
  const { description, system } = await check(target, object, key);
  const report = reportOf(object, { description, system }, names);
  if (dryRun) return report;
  const undo = addSealingSecrets(root, system.keys);
  const before = await readMark(root);
  await writeMark(root, { fields, object, target: system.target });
  try {
    await writeRows(app, { target, object, key }, system);
  } catch (error) {
    // A host that was restored a moment ago, and whose server has not started yet, keeps its mark.
    await (before ? writeMark(root, before) : removeMark(root));
    undo();
    throw error;
  }
  return report;
}

/** Names of objects sort by time; those of different installations do not, so one must be chosen. */
function newestOf(names: readonly string[], given: string): string {
  const found = names.filter((name) => name.split('/')[1] === SYSTEM);
  const installations = new Set(found.map((name) => name.split('/')[0]));
  if (installations.size > 1)
    throw new AppError(
      409,
      'BACKUP_AMBIGUOUS',
      `${given} has backups of ${installations.size} servers (${[...installations].join(', ')}): copy those of one of them into a target of their own`,
    );
  const newest = found.toSorted().at(-1);
  if (newest !== undefined) return newest;
  throw new AppError(
    404,
    'BACKUP_MISSING',
    `${given} has no backup of a server: make one with POST /api/system/backups`,
  );
}

interface Opened {
  readonly description: Description;
  readonly system: SystemDescription;
}

/** Reads all bytes, so that nothing is written of a backup that is damaged. */
async function check(target: Target, object: string, key: Buffer): Promise<Opened> {
  const { description, parts: sections } = await open(target, object, key);
  for await (const _section of sections);
  return { description, system: description.system as SystemDescription };
}

const open = (target: Target, object: string, key: Buffer) =>
  openArchive(decrypt(target.get(object), key, { demanded: true }));

function reportOf(
  backup: string,
  { description, system: { instance, head, apps } }: Opened,
  names: readonly string[],
): HostRestoreReport {
  const newest = (app: string) =>
    names.filter((name) => name.startsWith(`${instance}/${app}/`)).toSorted();
  return {
    backup,
    created_at: description.created_at,
    tables: head.tables.length,
    rows: head.tables.reduce((sum, { rows }) => sum + rows, 0),
    apps: apps.map(({ name, domain, volumes }) => ({
      name,
      domain,
      volumes,
      backup: newest(name).at(-1) ?? null,
    })),
  };
}

async function writeRows(
  app: App,
  { target, object, key }: { target: Target; object: string; key: Buffer },
  { head }: SystemDescription,
): Promise<void> {
  const { parts: sections } = await open(target, object, key);
  const channel = Readable.from(dumpOf(sections, head));
  try {
    const { openDatabase } = await import('@twofold/database');
    const { ok } = await openDatabase(app).restore({}, { channel });
    if (!ok) throw new AppError(500, 'TARGET_DIFFERS', 'the rows differ after they were written');
  } catch (error) {
    throw (error as AppError).code === 'TARGET_HAS_ROWS' ? notEmpty(error as AppError) : error;
  } finally {
    channel.destroy();
  }
}

const notEmpty = (cause: AppError) =>
  new AppError(
    409,
    'HOST_NOT_EMPTY',
    `this host is not empty: ${cause.message.split(';')[0]}. Nothing was changed.\n   fix  restore where no server has started yet, or stop this one and give DATABASE_URL an empty database`,
    { cause },
  );

type Sections = Awaited<ReturnType<typeof openArchive>>['parts'];

/** The dump as `restore` reads it: with the hashes of its tables in the head. */
async function* dumpOf(sections: Sections, head: object): AsyncGenerator<Buffer> {
  yield Buffer.from(`\x1e${JSON.stringify({ head })}\n`);
  for await (const section of sections) if (section.kind === 'dump') yield* section.chunks;
}

/**
 * What the command tells the server that starts next. It is a file, because it must be there before
 * the first row is: a server on the rows alone would start the apps on empty volumes.
 */
export interface HostMark {
  readonly fields: TargetFields;
  /** The name that the target had on the other host. */
  readonly target: string;
  /**
   * The backup that was restored. Its own row in the dump says that it still runs, which tells
   * these rows from those of a server that made the backup itself.
   */
  readonly object: string;
}

const markOf = (root: string) => join(root, 'data/host-restore.json');

async function writeMark(root: string, mark: HostMark): Promise<void> {
  await mkdir(dirname(markOf(root)), { recursive: true });
  await writeFile(markOf(root), JSON.stringify(mark), { mode: 0o600 });
}

/** @returns null when no host was restored here. */
export async function readMark(root: string): Promise<HostMark | null> {
  const text = await readFile(markOf(root), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as HostMark);
}

export const removeMark = (root: string): Promise<void> => rm(markOf(root), { force: true });
