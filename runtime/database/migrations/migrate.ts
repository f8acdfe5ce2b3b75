import { first, lookUp } from '@twofold/schema';
import { join } from 'node:path';
import type { Transaction } from 'kysely';
import { AppError } from '@twofold/runtime/errors';
import {
  type AppliedMigration,
  columnsOf,
  hashOf,
  isDraft,
  type Ledger,
  type Migration,
  noteRenamed,
  noteUndo,
  ownerOf,
  prepareLedger,
  readLedger,
  type Store,
} from '@twofold/runtime/store';
import type { MigrationSettings } from '@twofold/schema';
import { applyPending } from '../online/apply-pending.ts';
import { recordMigration } from '../plan/record.ts';
import { presentBaseline, recordBaseline } from './adopt-baseline.ts';
import { applyAll, type ApplyOptions } from './apply-migrations.ts';
import { differences, record } from './baseline.ts';
import type { Drift } from './drift.ts';
import { type Following, type FollowOptions, planFollowing, rewrittenDraft } from './follow.ts';
import { assertSound, compareLedger, type LedgerState } from './ledger-state.ts';
import { DEFAULT_MIGRATION_SETTINGS } from './migrated.ts';
import { createRescue, type Rescue } from './rescue.ts';
import { rewrite, type Rewriting, TRANSITIONS, transitionsBetween } from './rewrite-draft.ts';
import { undosOf } from './scratch.ts';
import { noteSquashed, squashedBy, withSquashed } from './squashed.ts';
import { undoAll } from './undo-migrations.ts';

/** What a run did besides applying migrations. */
export type MigrationNote = (done: 'undone' | 'rescued', name: string) => void;

export interface MigrateOptions {
  /** Columns that may lose part of their values in this run: `posts.rating`. */
  readonly allowLoss?: readonly string[];
  /** The settings of migrations on PostgreSQL. */
  readonly settings?: MigrationSettings | undefined;
  /** Called after each step, with its time. */
  readonly onStep?: ApplyOptions['onStep'];
  readonly onPrepared?: ApplyOptions['onPrepared'];
  /**
   * Undoes applied migrations that the files no longer have: for databases that are not guarded.
   */
  readonly follow?: FollowOptions & {
    /** Folder of the project: what is dropped is written to files there first. */
    readonly root: string;
    readonly note?: MigrationNote;
    /** Folder with further steps between drafts, of one that is not written yet. */
    readonly transitions?: string;
  };
  /** False to try the migrations out, and to roll back. */
  readonly keep?: boolean;
  /** Whether a draft is refused, because only saved migrations come to a guarded database. */
  readonly guarded?: boolean;
}

/**
 * Applies pending migrations, oldest first, in one transaction: all of them or none. Rows that
 * prevent any of them are found before anything is kept. When two servers start at once, one
 * migrates and the other waits.
 *
 * @returns the names of the applied migrations.
 * @throws AppError `MIGRATION_CHANGED` when an applied one has another text now,
 * `MIGRATION_MISSING` when its file is gone, `ROWS_IN_THE_WAY`, `MIGRATION_NEEDS_CONSENT`,
 * `MIGRATION_FAILED`. The database is unchanged then.
 */
export async function migrate(
  store: Store,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const { follow, guarded = false, keep = true } = options;
  if (migrations.length === 0 && !follow) return [];
  return store.lock('migrations', async () => {
    const ledger = await readLedger(store.db);
    const squashed = squashedBy(ledger, migrations);
    const known = withSquashed(ledger, squashed);
    const following = follow ? planFollowing(known, migrations, follow) : NOTHING;
    if (following.unrelated) {
      await adopt(store, { ledger, migrations, keep }, following.unrelated);
      return [];
    }
    const after = withoutUndone(known, following);
    const { pending: fresh, partial } = assertSound(compareLedger(after, migrations));
    const pending = [...fresh, ...partial].sort();
    const due = migrations.filter(({ name }) => pending.includes(name));
    if (guarded) refuseDrafts(due);
    const present = await presentBaseline(store, due);
    const waiting = due.filter((each) => each !== present);
    await assertEmptyFor(store, waiting, ledger);
    if (present && keep) await recordBaseline(store, present, ledger);
    if (keep) await recordEarlier(store, after, migrations);
    await applyWaiting(store, { following, migrations, squashed, waiting }, options);
    return [...pending];
  });
}

interface Waiting {
  readonly following: Following;
  readonly migrations: readonly Migration[];
  readonly squashed: ReturnType<typeof squashedBy>;
  /** What is not applied yet. */
  readonly waiting: readonly Migration[];
}

/** Makes the database what the files say, in one transaction: first what they no longer have. */
async function applyWaiting(
  store: Store,
  { following, migrations, squashed, waiting }: Waiting,
  options: MigrateOptions,
): Promise<void> {
  const { allowLoss = [], follow, settings = DEFAULT_MIGRATION_SETTINGS, keep = true } = options;
  const { undo, renamed } = following;
  const follows = undo.length + renamed.length + squashed.length > 0;
  const rewriting = follow && (await rewritingOf(follow, following, waiting));
  const rescue = follow && createRescue(follow.root);
  const before = async (trx: Transaction<any>) => {
    for (const each of squashed) await noteSquashed(trx, each);
    if (rewriting) await rewrite({ store, trx, rescue, keep }, rewriting);
    else await followFiles(store, { trx, following, migrations, rescue });
  };
  // What has to be applied after an undo is known only when the undo is done.
  const apply = undo.length === 0 && !rewriting ? applyPending : applyAll;
  const rest = waiting.filter((each) => each !== rewriting?.file);
  if (waiting.length > 0 || follows)
    await apply(store, rest, {
      settings,
      allowLoss,
      keep,
      ...(follows && { before }),
      rescue: keep ? rescue : undefined,
      onStep: options.onStep,
      onPrepared: options.onPrepared,
    }).catch((error: unknown) => {
      rescue?.discard();
      throw error;
    });
  if (!rewriting) undo.forEach(({ name }) => follow?.note?.('undone', name));
  rescue?.files.forEach((file) => follow?.note?.('rescued', file));
}

const NOTHING: Following = { undo: [], renamed: [] };

/** The ledger as it will be after the undo and the renames. */
function withoutUndone(ledger: Ledger, { undo, renamed }: Following): Ledger {
  const gone = new Set(undo.map(({ name }) => name));
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  const applied = ledger.applied
    .filter(({ name }) => !gone.has(name))
    .map((row) => ({ ...row, name: names.get(row.name) ?? row.name }));
  return { ...ledger, applied };
}

interface Adopting {
  readonly ledger: Ledger;
  readonly migrations: readonly Migration[];
  readonly keep: boolean;
}

/**
 * Records a folder that was written anew as applied, if the database is what it would make.
 *
 * @throws AppError `MIGRATION_MISSING` when it is not.
 */
async function adopt(
  store: Store,
  { ledger, migrations: own, keep }: Adopting,
  unrelated: AppError,
): Promise<void> {
  const drift = own.length === 0 ? [] : await differences(store, own);
  if (own.length === 0 || drift.length > 0) throw withDrift(unrelated, drift);
  if (!keep) return;
  const undos = await undosOf(store, own);
  await store.transaction((trx) => record(trx, { own, pending: own, ledger, undos }));
}

function withDrift(error: AppError, drift: readonly Drift[]): AppError {
  if (drift.length === 0) return error;
  const objects = drift.slice(0, 5).map(({ object, kind }) => `${object} is ${kind}`);
  const more = drift.length > 5 ? `, and ${drift.length - 5} more` : '';
  return new AppError(
    500,
    error.code,
    error.message.replace(
      '\n',
      `\nThe tables are not what migrations/ makes: ${objects.join(', ')}${more}\n`,
    ),
    { extensions: { ...error.extensions, drift } },
  );
}

/** @throws AppError `MIGRATION_DRAFT` */
function refuseDrafts(waiting: readonly Migration[]): void {
  const draft = waiting.find(isDraft);
  if (!draft) return;
  throw new AppError(
    500,
    'MIGRATION_DRAFT',
    `${draft.name} is a draft, and this database is guarded; nothing was done.\n   fix  npm run migrate -- save, and commit the saved migration`,
    { extensions: { migration: draft.name } },
  );
}

/** Steps from the draft that is applied to the file that takes its place; null without them. */
async function rewritingOf(
  { root, transitions }: NonNullable<MigrateOptions['follow']>,
  following: Following,
  waiting: readonly Migration[],
): Promise<Rewriting | null> {
  const rewritten = rewrittenDraft(following, waiting);
  if (!rewritten) return null;
  const folders = [join(root, TRANSITIONS), ...(transitions === undefined ? [] : [transitions])];
  const { row, file } = rewritten;
  const steps = await transitionsBetween(folders, row.hash, hashOf(file));
  return steps && { ...rewritten, steps };
}

interface FollowingFiles {
  readonly trx: Transaction<any>;
  readonly following: Following;
  readonly migrations: readonly Migration[];
  readonly rescue: Rescue | undefined;
}

async function followFiles(
  { dialect }: Store,
  { trx, following, migrations, rescue }: FollowingFiles,
): Promise<void> {
  for (const { from, to } of following.renamed) await noteRenamed(trx, from, to);
  const files = new Map(migrations.map((each) => [each.name, each]));
  await undoAll({ dialect, trx, files, rescue }, following.undo);
}

/**
 * Records how to undo what an earlier release applied. A `down` is recorded from the tables as they
 * are right after its `up`, so the files are run on an empty scratch database. This must not prevent
 * a start.
 */
async function recordEarlier(
  store: Store,
  { applied }: Ledger,
  migrations: readonly Migration[],
): Promise<void> {
  const unknown = applied.filter(({ name, undoKnown }) => ownerOf(name) === '' && !undoKnown);
  const files = new Map(migrations.map((each) => [each.name, each]));
  const isThere = (row: AppliedMigration) =>
    files.has(row.name) && hashOf(lookUp(files, row.name)) === row.hash;
  if (unknown.length === 0 || !unknown.every(isThere)) return;
  const own = applied.filter(({ name }) => files.has(name)).map(({ name }) => lookUp(files, name));
  await undosOf(store, own)
    .then((undos) =>
      store.transaction(async (trx) => {
        await prepareLedger(trx);
        for (const { name } of unknown) await noteUndo(trx, name, undos.get(name) ?? null);
      }),
    )
    .catch(() => {});
}

/** Compares the ledger with `migrations` without changing or refusing anything. */
export async function migrationStatus(
  store: Store,
  migrations: readonly Migration[],
): Promise<LedgerState> {
  return compareLedger(await readLedger(store.db), migrations);
}

export interface RevertOptions {
  /** Folder of the project: what is dropped is written to files there first. */
  readonly root: string;
  /** The oldest migration to undo; the newest one when absent. */
  readonly to?: string;
  readonly note?: MigrationNote;
}

/**
 * Undoes the project's newest migration, or all down to and including one, those without a file
 * too. All of them or none.
 *
 * @returns their names, newest first.
 * @throws AppError `MIGRATION_UNKNOWN`, `MIGRATION_ONE_WAY`, `ROWS_IN_THE_WAY`, `MIGRATION_FAILED`
 */
export async function revert(
  store: Store,
  migrations: readonly Migration[],
  { root, to, note }: RevertOptions,
): Promise<string[]> {
  return store.lock('migrations', async () => {
    const undo = migrationsToUndo(await readLedger(store.db), to);
    if (undo.length === 0) return [];
    const rescue = createRescue(root);
    const files = new Map(migrations.map((each) => [each.name, each]));
    const { dialect } = store;
    try {
      await store.structuralTransaction((trx) => undoAll({ dialect, trx, files, rescue }, undo));
    } catch (error) {
      rescue.discard();
      throw error;
    }
    rescue.files.forEach((file) => note?.('rescued', file));
    return undo.map(({ name }) => name);
  });
}

/** Newest first. `0003` means `0003_add_posts`. */
export function migrationsToUndo({ applied }: Ledger, to: string | undefined): AppliedMigration[] {
  const own = applied.filter(({ name }) => ownerOf(name) === '');
  if (to === undefined) return own.slice(-1);
  const found = own.findIndex(({ name }) => name === to || name.startsWith(`${to}_`));
  if (found >= 0) return own.slice(found).toReversed();
  throw new AppError(
    404,
    'MIGRATION_UNKNOWN',
    `no migration ${to} is applied here
   fix  npm run migrate -- status lists those that are`,
  );
}

/**
 * Refuses migrations that would make a table that is there and that no migration of ours made.
 *
 * @throws AppError `DATABASE_NOT_EMPTY` with all such tables; nothing ran.
 */
export async function assertEmptyFor(
  { db, dialect }: Store,
  pending: readonly Migration[],
  ledger: Ledger,
): Promise<void> {
  const made = new Set(madeBefore(ledger));
  const there: string[] = [];
  for (const migration of pending)
    for (const step of await recordMigration(migration, dialect)) {
      if (step.kind === 'renameTable') made.add(step.to);
      if (step.kind === 'dropTable') made.add(step.table.name);
      if (step.kind !== 'createTable' || step.ifNotExists) continue;
      const { name } = step.table;
      if (made.has(name)) continue;
      made.add(name);
      if ((await columnsOf(db, name)).size > 0) there.push(name);
    }
  if (there.length === 0) return;
  const one = there.length === 1;
  throw new AppError(
    409,
    'DATABASE_NOT_EMPTY',
    `the database has ${one ? 'a table' : 'tables'} ${there.join(', ')} that no migration of this project made, and ${first(pending).name} would make ${one ? 'it' : 'them'}; nothing ran.\n   fix  to serve what is there: npm run generator -- import db; where ${one ? 'it is' : 'they are'} what the migrations make: npm run migrate -- baseline`,
    { extensions: { tables: there } },
  );
}

/** Tables that applied migrations have made, because their undo would drop these tables. */
export function madeBefore({ applied }: Ledger): string[] {
  return applied.flatMap(({ undo }) =>
    (undo ?? []).flatMap(({ drops = [] }) =>
      drops.flatMap(({ table, column }) => (column === undefined ? [table] : [])),
    ),
  );
}
