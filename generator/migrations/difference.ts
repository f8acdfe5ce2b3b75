import type { Table, TableColumn } from '@twofold/schema';
import type { ColumnChange, Step } from '../../templates/steps.ts';

/** What stands between two lists of tables. */
export interface Difference {
  readonly steps: readonly Step[];
  /** Tables and columns that the schema has no more, and that stay until `--allow-drop` names them. */
  readonly kept: readonly Kept[];
  /** The tables once the steps are done: the wanted ones, and what is kept. */
  readonly tables: readonly Table[];
}

/** `users` or `users.nickname`. `replacement` is the one new column that it may have become: a rename needs a decision. */
export interface Kept {
  readonly coordinate: string;
  readonly replacement?: string;
}

/**
 * Finds the steps from one list of tables to another. Nothing is dropped but what `allowDrop` names; what must go on
 * existing no longer needs a value, so that rows can still be added.
 */
export function findDifference(before: readonly Table[], wanted: readonly Table[], allowDrop: (coordinate: string) => boolean): Difference {
  const renames = renamedTables(before, wanted);
  const known = before.map((table) => renameTable(table, renames));
  const created = wanted.filter((table) => !known.some(({ name }) => name === table.name));
  const gone = known.filter((table) => !wanted.some(({ name }) => name === table.name));
  const dropped = gone.filter(({ name }) => allowDrop(name));
  const changed = wanted.flatMap((table) => {
    const old = known.find(({ name }) => name === table.name);
    return old ? [compareTable(old, table, allowDrop)] : [];
  });
  const keptTables = gone.filter((table) => !dropped.includes(table));
  return {
    steps: [
      ...[...renames].map(([from, to]): Step => ({ kind: 'renameTable', from, to })),
      ...changed.flatMap((table) => table.dropIndexes),
      ...changed.flatMap((table) => table.renames),
      ...ordered(created).map((table): Step => ({ kind: 'createTable', table })),
      ...changed.flatMap((table) => table.alter),
      ...changed.flatMap((table) => table.createIndexes),
      ...ordered(dropped).reverse().map((table): Step => ({ kind: 'dropTable', table })),
    ],
    kept: [...keptTables.map(({ name }) => ({ coordinate: name })), ...changed.flatMap((table) => table.kept)],
    tables: [...wanted.map((table) => changed.find(({ after }) => after.name === table.name)?.after ?? table), ...keptTables],
  };
}

function renamedTables(before: readonly Table[], wanted: readonly Table[]): Map<string, string> {
  const names = new Set(before.map(({ name }) => name));
  const renamed = wanted.filter(({ name, renamedFrom }) => renamedFrom !== undefined && names.has(renamedFrom) && !names.has(name));
  return new Map(renamed.map(({ name, renamedFrom }) => [renamedFrom!, name]));
}

/** The same table under its new name, and with the new names of the tables that it refers to. */
function renameTable(table: Table, renames: ReadonlyMap<string, string>): Table {
  const columns = table.columns.map((column) =>
    column.references ? { ...column, references: { ...column.references, table: renames.get(column.references.table) ?? column.references.table } } : column,
  );
  return { ...table, name: renames.get(table.name) ?? table.name, columns };
}

interface TableChange {
  readonly after: Table;
  readonly renames: readonly Step[];
  readonly dropIndexes: readonly Step[];
  readonly alter: readonly Step[];
  readonly createIndexes: readonly Step[];
  readonly kept: readonly Kept[];
}

function compareTable(before: Table, wanted: Table, allowDrop: (coordinate: string) => boolean): TableChange {
  const renamed = renameColumns(before, wanted);
  const added = wanted.columns.filter((column) => !has(renamed.table.columns, column.name));
  const gone = renamed.table.columns.filter((column) => !has(wanted.columns, column.name));
  const dropped = gone.filter((column) => allowDrop(`${wanted.name}.${column.name}`));
  const kept = gone.filter((column) => !dropped.includes(column)).map(loosened);
  const after = { ...wanted, columns: [...wanted.columns, ...kept] };
  const changes: ColumnChange[] = [
    ...dropped.map((column): ColumnChange => ({ kind: 'drop', column })),
    ...added.map((column): ColumnChange => ({ kind: 'add', column })),
    ...after.columns.flatMap((column) => alteration(renamed.table.columns, column)),
  ];
  const { name } = wanted;
  return {
    after,
    renames: renamed.steps,
    dropIndexes: before.indexes.filter((index) => !hasIndex(wanted, index)).map((index): Step => ({ kind: 'dropIndex', table: name, index })),
    alter: changes.length > 0 ? [{ kind: 'alterTable', table: name, changes }] : [],
    createIndexes: wanted.indexes.filter((index) => !hasIndex(before, index)).map((index): Step => ({ kind: 'createIndex', table: name, index })),
    kept: gone.filter((column) => !dropped.includes(column)).map((column) => ({ coordinate: `${name}.${column.name}`, ...replacementOf(column, { gone, added }) })),
  };
}

function renameColumns(before: Table, wanted: Table): { table: Table; steps: Step[] } {
  const pairs = wanted.columns.filter(
    ({ name, renamedFrom }) => renamedFrom !== undefined && has(before.columns, renamedFrom) && !has(before.columns, name),
  );
  const names = new Map(pairs.map(({ name, renamedFrom }) => [renamedFrom!, name]));
  const columns = before.columns.map((column) => ({ ...column, name: names.get(column.name) ?? column.name }));
  const steps = [...names].map(([from, to]): Step => ({ kind: 'renameColumn', table: wanted.name, from, to }));
  return { table: { ...before, columns }, steps };
}

/** A column that the schema no longer knows must not stand in the way of new rows. */
function loosened(column: TableColumn): TableColumn {
  return { ...column, required: false };
}

function alteration(before: readonly TableColumn[], column: TableColumn): ColumnChange[] {
  const old = before.find(({ name }) => name === column.name);
  return old && shapeOf(old) !== shapeOf(column) ? [{ kind: 'alter', before: old, after: column }] : [];
}

/** What the database sees of a column. */
function shapeOf({ type, required, unique, default: value, values, references }: TableColumn): string {
  return JSON.stringify([type, required, unique, value?.kind === 'value' ? value.value : null, values ?? null, references ? [references.table, references.column, references.onDelete] : null]);
}

function replacementOf(column: TableColumn, { gone, added }: { gone: readonly TableColumn[]; added: readonly TableColumn[] }): { replacement?: string } {
  const alike = (other: TableColumn) => other.type === column.type && other.references?.table === column.references?.table;
  const candidates = added.filter(alike);
  return candidates.length === 1 && gone.filter(alike).length === 1 ? { replacement: candidates[0]!.name } : {};
}

function has(columns: readonly TableColumn[], name: string): boolean {
  return columns.some((column) => column.name === name);
}

function hasIndex(table: Table, index: Table['indexes'][number]): boolean {
  return table.indexes.some((each) => each.name === index.name && each.unique === index.unique && each.columns.join() === index.columns.join());
}

/** Tables after those that they refer to, as PostgreSQL wants them. A circle is broken at its last table. */
function ordered(tables: readonly Table[]): Table[] {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const done = new Set<string>();
  const result: Table[] = [];
  const visit = (table: Table) => {
    if (done.has(table.name)) return;
    done.add(table.name);
    for (const { references } of table.columns) {
      const target = references && byName.get(references.table);
      if (target) visit(target);
    }
    result.push(table);
  };
  tables.forEach(visit);
  return result;
}
