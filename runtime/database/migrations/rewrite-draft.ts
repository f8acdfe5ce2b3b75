import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Transaction } from 'kysely';
import { AppError } from '@twofold/runtime/errors';
import { type Migration, noteRewritten, type Store } from '@twofold/runtime/store';
import { createRun, type MigrationRun, rowsError, withRun } from '../tables/migration-run.ts';
import type { Rewritten } from './follow.ts';
import { type MigrationModule, runnable } from './load-migrations.ts';
import { recordUndo } from './record-undo.ts';
import type { Rescue } from './rescue.ts';
import { undoFailed } from './undo-migrations.ts';
import { watchedBuilder } from './watched.ts';

/** A rewritten draft, with the steps to its new text. */
export interface Rewriting extends Rewritten {
  readonly steps: readonly Transition[];
}

interface RewriteContext {
  readonly store: Store;
  readonly trx: Transaction<any>;
  readonly rescue: Rescue | undefined;
  readonly keep: boolean;
}

/**
 * Brings a database from an applied draft to the text that takes its place, and records that one as
 * applied.
 *
 * @throws AppError as applying the new text does.
 */
export async function rewrite(
  { store: { dialect }, trx, rescue, keep }: RewriteContext,
  { row, file, steps }: Rewriting,
): Promise<void> {
  const run: MigrationRun = {
    ...createRun(),
    migration: file.name,
    allowLoss: new Set(file.allowLoss),
    ...(keep && { rescue: async (dropped) => rescue?.save(trx, dropped) }),
  };
  const db = watchedBuilder({ dialect, db: trx, run });
  try {
    for (const { up } of steps) await withRun(run, () => up(db, { dialect }));
  } catch (error) {
    throw error instanceof AppError ? error : undoFailed(run, error);
  }
  if (run.found.length > 0) throw rowsError(run.found);
  const undo = keep ? await recordUndo({ dialect, trx }, file) : null;
  await noteRewritten(trx, row.name, { migration: file, undo });
}

/** The steps from one text of a draft to the next. They keep the values of rows. */
export type Transition = Pick<Migration, 'up'>;

/**
 * The folder in which the generator writes them. A file `<from>-<to>.ts` has the steps between two
 * texts, each named by the beginning of its hash.
 */
export const TRANSITIONS = '.generator/draft';

const FILE = /^([0-9a-f]{16})-([0-9a-f]{16})\.ts$/;

/**
 * The shortest way from one text to another; null when the files have none. Without one, the draft
 * is undone and the new text applied.
 */
export async function transitionsBetween(
  folders: readonly string[],
  from: string,
  to: string,
): Promise<readonly Transition[] | null> {
  const [start, end] = [from.slice(0, 16), to.slice(0, 16)];
  const ways = new Map<string, readonly string[]>([[start, []]]);
  const files = folders.flatMap(filesIn);
  for (const [hash, paths] of ways)
    for (const file of files)
      if (file.from === hash && !ways.has(file.to)) ways.set(file.to, [...paths, file.path]);
  const way = ways.get(end);
  if (!way || way.length === 0) return null;
  return Promise.all(
    way.map(async (path) => runnable((await import(pathToFileURL(path).href)) as MigrationModule)),
  );
}

function filesIn(folder: string) {
  return namesIn(folder).flatMap((name) => {
    const [, from, to] = FILE.exec(name) ?? [];
    return from && to ? [{ from, to, path: join(folder, name) }] : [];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
