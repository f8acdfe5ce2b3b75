import {
  type IdKind,
  type MigrationStep,
  type SourceText,
  type StepOf,
  type Table,
  type TableChange,
  type TableColumn,
  tableOf,
  lookUp,
} from '@twofold/schema';
import { lineAt } from '../upgrade/text-edits.ts';
import { type LineOf, readMigration, type UnreadCode } from './read-migration.ts';

/** The tables that a list of migrations produces, read from their texts alone. */
export interface Folded {
  readonly tables: readonly Table[];
  /** Null before the first migration that makes a table. */
  readonly ids: IdKind | null;
  /** Steps that change something that no earlier step made. */
  readonly broken: readonly BrokenStep[];
  /** What is no step, or not all of one. */
  readonly misfits: readonly BrokenStep[];
  /** Code that may change tables, in files without `export const leaves`. */
  readonly unread: readonly UnreadStatement[];
  /** Columns that two branches both added. A database may have either definition. */
  readonly contested: ReadonlySet<string>;
  /** The last migration that defines a column, by `posts.title`. */
  readonly definedIn: ReadonlyMap<string, string>;
  readonly allowLoss: ReadonlyMap<string, readonly string[]>;
}

export interface BrokenStep extends LineOf {
  readonly file: string;
}

export interface UnreadStatement extends UnreadCode {
  readonly file: string;
}

interface FoldState {
  readonly tables: Map<string, Table>;
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
  const read = migrations.map(({ file, text }) => ({ file, text, ...readMigration(text) }));
  for (const { file, text, steps, places, leaves, unread } of read) {
    steps.forEach((step, at) => {
      const broken = (what: string) =>
        void state.broken.push({ file, line: lineAt(text, places[at]!), what });
      take(state, step, { file, broken });
    });
    if (leaves === null) state.unread.push(...unread.map((each) => ({ file, ...each })));
    for (const step of leaves ?? []) takeStated(state, step, file);
  }
  const first = read.find(({ steps }) => steps.some(({ kind }) => kind === 'createTable'));
  return {
    ...state,
    tables: [...state.tables.values()],
    ids: first?.ids ?? null,
    allowLoss: new Map(read.map(({ file, allowLoss }) => [file, allowLoss])),
    misfits: read.flatMap(({ file, misfits }) => misfits.map((each) => ({ file, ...each }))),
  };
}

/** A step of `leaves` replaces what was known, and is never wrong. */
function takeStated(state: FoldState, step: MigrationStep, file: string): void {
  if (step.kind === 'createTable') state.tables.delete(step.table.name);
  const stated = { ...state, contested: new Set<string>(), definedIn: new Map<string, string>() };
  take(stated, step, { file, broken: () => {} });
}

/** The file of a step, and how to say that the step does not fit. */
interface Place {
  readonly file: string;
  readonly broken: (what: string) => void;
}

function take(state: FoldState, step: MigrationStep, place: Place): void {
  const name = tableOf(step);
  const table = state.tables.get(name);
  if (step.kind === 'createTable') {
    if (table) return place.broken(`makes ${name}, which a migration before it makes too`);
    for (const column of step.table.columns)
      state.definedIn.set(`${name}.${column.name}`, place.file);
    return void state.tables.set(name, step.table);
  }
  if (table) return (FOLDS[step.kind] as Fold<MigrationStep>)(state, { table, step, place });
  const verb = WORDS[step.kind];
  if (verb) place.broken(`${verb} ${name}, which no migration before it makes`);
}

const WORDS: Readonly<Partial<Record<MigrationStep['kind'], string>>> = {
  dropTable: 'drops',
  renameTable: 'renames',
  renameColumn: 'changes',
  alterTable: 'changes',
  createIndex: 'makes an index of',
};

interface Folding<Step> {
  readonly table: Table;
  readonly step: Step;
  readonly place: Place;
}

type Fold<Step> = (state: FoldState, folding: Folding<Step>) => void;

const FOLDS: {
  readonly [K in Exclude<MigrationStep['kind'], 'createTable'>]: Fold<StepOf<K>>;
} = {
  dropTable: ({ tables }, { table }) => void tables.delete(table.name),
  renameTable: renameTable,
  renameColumn: renameColumn,
  renameValue: () => {},
  alterTable: (state, folding) => {
    for (const change of folding.step.changes) changeTable(state, folding, change);
  },
  createIndex: ({ tables }, { table, step: { index } }) =>
    void tables.set(table.name, {
      ...table,
      indexes: [...table.indexes.filter(({ name }) => name !== index.name), index],
    }),
  dropIndex: ({ tables }, { table, step: { index } }) =>
    void tables.set(table.name, {
      ...table,
      indexes: table.indexes.filter(({ name }) => name !== index.name),
    }),
};

function changeTable(
  state: FoldState,
  { table: { name }, place }: Folding<unknown>,
  change: TableChange,
): void {
  const table = lookUp(state.tables, name);
  const set = (changed: Table) => void state.tables.set(name, changed);
  const { foreignKeys = [] } = table;
  if ('key' in change) {
    const others = foreignKeys.filter(
      ({ columns }) => columns.join() !== change.key.columns.join(),
    );
    const keys = change.kind === 'addForeignKey' ? [...foreignKeys, change.key] : others;
    return set(withKeys(table, keys));
  }
  const column = change.kind === 'alter' ? change.after : change.column;
  const coordinate = `${name}.${column.name}`;
  const isThere = table.columns.some((each) => each.name === column.name);
  if (change.kind !== 'add' && !isThere)
    return place.broken(`changes ${coordinate}, which no migration before it makes`);
  if (change.kind === 'drop') return set(withoutColumn(table, column.name));
  if (change.kind === 'add' && isThere) state.contested.add(coordinate);
  else state.contested.delete(coordinate);
  state.definedIn.set(coordinate, place.file);
  set(withColumn(table, column));
}

/** Sets the definition of a column; a new one comes last. */
export function withColumn(table: Table, column: TableColumn): Table {
  const isThere = table.columns.some(({ name }) => name === column.name);
  const columns = isThere
    ? table.columns.map((each) => (each.name === column.name ? column : each))
    : [...table.columns, column];
  return { ...table, columns };
}

function withoutColumn(table: Table, gone: string): Table {
  const { columns, indexes, foreignKeys = [] } = table;
  const lacks = (each: { readonly columns: readonly string[] }) => !each.columns.includes(gone);
  return {
    ...withKeys(table, foreignKeys.filter(lacks)),
    columns: columns.filter(({ name }) => name !== gone),
    indexes: indexes.filter(lacks),
  };
}

function withKeys(
  { foreignKeys: _old, ...table }: Table,
  foreignKeys: Table['foreignKeys'],
): Table {
  return { ...table, ...some(foreignKeys) };
}

/** The list; left out when it is empty, because most tables have none. */
const some = (foreignKeys: Table['foreignKeys'] = []) =>
  foreignKeys.length > 0 ? { foreignKeys } : {};

/** Renames a column, also in the foreign keys that refer to it. */
function renameColumn(
  { tables }: FoldState,
  { table: of, step: { from, to }, place }: Folding<StepOf<'renameColumn'>>,
): void {
  if (!of.columns.some(({ name }) => name === from))
    return place.broken(`changes ${of.name}.${from}, which no migration before it makes`);
  const named = (list: readonly string[]) => list.map((name) => (name === from ? to : name));
  for (const [name, table] of tables) {
    const own = table === of;
    const { foreignKeys = [] } = table;
    const keys = foreignKeys.map((key) => ({
      ...key,
      ...(own && { columns: named(key.columns) }),
      ...(key.table === of.name && { references: named(key.references) }),
    }));
    const renamed = {
      columns: table.columns.map((each) => (each.name === from ? { ...each, name: to } : each)),
      primaryKey: named(table.primaryKey),
      indexes: table.indexes.map((each) => ({ ...each, columns: named(each.columns) })),
    };
    tables.set(name, { ...withKeys(table, keys), ...(own && renamed) });
  }
}

/** Renames a table, also in the references of other tables. */
function renameTable(
  { tables }: FoldState,
  { step: { from, to } }: Folding<StepOf<'renameTable'>>,
): void {
  const led = <Reference extends { readonly table: string }>(reference: Reference): Reference =>
    reference.table === from ? { ...reference, table: to } : reference;
  const all = [...tables.values()];
  tables.clear();
  for (const table of all) {
    const name = table.name === from ? to : table.name;
    const columns = table.columns.map((each) =>
      each.references ? { ...each, references: led(each.references) } : each,
    );
    tables.set(name, { ...withKeys(table, table.foreignKeys?.map(led)), name, columns });
  }
}
