import type { SourceText, Table } from '@twofold/schema';
import { foldMigrations } from './fold.ts';
import { readMigration } from './read/statements.ts';
import { stepsOf } from './read/steps.ts';

/** Decisions that were made when a draft was written. They are kept when it is written again. */
export interface Decided {
  /** Tables and columns that it drops: `posts`, `posts.body`. */
  readonly drops: ReadonlySet<string>;
  /** The former names of tables and columns by the new ones. */
  readonly renames: ReadonlyMap<string, string>;
  readonly allowLoss: readonly string[];
}

/** Reads the decisions of a draft from its text. */
export function decidedIn(draft: SourceText | null, saved: readonly SourceText[]): Decided {
  if (!draft) return { drops: new Set(), renames: new Map(), allowLoss: [] };
  const steps = readMigration(draft.text).statements.flatMap((statement) =>
    statement.kind === 'calls' ? (stepsOf(statement.chain) ?? []) : [],
  );
  const renames = steps.flatMap((step): [string, string][] => {
    if (step.kind === 'renameTable') return [[step.to, step.table]];
    return step.kind === 'renameColumn' ? [[`${step.table}.${step.to}`, step.from]] : [];
  });
  const folded = foldMigrations([...saved, draft]);
  return {
    drops: new Set(dropped(foldMigrations(saved).tables, folded.tables, new Map(renames))),
    renames: new Map(renames),
    allowLoss: folded.allowLoss.get(draft.file) ?? [],
  };
}

function dropped(
  before: readonly Table[],
  after: readonly Table[],
  renames: Decided['renames'],
): string[] {
  const former = (name: string) => renames.get(name);
  return before.flatMap((table) => {
    const now = after.find(({ name }) => name === table.name || former(name) === table.name);
    if (!now) return [table.name];
    return table.columns.flatMap(({ name }) => {
      const stays = now.columns.some(
        (column) => column.name === name || former(`${now.name}.${column.name}`) === name,
      );
      return stays ? [] : [`${now.name}.${name}`];
    });
  });
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
