import {
  buildTables,
  type Diagnostic,
  type Project,
  type SourceText,
  type Table,
} from '@twofold/schema';
import { renderMigration } from '../../templates/migration.ts';
import type { Step } from '../../templates/steps.ts';
import type { Sources } from '../files.ts';
import { allowLossIn } from './allow-loss.ts';
import { columnsNamed } from './coordinates.ts';
import { type Difference, findDifference, type ValueRename } from './difference.ts';
import {
  brokenFindings,
  dropFindings,
  idsFinding,
  keptFindings,
  rowFindings,
  unreadFindings,
} from './findings.ts';
import { type Folded, foldMigrations } from './fold.ts';
import { readLastModel } from './last-model.ts';
import { createLocate } from './locate.ts';
import { withoutConflict } from './merge-conflict.ts';
import { migrationPath } from './name.ts';

/** The planned changes of the migrations. */
export interface PlannedMigration {
  /** New files, and files of `migrations/` that get another text. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Files to remove. */
  readonly removed: readonly string[];
  /** Tables and columns that the schema has and no migration makes. */
  readonly missing: readonly string[];
  readonly findings: readonly Diagnostic[];
}

export interface MigrationOptions {
  readonly allowDrop?: readonly string[];
  readonly allowLoss?: readonly string[];
  /** Text of `src/generated/model.ts` from the previous run. */
  readonly lastModel?: string | null;
  /** Path of a migration that no database has applied, and that is written again. */
  readonly draft?: string;
}

/**
 * Applies the existing migrations, compares the resulting tables with the model, and plans the next
 * migration.
 */
export function planMigration(
  project: Project,
  sources: Sources,
  options: MigrationOptions,
): PlannedMigration {
  const merged = sources.migrations.map(withoutConflict);
  const mended = merged.filter(({ text }, at) => text !== sources.migrations[at]!.text);
  const saved = merged.filter(({ file }) => file !== options.draft);
  const folded = foldMigrations(saved);
  const refused = [
    ...brokenFindings(folded, sources.lockedMigrations),
    ...idsFinding(folded, project),
  ];
  if (refused.length > 0) return { files: [], removed: [], missing: [], findings: refused };
  return nextMigration(project, { saved, mended, folded, sources, options });
}

interface FoldedMigrations {
  readonly saved: readonly SourceText[];
  readonly mended: readonly SourceText[];
  readonly folded: Folded;
  readonly sources: Sources;
  readonly options: MigrationOptions;
}

function nextMigration(project: Project, followed: FoldedMigrations): PlannedMigration {
  const { saved, mended, folded, sources, options } = followed;
  const { allowDrop = [], allowLoss = [], draft } = options;
  const allowed = columnsNamed(project, allowDrop);
  const difference = findDifference(folded.tables, buildTables(project), {
    allowDrop: (coordinate) => allowed.has(coordinate),
    valueRenames: valueRenames(project),
    contested: folded.contested,
  });
  const { steps } = difference;
  const unread = unreadFindings(folded, steps);
  if (unread.length > 0) return { files: [], removed: [], missing: [], findings: unread };
  const loss = columnsNamed(project, allowLoss);
  const next = fileOf(steps, { project, saved, loss });
  const agreed = next ? [] : allowLossIn(saved, folded, loss);
  const locate = createLocate(project, sources.schema);
  return {
    files: [...mended.map(asFile), ...agreed.map(asFile), ...(next ? [next] : [])],
    removed: draft !== undefined && draft !== next?.path ? [draft] : [],
    missing: steps.flatMap(objectsOf),
    findings: [
      ...keptFindings(difference, { locate, lastModel: readModel(difference, options) }),
      ...dropFindings(
        difference,
        allowDrop.filter((name) => !namesOne(folded.tables, columnsNamed(project, [name]))),
        locate,
      ),
      ...rowFindings(steps, { locate, loss }),
    ],
  };
}

const asFile = ({ file, text }: SourceText) => ({ path: file, text });

function readModel({ kept }: Difference, { lastModel = null }: MigrationOptions) {
  return kept.length === 0 ? null : readLastModel(lastModel);
}

function fileOf(
  steps: readonly Step[],
  {
    project,
    saved,
    loss,
  }: {
    readonly project: Project;
    readonly saved: readonly SourceText[];
    readonly loss: ReadonlySet<string>;
  },
): { path: string; text: string } | null {
  if (steps.length === 0) return null;
  const changed = new Set(steps.flatMap(objectsOf));
  const allowLoss = [...loss].filter((name) => changed.has(name));
  return {
    path: migrationPath(
      saved.map(({ file }) => file),
      steps,
    ),
    text: renderMigration(steps, { ids: project.ids, allowLoss }),
  };
}

/** `@renamed` on values of the enum that a column holds. */
function valueRenames(project: Project): (table: string, column: string) => readonly ValueRename[] {
  return (table, column) => {
    const { scalar } =
      project.entities
        .find((entity) => entity.table === table)
        ?.columns.find(({ name }) => name === column) ?? {};
    return project.enums.find(({ name }) => name === scalar)?.renames ?? [];
  };
}

/** Whether one of these coordinates is a table or a column of the list. */
function namesOne(tables: readonly Table[], coordinates: ReadonlySet<string>): boolean {
  return tables.some(
    ({ name, columns }) =>
      coordinates.has(name) || columns.some((column) => coordinates.has(`${name}.${column.name}`)),
  );
}

/** Tables, columns and indexes that a step is about. */
function objectsOf(step: Step): string[] {
  switch (step.kind) {
    case 'createTable':
    case 'dropTable':
      return [step.table.name];
    case 'renameTable':
      return [step.to];
    case 'renameColumn':
      return [`${step.table}.${step.to}`];
    case 'renameValue':
      return [`${step.table}.${step.column}`];
    case 'alterTable':
      return step.changes.map(
        (change) =>
          `${step.table}.${change.kind === 'alter' ? change.after.name : change.column.name}`,
      );
    default:
      return [step.index.name];
  }
}
