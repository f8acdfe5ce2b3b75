import { first } from '@twofold/schema';
import type { IdKind, SourceText } from '@twofold/schema';
import { renderMigration } from '../../templates/migration.ts';
import { renamesIn, withDecided } from './decided.ts';
import { findDifference } from './difference.ts';
import { foldMigrations } from './fold.ts';
import { numberOf } from './name.ts';
import { readMigration } from './read-migration.ts';

/** One migration that replaces several. */
export interface Squashed {
  readonly path: string;
  readonly text: string;
  /** The paths of the migrations that are replaced. */
  readonly removed: readonly string[];
  /** The names of those whose statements cannot be taken over, because a person wrote them. */
  readonly byHand: readonly string[];
}

interface SquashOptions {
  readonly ids: IdKind;
  /** The number of the first migration to replace; all when absent. */
  readonly from?: number;
  readonly name?: string | undefined;
}

/** The migration with the effect of these ones from a number on; null when there are not two. */
export function squash(
  migrations: readonly SourceText[],
  { ids, from = 0, name = 'squashed' }: SquashOptions,
): Squashed | null {
  const replaced = migrations.filter(({ file }) => numberOf(file) >= from);
  const before = migrations.filter((each) => !replaced.includes(each));
  if (replaced.length < 2) return null;
  const wanted = withDecided(foldMigrations(migrations).tables, {
    drops: new Set(),
    renames: renamesIn(replaced),
    allowLoss: [],
  });
  const old = foldMigrations(before).tables;
  const { steps } = findDifference(old, wanted, { allowDrop: () => true });
  const number = String(numberOf(first(replaced).file)).padStart(4, '0');
  return {
    path: freePath(`migrations/${number}_${name}`, replaced),
    text: renderMigration(steps, { ids, replaces: replaced.map(nameOf) }),
    removed: replaced.map(({ file }) => file),
    byHand: replaced.filter(isByHand).map(nameOf),
  };
}

const nameOf = ({ file }: SourceText) => file.replace(/^.*\/|\.\w+$/g, '');

/**
 * A name that no migration has. A database knows a migration by its name, so the new one must have
 * another.
 */
function freePath(base: string, taken: readonly SourceText[]): string {
  const isTaken = (path: string) => taken.some(({ file }) => file === path);
  for (let at = 1; ; at++) {
    const path = `${base}${at === 1 ? '' : `_${at}`}.ts`;
    if (!isTaken(path)) return path;
  }
}

/** Whether a migration does something that the tables do not show. */
function isByHand({ text }: SourceText): boolean {
  const { byHand, leaves, steps } = readMigration(text);
  return byHand || leaves !== null || steps.some(({ kind }) => kind === 'renameValue');
}
