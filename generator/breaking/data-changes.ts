import {
  buildTables,
  columnChecks,
  type MigrationStep,
  type Project,
  type SourceText,
  type StepOf,
  type Table,
  type TableChange,
  type TableColumn,
} from '@twofold/schema';
import type { ColumnType } from '@twofold/schema';
import { renamesIn } from '../migrations/decided.ts';
import { findDifference } from '../migrations/difference.ts';
import { foldMigrations } from '../migrations/fold.ts';
import type { Change, Level } from './change.ts';

interface Stored {
  readonly project: Project;
  readonly migrations: readonly SourceText[];
}

/**
 * What a deployment of the folder would do to rows that the base has written, by the steps between
 * the tables of both. A column that only left the schema stays, and is no step.
 */
export function dataChanges(base: Stored, head: Stored): Change[] {
  if (base.project.unmanaged || head.project.unmanaged) return [];
  const before = tablesOf(base);
  const known = new Set(base.migrations.map(({ file }) => file));
  const added = head.migrations.filter(({ file }) => !known.has(file));
  const after = withRenames(tablesOf(head), added);
  const { steps } = findDifference(before, after, { allowDrop: () => true });
  return [...steps.flatMap(changesOf), ...idChanges(base.project, head.project)];
}

/** The tables of the schema, and those that only the migrations still make. */
function tablesOf({ project, migrations }: Stored): readonly Table[] {
  const made = foldMigrations(migrations).tables;
  return findDifference(made, buildTables(project), { allowDrop: () => false }).tables;
}

/** A migration records the rename, so `@renamed` may have been removed from the schema. */
function withRenames(tables: readonly Table[], migrations: readonly SourceText[]): Table[] {
  const renamed = renamesIn(migrations);
  const mark = <T extends { readonly name: string; readonly renamedFrom?: string }>(
    key: string,
    each: T,
  ): T => {
    const from = each.renamedFrom ?? renamed.get(key);
    return from === undefined ? each : { ...each, renamedFrom: from };
  };
  return tables.map((table) => ({
    ...mark(table.name, table),
    columns: table.columns.map((column) => mark(`${table.name}.${column.name}`, column)),
  }));
}

function idChanges(base: Project, head: Project): Change[] {
  return base.ids === head.ids
    ? []
    : [
        stepChange(
          'breaking',
          'IDS_CHANGED',
          'database.ids',
          'keys of existing rows cannot be converted',
        ),
      ];
}

const changesOf = (step: MigrationStep): Change[] =>
  (CHANGES[step.kind] as (step: MigrationStep) => Change[])(step);

const CHANGES: { readonly [K in MigrationStep['kind']]: (step: StepOf<K>) => Change[] } = {
  createTable: ({ table }) => [stepChange('safe', 'TABLE_ADDED', table.name, 'is new')],
  dropTable: ({ table }) => [
    stepChange('breaking', 'TABLE_DROPPED', table.name, 'is dropped with its rows'),
  ],
  renameTable: ({ from, to }) => [failing('TABLE_RENAMED', from, `is ${to} now`)],
  renameColumn: ({ table, from, to }) => [
    failing('COLUMN_RENAMED', `${table}.${from}`, `is ${to} now`),
  ],
  renameValue: ({ table, column, from, to }) => [
    failing('VALUE_RENAMED', `${table}.${column}`, `has ${to} instead of ${from}`),
  ],
  alterTable: ({ table, changes }) => changes.flatMap((change) => tableChanges(table, change)),
  createIndex: ({ table, index: { columns, unique } }) => {
    const name = `${table}.${columns.join(', ')}`;
    return unique
      ? [inTheWay('UNIQUE_ADDED', name, 'must not repeat')]
      : [stepChange('safe', 'INDEX_ADDED', name, 'has an index')];
  },
  dropIndex: () => [],
};

function tableChanges(table: string, change: TableChange): Change[] {
  if ('key' in change) {
    if (change.kind === 'dropForeignKey') return [];
    const { columns, table: other } = change.key;
    const what = `must refer to a row of ${other}`;
    return [inTheWay('REFERENCE_ADDED', `${table}.${columns.join(', ')}`, what)];
  }
  if (change.kind === 'alter') return alterations(`${table}.${change.after.name}`, change);
  const name = `${table}.${change.column.name}`;
  if (change.kind === 'drop')
    return [stepChange('breaking', 'COLUMN_DROPPED', name, 'is dropped with its values')];
  const { required, default: value } = change.column;
  if (!required) return [stepChange('safe', 'COLUMN_ADDED', name, 'is new')];
  return value
    ? [stepChange('safe', 'COLUMN_ADDED', name, 'is new, and rows get the default')]
    : [inTheWay('REQUIRED_COLUMN_ADDED', name, 'is required, and existing rows have no value')];
}

function alterations(
  name: string,
  { before, after }: Extract<TableChange, { kind: 'alter' }>,
): Change[] {
  const changes: Change[] = [];
  if (before.type !== after.type) changes.push(typeChange(name, before, after));
  if (after.required && !before.required)
    changes.push(
      after.default
        ? failing('COLUMN_REQUIRED', name, 'is required; rows without a value get the default')
        : inTheWay('COLUMN_REQUIRED', name, 'is required, and rows may have no value'),
    );
  if (after.unique && !before.unique)
    changes.push(inTheWay('UNIQUE_ADDED', name, 'must not repeat'));
  const gone = (before.values ?? []).filter(
    (value) => after.values && !after.values.includes(value),
  );
  if (gone.length > 0)
    changes.push(inTheWay('VALUE_REMOVED', name, `has no ${gone.join(', ')} any more`));
  else if (!before.values && after.values)
    changes.push(inTheWay('VALUE_REMOVED', name, `takes only ${after.values.join(', ')}`));
  else if (!before.values && isTighter(before, after))
    changes.push(inTheWay('CHECK_CHANGED', name, 'has another check, which rows may not pass'));
  if (after.references && after.references.table !== before.references?.table)
    changes.push(
      inTheWay('REFERENCE_ADDED', name, `must refer to a row of ${after.references.table}`),
    );
  return changes;
}

function isTighter(before: TableColumn, after: TableColumn): boolean {
  const old = columnChecks(before).map((check) => JSON.stringify(check));
  return columnChecks(after).some((check) => !old.includes(JSON.stringify(check)));
}

function typeChange(name: string, before: TableColumn, after: TableColumn): Change {
  const what = `is ${after.type} instead of ${before.type}`;
  if (mayLose(before.type, after.type))
    return stepChange('breaking', 'TYPE_CHANGED', name, `${what}, and values can be rounded`);
  return isExact(before.type, after.type)
    ? failing('TYPE_CHANGED', name, what)
    : inTheWay('TYPE_CHANGED', name, `${what}, which not every value can become`);
}

const inTheWay = (code: string, coordinate: string, what: string): Change =>
  stepChange('dangerous', code, coordinate, what);

/**
 * The change of a step on which servers of the previous release fail. They still run while the new
 * one starts.
 */
const failing = (code: string, coordinate: string, what: string): Change =>
  stepChange('dangerous', code, coordinate, `${what}; servers of the release before fail`);

function stepChange(level: Level, code: string, coordinate: string, what: string): Change {
  return { class: 'data', level, code, coordinate, message: `${coordinate} ${what}` };
}

/** Changes of a column's type that keep every value: the rows of "Rows come first" in the docs. */
const EXACT: Readonly<Partial<Record<ColumnType, readonly ColumnType[]>>> = {
  integer: ['bigint', 'real', 'decimal', 'text'],
  bigint: ['decimal', 'text'],
  real: ['text'],
  decimal: ['text'],
  boolean: ['text'],
  timestamp: ['text'],
  date: ['timestamp', 'text'],
  time: ['text'],
  uuid: ['text'],
};

/** Changes that round a value, or cut its time of day, with `--allow-loss`. */
const LOSSY: Readonly<Partial<Record<ColumnType, readonly ColumnType[]>>> = {
  real: ['integer', 'bigint'],
  decimal: ['integer', 'bigint', 'real'],
  bigint: ['real'],
  timestamp: ['date'],
};

const isExact = (from: ColumnType, to: ColumnType): boolean => EXACT[from]?.includes(to) ?? false;

const mayLose = (from: ColumnType, to: ColumnType): boolean => LOSSY[from]?.includes(to) ?? false;
