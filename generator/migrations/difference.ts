import {
  columnChecks,
  inverseSteps,
  type MigrationStep,
  type Table,
  type TableChange,
  type TableColumn,
} from '@twofold/schema';
import { createSteps } from './create-steps.ts';
import { foreignKeySteps } from './foreign-keys.ts';

/** The steps from one list of tables to another. */
export interface Difference {
  readonly steps: readonly MigrationStep[];
  /**
   * Tables and columns that the schema no longer has. They stay until `--allow-drop` names them.
   */
  readonly kept: readonly KeptObject[];
  /** The tables after the steps: the wanted ones and the kept ones. */
  readonly tables: readonly Table[];
}

/**
 * `users` or `users.nickname`. `replacements` are new tables or columns of the same kind: if there
 * are any, the user has to decide whether it was renamed.
 */
export interface KeptObject {
  readonly coordinate: string;
  readonly replacements: readonly string[];
}

export interface DifferenceOptions {
  readonly allowDrop: (coordinate: string) => boolean;
  /** Columns that databases may have with different definitions: their definition is set again. */
  readonly contested?: ReadonlySet<string>;
  /** Renamed enum values of a column. */
  readonly valueRenames?: (table: string, column: string) => readonly ValueRename[];
}

export interface ValueRename {
  readonly from: string;
  readonly to: string;
}

/**
 * Finds the steps from one list of tables to another. Only what `allowDrop` names is dropped; what is
 * kept no longer prevents new rows, nor the removal of rows that it refers to.
 */
export function findDifference(
  before: readonly Table[],
  wanted: readonly Table[],
  { allowDrop, valueRenames = () => [], contested = new Set() }: DifferenceOptions,
): Difference {
  const entities = renamedTables(before, wanted);
  const joins = renamedJoins(
    before.map((table) => renameTable(table, entities)),
    wanted,
  );
  const renames = new Map([...entities, ...joins.tables]);
  const known = byName(
    before.map((table) => renameTable(renameTable(table, entities), joins.tables)),
  );
  const created = wanted.filter(({ name }) => !known.has(name));
  const stays = byName(wanted);
  const gone = [...known.values()].filter(({ name }) => !stays.has(name));
  const dropped = gone.filter(({ name }) => allowDrop(name));
  const options = { allowDrop, valueRenames, contested };
  const changed = wanted.flatMap((table) => {
    const old = known.get(table.name);
    return old ? [compareTable(old, joins.marked.get(table.name) ?? table, options)] : [];
  });
  const keptTables = gone.filter((table) => !dropped.includes(table)).map(released);
  const after = byName(changed.map((table) => table.after));
  const foreignKeys = foreignKeySteps(
    known,
    wanted,
    new Map(changed.map((table) => [table.after.name, table.columnRenames])),
  );
  return {
    steps: [
      ...[...renames].map(([from, to]): MigrationStep => ({ kind: 'renameTable', from, to })),
      ...foreignKeys.drop,
      ...changed.flatMap((table) => table.dropIndexes),
      ...changed.flatMap((table) => table.renames),
      ...createSteps(created),
      ...changed.flatMap((table) => table.alter),
      ...keptTables.flatMap((table) => releaseSteps(table, known)),
      ...changed.flatMap((table) => table.createIndexes),
      ...foreignKeys.add,
      ...inverseSteps(createSteps(dropped)),
    ],
    kept: [
      ...keptTables.map((table) => ({
        coordinate: table.name,
        replacements: created.filter((other) => isAlike(table, other)).map(({ name }) => name),
      })),
      ...changed.flatMap((table) => table.kept),
    ],
    tables: [...wanted.map((table) => after.get(table.name) ?? table), ...keptTables],
  };
}

/** The steps after which a table that is kept no longer prevents anything. */
const releaseSteps = ({ name, columns }: Table, known: ReadonlyMap<string, Table>) => {
  const before = known.get(name)?.columns ?? [];
  return alterSteps(
    name,
    columns.flatMap((column) => alteration(before, column, false)),
  );
};

function byName(tables: readonly Table[]): Map<string, Table> {
  return new Map(tables.map((table) => [table.name, table]));
}

function renamedTables(before: readonly Table[], wanted: readonly Table[]): Map<string, string> {
  const names = new Set(before.map(({ name }) => name));
  const renamed = wanted.filter(
    ({ name, renamedFrom }) =>
      renamedFrom !== undefined && names.has(renamedFrom) && !names.has(name),
  );
  return new Map(renamed.map(({ name, renamedFrom }) => [renamedFrom!, name]));
}

interface JoinRenames {
  readonly tables: ReadonlyMap<string, string>;
  /** The wanted tables, whose columns have `renamedFrom`. */
  readonly marked: ReadonlyMap<string, Table>;
}

/**
 * A join table is named after its two types, so a renamed type renames it. It is the same table if
 * it joins the same two tables, and only one such table is gone and only one is new.
 */
function renamedJoins(before: readonly Table[], wanted: readonly Table[]): JoinRenames {
  const gone = before.filter(({ name }) => !wanted.some((each) => each.name === name));
  const created = wanted.filter(({ name }) => !before.some((each) => each.name === name));
  const pairs = created.flatMap((table) => {
    const ends = endsOf(table);
    const alike = (each: Table) => ends !== null && endsOf(each) === ends;
    const [old, ...others] = gone.filter(alike);
    return old && others.length === 0 && created.filter(alike).length === 1 ? [{ old, table }] : [];
  });
  return {
    tables: new Map(pairs.map(({ old, table }) => [old.name, table.name])),
    marked: new Map(pairs.map(({ old, table }) => [table.name, withOldNames(table, old)])),
  };
}

/**
 * The two tables that a join table joins; null for any other table, and for one that joins a table
 * with itself.
 */
function endsOf({ columns, primaryKey }: Table): string | null {
  const ends = columns.map(({ references }) => references?.table);
  const joins = primaryKey.length === 2 && columns.length === 2 && !ends.includes(undefined);
  return joins && ends[0] !== ends[1] ? ends.toSorted().join() : null;
}

function withOldNames(table: Table, old: Table): Table {
  const columns = table.columns.map((column) => {
    const from = old.columns.find(
      ({ references }) => references?.table === column.references?.table,
    );
    return from && from.name !== column.name ? { ...column, renamedFrom: from.name } : column;
  });
  return { ...table, columns };
}

/** The table under its new name, and with the new names of the tables that it references. */
function renameTable(table: Table, renames: ReadonlyMap<string, string>): Table {
  const columns = table.columns.map((column) =>
    column.references
      ? {
          ...column,
          references: {
            ...column.references,
            table: renames.get(column.references.table) ?? column.references.table,
          },
        }
      : column,
  );
  const { foreignKeys } = table;
  return {
    ...table,
    name: renames.get(table.name) ?? table.name,
    columns,
    ...(foreignKeys && {
      foreignKeys: foreignKeys.map((key) => ({
        ...key,
        table: renames.get(key.table) ?? key.table,
      })),
    }),
  };
}

interface Compared {
  readonly after: Table;
  readonly renames: readonly MigrationStep[];
  readonly columnRenames: ReadonlyMap<string, string>;
  readonly dropIndexes: readonly MigrationStep[];
  readonly alter: readonly MigrationStep[];
  readonly createIndexes: readonly MigrationStep[];
  readonly kept: readonly KeptObject[];
}

function compareTable(
  before: Table,
  wanted: Table,
  { allowDrop, valueRenames, contested }: Required<DifferenceOptions>,
): Compared {
  const renamed = renameColumns(before, wanted);
  const added = wanted.columns.filter((column) => !has(renamed.table.columns, column.name));
  const gone = renamed.table.columns.filter((column) => !has(wanted.columns, column.name));
  const dropped = gone.filter((column) => allowDrop(`${wanted.name}.${column.name}`));
  const kept = gone.filter((column) => !dropped.includes(column)).map(releasedColumn);
  const after = { ...wanted, columns: [...wanted.columns, ...kept] };
  const changes: TableChange[] = [
    ...dropped.map((column): TableChange => ({ kind: 'drop', column })),
    ...added.map((column): TableChange => ({ kind: 'add', column })),
    ...after.columns.flatMap((column) =>
      alteration(renamed.table.columns, column, contested.has(`${wanted.name}.${column.name}`)),
    ),
  ];
  const { name } = wanted;
  return {
    after,
    renames: renamed.steps,
    columnRenames: renamed.names,
    dropIndexes: before.indexes
      .filter((index) => !hasIndex(wanted, index))
      .map((index): MigrationStep => ({ kind: 'dropIndex', table: name, index })),
    alter: withValueRenames(name, changes, (column) => valueRenames(name, column)),
    createIndexes: wanted.indexes
      .filter((index) => !hasIndex(before, index))
      .map((index): MigrationStep => ({ kind: 'createIndex', table: name, index })),
    kept: gone
      .filter((column) => !dropped.includes(column))
      .map((column) => ({
        coordinate: `${name}.${column.name}`,
        replacements: added.filter((other) => isSameKind(column, other)).map((each) => each.name),
      })),
  };
}

/**
 * Rewrites rows while both the old and the new values are allowed: the check constraint first
 * allows only the old ones, and afterwards only the new ones.
 */
function withValueRenames(
  table: string,
  changes: readonly TableChange[],
  renamesOf: (column: string) => readonly ValueRename[],
): MigrationStep[] {
  const renamed = changes.flatMap((change) => {
    if (change.kind !== 'alter' || !change.before.values || !change.after.values) return [];
    const { before, after } = change;
    const renames = renamesOf(after.name).filter(
      ({ from, to }) => before.values!.includes(from) && !before.values!.includes(to),
    );
    return renames.length > 0 ? [{ before, after, renames }] : [];
  });
  const alter = (list: readonly TableChange[]) => alterSteps(table, list);
  if (renamed.length === 0) return alter(changes);
  const both = renamed.map(({ before, after }) => ({
    ...before,
    values: [...new Set([...before.values!, ...after.values!])],
  }));
  return [
    ...alter(renamed.map(({ before }, at) => ({ kind: 'alter', before, after: both[at]! }))),
    ...renamed.flatMap(({ after, renames }) =>
      renames.map((rename): MigrationStep => ({
        kind: 'renameValue',
        table,
        column: after.name,
        ...rename,
      })),
    ),
    ...alter(
      changes.map((change) => {
        const at = renamed.findIndex(
          ({ after }) => change.kind === 'alter' && change.after === after,
        );
        return change.kind === 'alter' && at >= 0 ? { ...change, before: both[at]! } : change;
      }),
    ),
  ];
}

function renameColumns(
  before: Table,
  wanted: Table,
): { table: Table; steps: MigrationStep[]; names: ReadonlyMap<string, string> } {
  const pairs = wanted.columns.filter(
    ({ name, renamedFrom }) =>
      renamedFrom !== undefined && has(before.columns, renamedFrom) && !has(before.columns, name),
  );
  const names = new Map(pairs.map(({ name, renamedFrom }) => [renamedFrom!, name]));
  const columns = before.columns.map((column) => ({
    ...column,
    name: names.get(column.name) ?? column.name,
  }));
  const steps = [...names].map(([from, to]): MigrationStep => ({
    kind: 'renameColumn',
    table: wanted.name,
    from,
    to,
  }));
  return { table: { ...before, columns }, steps, names };
}

const alterSteps = (table: string, changes: readonly TableChange[]): MigrationStep[] =>
  changes.length > 0 ? [{ kind: 'alterTable', table, changes }] : [];

/**
 * A column that the schema no longer has must not prevent new rows. Nobody sees it, so it must
 * neither keep the row that it refers to, nor go with it.
 */
function releasedColumn(column: TableColumn): TableColumn {
  const { references } = column;
  return {
    ...column,
    required: false,
    ...(references && { references: { ...references, onDelete: 'set null' } }),
  };
}

/** The same for a table that no type has any more. What is part of its key goes with the other row. */
function released(table: Table): Table {
  const { primaryKey } = table;
  return {
    ...table,
    columns: table.columns.map((column) =>
      column.references && !primaryKey.includes(column.name) ? releasedColumn(column) : column,
    ),
  };
}

function alteration(
  before: readonly TableColumn[],
  column: TableColumn,
  contested: boolean,
): TableChange[] {
  const old = before.find(({ name }) => name === column.name);
  return old && (contested || shapeOf(old) !== shapeOf(column))
    ? [{ kind: 'alter', before: old, after: column }]
    : [];
}

/** The parts of a column that are visible in the database, to compare two columns. */
function shapeOf(column: TableColumn): string {
  const { type, required, unique, default: value, references } = column;
  return JSON.stringify([
    type,
    required,
    unique,
    value?.kind === 'value' ? value.value : null,
    columnChecks(column),
    references ? [references.table, references.column, references.onDelete] : null,
  ]);
}

/** Whether one column can keep the values of the other. */
export function isSameKind(column: TableColumn, other: TableColumn): boolean {
  return other.type === column.type && other.references?.table === column.references?.table;
}

/**
 * Whether at least half of the larger table's columns are also in the other one, not counting keys.
 */
export function isAlike(table: Table, other: Table): boolean {
  const own = table.columns.filter(({ name }) => !table.primaryKey.includes(name));
  const theirs = other.columns.filter(({ name }) => !other.primaryKey.includes(name));
  const shared = own.filter((column) =>
    theirs.some((each) => each.name === column.name && each.type === column.type),
  );
  return shared.length > 0 && shared.length * 2 >= Math.max(own.length, theirs.length);
}

function has(columns: readonly TableColumn[], name: string): boolean {
  return columns.some((column) => column.name === name);
}

function hasIndex(table: Table, index: Table['indexes'][number]): boolean {
  return table.indexes.some(
    (each) =>
      each.name === index.name &&
      each.unique === index.unique &&
      each.fold === index.fold &&
      JSON.stringify(each.search) === JSON.stringify(index.search) &&
      each.columns.join() === index.columns.join(),
  );
}
