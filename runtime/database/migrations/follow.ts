import { first } from '@twofold/schema';
import { AppError } from '@twofold/runtime/errors';
import {
  type AppliedMigration,
  hashOf,
  type Ledger,
  type Migration,
  ownerOf,
} from '@twofold/runtime/store';

/** The steps that bring a database back to the last migration that it shares with the files. */
export interface Following {
  /** Newest first. */
  readonly undo: readonly AppliedMigration[];
  /** Applied drafts that were saved with the same text. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** Set when no applied migration has a file any more: the folder was written anew. */
  readonly unrelated?: AppError;
}

/** The newest migration, when it was applied with another text than its file has now. */
export interface Rewritten {
  readonly row: AppliedMigration;
  readonly file: Migration;
}

/**
 * The draft that is replaced by another text, if it is the only migration to undo. There may be
 * steps between the two texts that keep the values of rows.
 */
export function rewrittenDraft(
  { undo }: Following,
  pending: readonly Migration[],
): Rewritten | null {
  const [row, ...others] = undo;
  const file = pending.find(({ name }) => row && numberOf(name) === numberOf(row.name));
  return row && file && others.length === 0 && isDraftName(row.name) ? { row, file } : null;
}

const numberOf = (name: string) => Number.parseInt(name, 10);

export interface FollowOptions {
  /** Whether the newest migration may be written again after it was applied: under `dev`. */
  readonly newest: boolean;
  /** Whether migrations without a file are undone, and not drafts alone. */
  readonly gone: boolean;
}

const isDraftName = (name: string) => /^\d+_draft$/.test(name);

/**
 * Compares the project's applied migrations with its files.
 *
 * @throws AppError `MIGRATION_MISSING` when one that has to be undone is one-way, or when the
 * database and the files have no migration in common.
 */
export function planFollowing(
  ledger: Ledger,
  migrations: readonly Migration[],
  options: FollowOptions,
): Following {
  const applied = ledger.applied.filter(({ name }) => ownerOf(name) === '');
  const renamed = savedDrafts(applied, migrations);
  const from = new Set(renamed.map((each) => each.from));
  const files = new Map(migrations.map((each) => [each.name, each]));
  const unrelated = options.gone ? unrelatedTo(applied, files) : null;
  if (unrelated && renamed.length === 0) return { undo: [], renamed: [], unrelated };
  const newest = applied.at(-1);
  const diverged = applied.findIndex((row) => {
    const file = files.get(row.name);
    if (from.has(row.name)) return false;
    if (!file) return options.gone || isDraftName(row.name);
    const changes = isDraftName(row.name) || (options.newest && row === newest);
    return changes && row.hash !== hashOf(file);
  });
  if (diverged < 0) return { undo: [], renamed };
  const undo = applied.slice(diverged).toReversed();
  assertUndoable(undo, files);
  return { undo, renamed: renamed.filter((each) => !undo.some(({ name }) => name === each.from)) };
}

/** Drafts that were applied, and whose text is now in a file with another name. */
function savedDrafts(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): Following['renamed'] {
  const names = new Set(migrations.map(({ name }) => name));
  const known = new Set(applied.map(({ name }) => name));
  return applied.flatMap(({ name, hash }) => {
    if (!isDraftName(name) || names.has(name)) return [];
    const saved = migrations.find((each) => !known.has(each.name) && hashOf(each) === hash);
    return saved ? [{ from: name, to: saved.name }] : [];
  });
}

/**
 * Why the folder has nothing to do with the database; null when they have a migration in common.
 */
function unrelatedTo(
  applied: readonly AppliedMigration[],
  files: ReadonlyMap<string, Migration>,
): AppError | null {
  const shared = applied.some(({ name, hash }) => {
    const file = files.get(name);
    return isDraftName(name) || (file !== undefined && hashOf(file) === hash);
  });
  if (shared || applied.length === 0) return null;
  return missing(
    applied.map(({ name }) => name),
    'the database and migrations/ have none in common',
    'go back to the branch or commit that has them; or start the database anew, its rows are rescued: npm run migrate -- reset',
  );
}

function assertUndoable(
  undo: readonly AppliedMigration[],
  files: ReadonlyMap<string, Migration>,
): void {
  const oneWay = undo.filter((row) => row.undo === null && !isUndoneByFile(row, files));
  if (oneWay.length === 0) return;
  const gone = undo.filter(({ name }) => !files.has(name)).map(({ name }) => name);
  const blocked = oneWay.map(({ name }) => name).join(', ');
  throw missing(
    gone.length > 0 ? gone.toReversed() : oneWay.map(({ name }) => name),
    `the ledger cannot undo ${blocked}, which ${oneWay.length === 1 ? 'is' : 'are'} one-way`,
    `go back to the branch or commit that has ${blocked} (git log --all -- 'migrations/${first(oneWay).name}*' names it); or start the database anew, its rows are rescued: npm run migrate -- reset`,
  );
}

/** Whether the file has the text that was applied, and a `down`. */
export function isUndoneByFile(
  { name, hash }: AppliedMigration,
  files: ReadonlyMap<string, Migration>,
): boolean {
  const file = files.get(name);
  return file?.down !== undefined && hashOf(file) === hash;
}

function missing(names: readonly string[], why: string, fix: string): AppError {
  return new AppError(
    500,
    'MIGRATION_MISSING',
    `migration${names.length === 1 ? '' : 's'} ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} applied in the database without a file in migrations/, and ${why}; nothing was done.\n   fix  ${fix}`,
    { extensions: { migrations: names } },
  );
}
