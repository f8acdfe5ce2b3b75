import type { IdKind, SourceText, Table } from '@twofold/schema';
import { renderMigration } from '../../templates/migration.ts';
import { FOLDER } from '../files.ts';
import { findDifference, isAlike, isSameKind } from './difference.ts';
import { migrationHash } from './draft.ts';
import { foldMigrations } from './fold.ts';

/** The folder for the steps between two texts of a draft. It is for this machine only. */
export const TRANSITIONS = `${FOLDER}/draft`;

/** A file with the steps that bring a database from one text of a migration to another. */
export interface Transition {
  readonly path: string;
  readonly text: string;
}

interface Rewriting {
  readonly saved: readonly SourceText[];
  readonly before: SourceText;
  readonly after: SourceText;
  readonly ids: IdKind;
}

/**
 * The steps from a draft to the text that replaces it. A database that has applied the draft keeps
 * its values with them; without them it undoes the draft and applies the new text. One column that
 * is gone while one of its type is new is a slip that was corrected: it is renamed.
 */
export function transitionOf({ saved, before, after, ids }: Rewriting): Transition | null {
  const [from, to] = [migrationHash(before.text), migrationHash(after.text)];
  if (from === to) return null;
  const old = foldMigrations([...saved, before]).tables;
  const wanted = withRenames(old, foldMigrations([...saved, after]).tables);
  const { steps } = findDifference(old, wanted, { allowDrop: () => true });
  return {
    path: `${TRANSITIONS}/${from.slice(0, 16)}-${to.slice(0, 16)}.ts`,
    text: renderMigration(steps, { ids }),
  };
}

/** The new tables, with the former name of each table and column that was only renamed. */
function withRenames(before: readonly Table[], wanted: readonly Table[]): Table[] {
  const tables = only(before, wanted, isAlike);
  return wanted.map((table) => {
    const renamedFrom = tables.get(table.name);
    const old = before.find(({ name }) => name === (renamedFrom ?? table.name));
    const columns = old ? only(old.columns, table.columns, isSameKind) : new Map<string, string>();
    return {
      ...table,
      ...(renamedFrom !== undefined && { renamedFrom }),
      columns: table.columns.map((column) => {
        const from = columns.get(column.name);
        return from === undefined ? column : { ...column, renamedFrom: from };
      }),
    };
  });
}

/**
 * Renames, by the new name: an object was renamed if it alone disappeared and one alone appeared
 * that is like it.
 */
function only<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  isLike: (one: T, other: T) => boolean,
): Map<string, string> {
  const has = (list: readonly T[], { name }: T) => list.some((each) => each.name === name);
  const gone = before.filter((each) => !has(after, each));
  const added = after.filter((each) => !has(before, each));
  const pairs = added.flatMap((each): [string, string][] => {
    const [one, ...others] = gone.filter((other) => isLike(other, each));
    const rivals = one ? added.filter((other) => isLike(one, other)) : [];
    return one && others.length === 0 && rivals.length === 1 ? [[each.name, one.name]] : [];
  });
  return new Map(pairs);
}
