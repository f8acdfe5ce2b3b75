import type { IdKind, SourceText, Table, TableColumn, TableForeignKey } from '@twofold/schema';
import { readTableLine } from './table-lines.ts';
import { type MigrationText, readMigration } from './read/statements.ts';
import { changesTables, editColumn, type ReadStep, stepsOf } from './read/steps.ts';

/** The tables that a list of migrations produces, read from their texts alone. */
export interface Folded {
  readonly tables: readonly Table[];
  /** Null before the first migration that defines a primary key. */
  readonly ids: IdKind | null;
  /** Steps that change something that no earlier step made. */
  readonly broken: readonly BrokenStep[];
  /**
   * Statements that may change tables and cannot be read, in files without `export const leaves`.
   */
  readonly unread: readonly UnreadStatement[];
  /** Columns that two branches both added. A database may have either definition. */
  readonly contested: ReadonlySet<string>;
  /** The last migration that defines a column, by `posts.title`. */
  readonly definedIn: ReadonlyMap<string, string>;
  readonly allowLoss: ReadonlyMap<string, readonly string[]>;
}

export interface BrokenStep {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface UnreadStatement {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The columns of one table, by name. */
type Columns = Map<string, TableColumn>;

interface FoldState {
  readonly tables: Map<
    string,
    {
      columns: Columns;
      primaryKey: readonly string[];
      foreignKeys: readonly TableForeignKey[];
      indexes: Table['indexes'];
    }
  >;
  readonly broken: BrokenStep[];
  readonly unread: UnreadStatement[];
  readonly contested: Set<string>;
  readonly definedIn: Map<string, string>;
}

/** Applies migrations in the order of their names. */
export function foldMigrations(migrations: readonly SourceText[]): Folded {
  const state: FoldState = {
    tables: new Map(),
    broken: [],
    unread: [],
    contested: new Set(),
    definedIn: new Map(),
  };
  let ids: IdKind | null = null;
  for (const { file, text } of migrations) {
    const read = readMigration(text);
    ids ??= read.ids;
    follow(state, file, read);
  }
  return {
    tables: [...state.tables].map(([name, table]) => ({
      name,
      columns: [...table.columns.values()],
      primaryKey: table.primaryKey,
      ...(table.foreignKeys.length > 0 && { foreignKeys: table.foreignKeys }),
      indexes: table.indexes,
    })),
    ids,
    broken: state.broken,
    unread: state.unread,
    contested: state.contested,
    definedIn: state.definedIn,
    allowLoss: new Map(migrations.map(({ file, text }) => [file, readMigration(text).allowLoss])),
  };
}

function follow(state: FoldState, file: string, { statements, leaves }: MigrationText): void {
  for (const statement of statements) {
    const steps = statement.kind === 'calls' ? stepsOf(statement.chain) : null;
    const text = statement.kind === 'unread' ? statement.text : '';
    if (steps) for (const step of steps) take(state, step, { file, line: statement.line });
    else if (leaves === null && (statement.kind === 'calls' || changesTables(text)))
      state.unread.push({ file, line: statement.line, text });
  }
  for (const line of leaves ?? []) applyLeavesLine(state, line);
}

/** A line of `leaves` replaces what was known about its table or column. */
function applyLeavesLine(state: FoldState, line: string): void {
  const read = readTableLine(line);
  if (!read) return;
  if (read.kind === 'whole') return takeTable(state, read.table);
  const table = state.tables.get(read.table);
  if (read.kind === 'gone') {
    if (read.column === undefined) state.tables.delete(read.table);
    else table?.columns.delete(read.column);
  } else if (read.kind === 'column') table?.columns.set(read.column.name, read.column);
  else
    state.tables.set(read.table, {
      columns: new Map(),
      primaryKey: read.primaryKey,
      foreignKeys: read.foreignKeys,
      indexes: [],
    });
}

function takeTable({ tables }: FoldState, table: Table): void {
  const { name, columns, primaryKey, foreignKeys = [], indexes } = table;
  const known = new Map(columns.map((column) => [column.name, column]));
  tables.set(name, { columns: known, primaryKey, foreignKeys, indexes });
}

interface LineOfFile {
  readonly file: string;
  readonly line: number;
}

function take(state: FoldState, step: ReadStep, place: LineOfFile): void {
  const broken = (what: string) => void state.broken.push({ ...place, what });
  if (step.kind === 'createTable') return createTable(state, step, { place, broken });
  if (step.kind === 'dropIndex') return dropIndex(state, step.name);
  const table = state.tables.get(step.table);
  if (!table)
    return broken(`${WORDS[step.kind]} ${step.table}, which no migration before it makes`);
  switch (step.kind) {
    case 'dropTable':
      return void state.tables.delete(step.table);
    case 'renameTable':
      return renameTable(state, step.table, step.to);
    case 'createIndex':
      table.indexes = [...table.indexes.filter(({ name }) => name !== step.index.name), step.index];
      return;
    case 'addColumn':
    case 'setColumn':
      if (step.kind === 'setColumn' && !table.columns.has(step.column.name))
        return broken(
          `changes ${step.table}.${step.column.name}, which no migration before it makes`,
        );
      return defineColumn(state, step, place);
    case 'renameColumn':
      renameReferences(state, step);
      return changeColumn(table, step, broken);
    case 'addForeignKey':
      table.foreignKeys = [...table.foreignKeys, step.key];
      return;
    case 'dropForeignKey':
      table.foreignKeys = table.foreignKeys.filter(
        ({ columns }) => columns.join() !== step.columns.join(),
      );
      return;
    default:
      return changeColumn(table, step, broken);
  }
}

function defineColumn(
  state: FoldState,
  { kind, table, column }: Extract<ReadStep, { readonly kind: 'addColumn' | 'setColumn' }>,
  { file }: LineOfFile,
): void {
  const coordinate = `${table}.${column.name}`;
  const { columns } = state.tables.get(table)!;
  if (kind === 'addColumn' && columns.has(column.name)) state.contested.add(coordinate);
  else state.contested.delete(coordinate);
  state.definedIn.set(coordinate, file);
  columns.set(column.name, column);
}

const WORDS: Readonly<Record<Exclude<ReadStep['kind'], 'createTable' | 'dropIndex'>, string>> = {
  dropTable: 'drops',
  renameTable: 'renames',
  renameColumn: 'changes',
  addColumn: 'changes',
  setColumn: 'changes',
  editColumn: 'changes',
  dropColumn: 'changes',
  createIndex: 'makes an index of',
  addForeignKey: 'changes',
  dropForeignKey: 'changes',
};

type TableState = FoldState['tables'] extends Map<string, infer T> ? T : never;

function changeColumn(
  table: TableState,
  step: Extract<ReadStep, { readonly kind: 'renameColumn' | 'editColumn' | 'dropColumn' }>,
  broken: (what: string) => void,
): void {
  const name = step.kind === 'renameColumn' ? step.from : step.name;
  const column = table.columns.get(name);
  if (!column) return broken(`changes ${step.table}.${name}, which no migration before it makes`);
  if (step.kind === 'editColumn')
    return void table.columns.set(name, step.links.reduce(editColumn, column));
  if (step.kind === 'dropColumn') {
    table.columns.delete(name);
    table.foreignKeys = table.foreignKeys.filter(({ columns }) => !columns.includes(name));
    table.indexes = table.indexes.filter(({ columns }) => !columns.includes(name));
    return;
  }
  const { to } = step;
  const renamed = (each: string) => (each === name ? to : each);
  table.columns = new Map(
    [...table.columns.values()].map((each) => [
      renamed(each.name),
      { ...each, name: renamed(each.name) },
    ]),
  );
  table.primaryKey = table.primaryKey.map(renamed);
  table.indexes = table.indexes.map((index) => ({ ...index, columns: index.columns.map(renamed) }));
  table.foreignKeys = table.foreignKeys.map((key) => ({
    ...key,
    columns: key.columns.map(renamed),
  }));
}

/** Renames a column in the foreign keys that refer to it. */
function renameReferences(
  { tables }: FoldState,
  { table, from, to }: Extract<ReadStep, { readonly kind: 'renameColumn' }>,
): void {
  for (const other of tables.values())
    other.foreignKeys = other.foreignKeys.map((key) =>
      key.table === table
        ? { ...key, references: key.references.map((name) => (name === from ? to : name)) }
        : key,
    );
}

function createTable(
  state: FoldState,
  { table, columns, primaryKey, foreignKeys }: Extract<ReadStep, { readonly kind: 'createTable' }>,
  { place, broken }: { readonly place: LineOfFile; readonly broken: (what: string) => void },
): void {
  if (state.tables.has(table))
    return broken(`makes ${table}, which a migration before it makes too`);
  for (const { name } of columns) state.definedIn.set(`${table}.${name}`, place.file);
  state.tables.set(table, {
    columns: new Map(columns.map((column) => [column.name, column])),
    primaryKey,
    foreignKeys,
    indexes: [],
  });
}

function dropIndex(state: FoldState, name: string): void {
  for (const table of state.tables.values())
    table.indexes = table.indexes.filter((index) => index.name !== name);
}

/** Renames a table, also in the references of other tables. */
function renameTable(state: FoldState, from: string, to: string): void {
  const entries = [...state.tables].map(
    ([name, table]) => [name === from ? to : name, table] as const,
  );
  state.tables.clear();
  for (const [name, table] of entries) {
    for (const column of table.columns.values())
      if (column.references?.table === from)
        table.columns.set(column.name, {
          ...column,
          references: { ...column.references, table: to },
        });
    table.foreignKeys = table.foreignKeys.map((key) =>
      key.table === from ? { ...key, table: to } : key,
    );
    state.tables.set(name, table);
  }
}
