import type { MigrationStep, SourceText, Table } from '@twofold/schema';
import { readMigration } from './read-migration.ts';

/** Decisions that were made when a draft was written. They are kept when it is written again. */
export interface Decided {
  /** Tables and columns that it drops: `posts`, `posts.body`. */
  readonly drops: ReadonlySet<string>;
  /** The former names of tables and columns by the new ones. */
  readonly renames: ReadonlyMap<string, string>;
  readonly allowLoss: readonly string[];
}

/** Reads the decisions of a draft from its text. */
export function decidedIn(draft: SourceText | null): Decided {
  if (!draft) return { drops: new Set(), renames: new Map(), allowLoss: [] };
  const { steps, allowLoss } = readMigration(draft.text);
  return { drops: new Set(steps.flatMap(droppedBy)), renames: renamesIn([draft]), allowLoss };
}

function droppedBy(step: MigrationStep): string[] {
  if (step.kind === 'dropTable') return [step.table.name];
  if (step.kind !== 'alterTable') return [];
  return step.changes.flatMap((change) =>
    change.kind === 'drop' ? [`${step.table}.${change.column.name}`] : [],
  );
}

/** The names that tables and columns had before the first of the migrations, by their last name. */
export function renamesIn(migrations: readonly SourceText[]): Map<string, string> {
  const renames = new Map<string, string>();
  for (const step of migrations.flatMap(({ text }) => readMigration(text).steps)) {
    if (step.kind === 'renameTable') renameTable(renames, step.from, step.to);
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

/** The tables of the schema with the renames that were decided. */
export function withDecided(wanted: readonly Table[], { renames }: Decided): readonly Table[] {
  if (renames.size === 0) return wanted;
  return wanted.map((table) => {
    const from = renames.get(table.name);
    return {
      ...table,
      ...(from !== undefined && table.renamedFrom === undefined && { renamedFrom: from }),
      columns: table.columns.map((column) => {
        const old = renames.get(`${table.name}.${column.name}`);
        return old !== undefined && column.renamedFrom === undefined
          ? { ...column, renamedFrom: old }
          : column;
      }),
    };
  });
}
