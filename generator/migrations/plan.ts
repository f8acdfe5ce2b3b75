import {
  buildTables,
  type Diagnostic,
  type MigrationStep,
  objectsOf,
  type Project,
  type SourceText,
  type Table,
} from '@twofold/schema';
import { renderBaseline } from '../../templates/baseline.ts';
import { renderMigration } from '../../templates/migration.ts';
import type { Sources } from '../files.ts';
import { allowLossIn } from './allow-loss.ts';
import { columnsNamed } from './coordinates.ts';
import { type Difference, findDifference, type ValueRename } from './difference.ts';
import {
  brokenFindings,
  misfitFindings,
  dropFindings,
  idsFinding,
  keptFindings,
  rowFindings,
  unreadFindings,
} from './findings.ts';
import { decidedIn, withDecided } from './decided.ts';
import { asDraft, withoutDraft } from './draft.ts';
import { type Folded, foldMigrations } from './fold.ts';
import { readLastModel } from './last-model.ts';
import { createLocate } from './locate.ts';
import { withoutConflict } from './merge-conflict.ts';
import { migrationPath, nextPath } from './name.ts';
import { type Transition, transitionOf } from './transition.ts';

/** The planned changes of the migrations. */
export interface PlannedMigration {
  /** New files, and files of `migrations/` that get another text. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Files to remove. */
  readonly removed: readonly string[];
  /** Tables and columns that the schema has and no migration makes. */
  readonly missing: readonly string[];
  readonly findings: readonly Diagnostic[];
  /** The steps from a draft on disk to its new text; null when it stays. */
  readonly transition: Transition | null;
}

export interface MigrationOptions {
  readonly allowDrop?: readonly string[];
  readonly allowLoss?: readonly string[];
  /** Text of `src/generated/model.ts` from the previous run. */
  readonly lastModel?: string | null;
  /** Whether the next migration is a draft, which later runs write again. */
  readonly draft?: boolean;
  /**
   * The statements that make the present database, for the first migration of a database that
   * another program made.
   */
  readonly baseline?: readonly string[];
  /** Path of a saved migration that no database has applied, and that is written again. */
  readonly again?: string;
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
  if (project.unmanaged) return { ...NOTHING, findings: [] };
  const merged = sources.migrations.map(withoutConflict);
  const mended = merged.filter(({ text }, at) => text !== sources.migrations[at]!.text);
  const { saved: all, draft } = withoutDraft(merged);
  const saved = all.filter(({ file }) => file !== options.again);
  const folded = foldMigrations(saved);
  const refused = [
    ...misfitFindings(folded),
    ...brokenFindings(folded, sources.lockedMigrations),
    ...idsFinding(folded, project),
  ];
  if (refused.length > 0) return { ...NOTHING, findings: refused };
  if (options.baseline && merged.length === 0) return baselineOf(project, options.baseline);
  return nextMigration(project, { saved, draft, mended, folded, sources, options });
}

/** The first migration of a database that another program made. */
const BASELINE = 'migrations/0000_baseline.ts';

const baselineOf = (project: Project, statements: readonly string[]): PlannedMigration => ({
  ...NOTHING,
  files: [{ path: BASELINE, text: renderBaseline(statements, buildTables(project)) }],
  findings: [],
});

const NOTHING = { files: [], removed: [], missing: [], transition: null } as const;

interface FoldedMigrations {
  readonly saved: readonly SourceText[];
  /** The draft on disk. */
  readonly draft: SourceText | null;
  readonly mended: readonly SourceText[];
  readonly folded: Folded;
  readonly sources: Sources;
  readonly options: MigrationOptions;
}

function nextMigration(project: Project, followed: FoldedMigrations): PlannedMigration {
  const { saved, draft, mended, folded, sources, options } = followed;
  const { allowDrop = [], allowLoss = [], again } = options;
  const allowed = columnsNamed(project, allowDrop);
  const decided = decidedIn(draft);
  const difference = findDifference(folded.tables, withDecided(buildTables(project), decided), {
    allowDrop: (coordinate) => allowed.has(coordinate) || decided.drops.has(coordinate),
    valueRenames: valueRenames(project),
    contested: folded.contested,
  });
  const { steps } = difference;
  const unread = unreadFindings(folded, steps);
  if (unread.length > 0) return { ...NOTHING, findings: unread };
  const loss = new Set([...columnsNamed(project, allowLoss), ...decided.allowLoss]);
  const drafts = options.draft === true && again === undefined;
  const next = fileOf(steps, { project, saved, loss, drafts });
  const agreed = next ? [] : allowLossIn(saved, folded, loss);
  const locate = createLocate(project, sources.schema);
  return {
    files: [...mended.map(asFile), ...agreed.map(asFile), ...(next ? [next] : [])],
    removed: [again, draft?.file].filter(
      (path) => path !== undefined && path !== next?.path,
    ) as string[],
    missing: draft ? missingWith(project, { saved, draft, next }) : steps.flatMap(objectsOf),
    transition:
      draft && next
        ? transitionOf({
            saved,
            before: draft,
            after: { file: next.path, text: next.text },
            ids: project.ids,
          })
        : null,
    findings: [
      ...keptFindings(difference, {
        locate,
        lastModel: readModel(difference, options),
        types: new Set(project.entities.map(({ name }) => name)),
      }),
      ...dropFindings(
        difference,
        allowDrop.filter((name) => !namesOne(folded.tables, columnsNamed(project, [name]))),
        locate,
      ),
      ...rowFindings(steps, { project, locate, loss, path: drafts ? null : (next?.path ?? null) }),
    ],
  };
}

const asFile = ({ file, text }: SourceText) => ({ path: file, text });

function readModel({ kept }: Difference, { lastModel = null }: MigrationOptions) {
  return kept.length === 0 ? null : readLastModel(lastModel);
}

/** Tables and columns of the schema that these migrations do not make. */
function missingWith(
  project: Project,
  {
    saved,
    draft,
    next,
  }: Pick<FoldedMigrations, 'saved'> & {
    readonly draft: SourceText;
    readonly next: { readonly text: string } | null;
  },
): string[] {
  // A draft that stays as it is was written for this schema.
  if (draft.text === next?.text) return [];
  const { tables } = foldMigrations([...saved, draft]);
  return findDifference(tables, buildTables(project), { allowDrop: () => false }).steps.flatMap(
    objectsOf,
  );
}

interface NextFile {
  readonly project: Project;
  readonly saved: readonly SourceText[];
  readonly loss: ReadonlySet<string>;
  /** Whether the file is a draft. */
  readonly drafts: boolean;
}

function fileOf(
  steps: readonly MigrationStep[],
  { project, saved, loss, drafts }: NextFile,
): { path: string; text: string } | null {
  if (steps.length === 0) return null;
  const changed = new Set(steps.flatMap(objectsOf));
  const allowLoss = [...loss].filter((name) => changed.has(name));
  const path = migrationPath(saved, steps);
  const text = renderMigration(steps, { ids: project.ids, allowLoss });
  return drafts ? { path: nextPath(saved, 'draft'), text: asDraft(text) } : { path, text };
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
