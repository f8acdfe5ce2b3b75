import {
  buildTables,
  type Diagnostic,
  type Project,
  type Table,
  type TableColumn,
} from '@twofold/schema';
import { renderMigration } from '../../templates/migration.ts';
import type { Step } from '../../templates/steps.ts';
import { closest } from '../cli/closest.ts';
import type { Sources } from '../files.ts';
import { type Difference, findDifference, type ValueRename } from './difference.ts';
import { migrationPath, SNAPSHOT } from './name.ts';
import { parseSnapshot, printSnapshot } from './snapshot.ts';

/** What a run does about the database. */
export interface PlannedMigration {
  readonly file: { readonly path: string; readonly text: string } | null;
  readonly snapshot: string;
  readonly findings: readonly Diagnostic[];
}

/** Compares the model's tables with those of the last migration, and plans the next one. */
export function planMigration(
  project: Project,
  sources: Sources,
  allowDrop: readonly string[],
): PlannedMigration {
  const wanted = buildTables(project);
  const snapshot = printSnapshot({ ids: project.ids, tables: wanted });
  if (snapshot === sources.tables) return { file: null, snapshot, findings: [] };
  const before =
    sources.tables === null ? { ids: project.ids, tables: [] } : parseSnapshot(sources.tables);
  if (before === null)
    return broken(
      'a line of it cannot be read',
      'solve the merge conflict in it, line by line, and run again',
    );
  if (sources.tables === null && sources.migrations.length > 0)
    return broken(
      'it is missing',
      'restore it from version control: migrations are the difference to it',
    );
  if (before.ids !== project.ids && before.tables.length > 0)
    return idsChanged(before.ids, project.ids);
  const allowed = allowedDrops(project, allowDrop);
  const difference = findDifference(before.tables, wanted, {
    allowDrop: (coordinate) => allowed.has(coordinate),
    valueRenames: valueRenames(project),
  });
  const { steps } = difference;
  return {
    file:
      steps.length === 0
        ? null
        : {
            path: migrationPath(sources.migrations, steps),
            text: renderMigration(steps, project.ids),
          },
    snapshot: printSnapshot({ ids: project.ids, tables: difference.tables }),
    findings: [
      ...keptFindings(difference),
      ...dropFindings(
        difference,
        allowDrop.filter((name) => !namesOne(before.tables, allowedDrops(project, [name]))),
      ),
      ...valueFindings(steps),
    ],
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

/** `--allow-drop` takes the schema's coordinate or the database's: `Post.body` or `posts.body`. */
function allowedDrops(project: Project, names: readonly string[]): ReadonlySet<string> {
  const tables = new Map(project.entities.map((entity) => [entity.name, entity.table]));
  return new Set(
    names.flatMap((name) => {
      const [type = '', field] = name.split('.');
      const table = tables.get(type) ?? type;
      return field === undefined
        ? [table]
        : [`${table}.${field}`, `${table}.${snakeCase(field)}`, `${table}.${snakeCase(field)}_id`];
    }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

function keptFindings({ kept }: Difference): Diagnostic[] {
  return kept.map(({ coordinate, replacement }) =>
    replacement
      ? {
          code: 'RENAME_AMBIGUOUS',
          severity: 'error',
          summary: `${coordinate} is gone and ${replacement} is new: renamed, or another one?`,
          why: 'both have the same type; dropping a column loses what is in it',
          fix: `to rename: @renamed(from: "${coordinate.split('.')[1]}") on the new field; to drop: --allow-drop ${coordinate}`,
          at: atSnapshot(),
        }
      : {
          code: 'COLUMN_KEPT',
          severity: 'hint',
          summary: `${coordinate} is no longer in the schema; the database keeps it`,
          fix: `npm run generate -- --allow-drop ${coordinate}`,
          at: atSnapshot(),
        },
  );
}

/** Whether one of these coordinates is a table or a column. */
function namesOne(tables: readonly Table[], coordinates: ReadonlySet<string>): boolean {
  return tables.some(
    ({ name, columns }) =>
      coordinates.has(name) || columns.some((column) => coordinates.has(`${name}.${column.name}`)),
  );
}

/** A slip in a name would leave the column without a word; what is gone already, and like no other, is no slip. */
function dropFindings({ kept }: Difference, names: readonly string[]): Diagnostic[] {
  const waiting = kept.map(({ coordinate }) => coordinate);
  return names.flatMap((name) => {
    const near = closest(name, waiting);
    if (near === undefined) return [];
    return [
      {
        code: 'DROP_UNKNOWN',
        severity: 'warning',
        summary: `--allow-drop ${name} names nothing that could be dropped`,
        fix: `did you mean ${near}?`,
        at: atSnapshot(),
      },
    ];
  });
}

/** Columns that must have a value, in tables that may have rows. */
function valueFindings(steps: readonly Step[]): Diagnostic[] {
  return steps.flatMap((step) =>
    step.kind !== 'alterTable'
      ? []
      : step.changes.flatMap((change) =>
          needsValue(change.kind === 'add' ? change.column : undefined) && change.kind === 'add'
            ? [needsDefault(step.table, change.column)]
            : [],
        ),
  );
}

function needsValue(column: TableColumn | undefined): boolean {
  return column !== undefined && column.required && column.default === undefined;
}

function needsDefault(table: string, { name }: TableColumn): Diagnostic {
  return {
    code: 'MIGRATION_NEEDS_VALUE',
    severity: 'warning',
    summary: `${table}.${name} is new and required: applying the migration fails if ${table} has rows`,
    fix: 'give the field @default(value: …), or add it without "!" first, fill it, and make it required after that',
    at: atSnapshot(),
  };
}

function broken(what: string, fix: string): PlannedMigration {
  return {
    file: null,
    snapshot: '',
    findings: [
      {
        code: 'SNAPSHOT_BROKEN',
        severity: 'error',
        summary: `${SNAPSHOT}: ${what}`,
        fix,
        at: atSnapshot(),
      },
    ],
  };
}

function idsChanged(before: string, after: string): PlannedMigration {
  return {
    file: null,
    snapshot: '',
    findings: [
      {
        code: 'IDS_CHANGED',
        severity: 'error',
        summary: `database.ids is ${after}, and the tables were made with ${before}`,
        why: 'keys of rows that exist cannot be turned into another kind',
        fix: `database: { ids: ${before} }, or start a new database: remove migrations/ and run again`,
        at: { file: 'manifest.yaml', line: 1, column: 1, length: 1 },
      },
    ],
  };
}

function atSnapshot(): Diagnostic['at'] {
  return { file: SNAPSHOT, line: 1, column: 1, length: 1 };
}
