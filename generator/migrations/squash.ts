import type { IdKind, SourceText } from '@twofold/schema';
import { literal } from '../../templates/literal.ts';
import { renderMigration } from '../../templates/migration.ts';
import { withDecided } from './decided.ts';
import { findDifference } from './difference.ts';
import { foldMigrations } from './fold.ts';
import { numberOf } from './name.ts';
import { readMigration, type MigrationStatement } from './read/statements.ts';
import { type ReadStep, stepsOf } from './read/steps.ts';

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
    renames: renamesOf(replaced),
    allowLoss: [],
  });
  const old = foldMigrations(before).tables;
  const { steps } = findDifference(old, wanted, { allowDrop: () => true });
  const number = String(numberOf(replaced[0]!.file)).padStart(4, '0');
  const names = replaced.map(nameOf);
  return {
    path: freePath(`migrations/${number}_${name}`, replaced),
    text: withReplaces(renderMigration(steps, { ids }), names),
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

/** Inserts the line after the imports. */
function withReplaces(text: string, names: readonly string[]): string {
  const imports = /^(?:import [^;]*;\n)+/m.exec(text)?.[0] ?? '';
  const line = `export const replaces = ${literal([...names]).text};\n`;
  return imports === '' ? `${line}\n${text}` : text.replace(imports, () => `${imports}\n${line}`);
}

/** The names that tables and columns had before the first of the migrations, by their last name. */
function renamesOf(migrations: readonly SourceText[]): Map<string, string> {
  const renames = new Map<string, string>();
  for (const step of migrations.flatMap(stepsIn)) {
    if (step.kind === 'renameTable') renameTable(renames, step.table, step.to);
    if (step.kind !== 'renameColumn') continue;
    const from = `${step.table}.${step.from}`;
    renames.set(`${step.table}.${step.to}`, renames.get(from) ?? step.from);
    renames.delete(from);
  }
  return renames;
}

function renameTable(renames: Map<string, string>, from: string, to: string): void {
  const first = renames.get(from) ?? from;
  renames.delete(from);
  if (first !== to) renames.set(to, first);
  for (const [name, old] of renames)
    if (name.startsWith(`${from}.`)) {
      renames.delete(name);
      renames.set(`${to}.${name.slice(from.length + 1)}`, old);
    }
}

function stepsIn({ text }: SourceText): ReadStep[] {
  return readMigration(text).statements.flatMap((each) =>
    each.kind === 'calls' ? (stepsOf(each.chain) ?? []) : [],
  );
}

/** Whether a migration does something that the tables do not show. */
function isByHand({ text }: SourceText): boolean {
  const { statements, leaves } = readMigration(text);
  return leaves !== null || statements.some((each) => !isGenerated(each));
}

const ALTERATIONS: ReadonlySet<string> = new Set([
  'schema',
  'alterTable',
  'addColumn',
  'alterColumn',
  'dropColumn',
  'renameColumn',
  'renameTo',
  'execute',
]);

function isGenerated(statement: MigrationStatement): boolean {
  if (statement.kind === 'unread') return false;
  const { chain } = statement;
  if (chain.root === 'columnTypes') return true;
  const alters = chain.links.some(({ name }) => name === 'alterTable');
  if (alters && !chain.links.every(({ name }) => ALTERATIONS.has(name))) return false;
  return (stepsOf(chain)?.length ?? 0) > 0;
}
