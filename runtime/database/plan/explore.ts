import { type Kysely, sql } from 'kysely';
import { dialectOf, folded, storedType } from '@twofold/runtime/store';
import type { TableForeignKey } from '@twofold/schema';
import type { Preparation } from '../online/preparation.ts';
import type { Alteration, ColumnDescription, RecordedStep } from '../tables/alteration.ts';
import {
  changeOfType,
  checkText,
  defaultSql,
  newValue,
  typeText,
} from '../tables/column-values.ts';
import type { Does } from '../tables/effects.ts';
import type { Finding } from '../tables/migration-run.ts';
import {
  findLost,
  findRepeated,
  findRisks,
  findRows,
  type RowSource,
} from '../tables/row-checks.ts';
import { aspectsOf } from './aspects.ts';
import type { FoundStep } from './plan-step.ts';
import {
  type PlannedColumn,
  type PlannedTable,
  type PlannedTables,
  sourceOf,
  withColumn,
  withColumnRenamed,
  withTableRenamed,
} from './planned-tables.ts';
import {
  prepareAdded,
  prepareAltered,
  prepareCreatedIndex,
  prepareForeignKey,
  prepareSearch,
} from '../online/preparation.ts';

/** What is needed to explore a recorded step. */
export interface Exploring {
  readonly db: Kysely<any>;
  /** Each step changes it, so that the next step finds the tables that this one leaves. */
  readonly tables: PlannedTables;
  /** Number of the statement, from 1. */
  readonly statement: number;
  /** Number of rows of a table of the database. */
  readonly countRows: (table: string) => Promise<number>;
  /** Whether to read the first values at risk. */
  readonly values: boolean;
}

type StepOf<K extends RecordedStep['kind']> = RecordedStep & { readonly kind: K };

type Explore<Step> = (at: Exploring, step: Step) => FoundStep[] | Promise<FoundStep[]>;

const EXPLORE: { readonly [K in RecordedStep['kind']]: Explore<StepOf<K>> } = {
  createTable,
  dropTable,
  renameTable,
  renameColumn,
  renameValue,
  alterTable,
  createIndex,
  dropIndex: ({ statement }, { index }) => [
    { ...UNTOUCHED, statement, does: 'drop', object: index.name },
  ],
  unknown,
};

/** The steps of one statement with the rows that they would meet, found without any change. */
export async function explore(at: Exploring, step: RecordedStep): Promise<FoundStep[]> {
  return (EXPLORE[step.kind] as Explore<RecordedStep>)(at, step);
}

const UNTOUCHED = {
  table: null,
  rows: 0,
  finding: null,
  unread: false,
  compatible: true,
  preparations: [],
} as const;

interface ExploredStep {
  readonly does: Does;
  readonly object: string;
  readonly finding?: Finding | null | undefined;
  readonly compatible?: boolean;
  readonly preparations?: readonly Preparation[];
}

async function found(
  at: Exploring,
  table: string,
  { does, object, finding = null, compatible = true, preparations = [] }: ExploredStep,
): Promise<FoundStep> {
  const { statement, countRows } = at;
  const planned = at.tables.get(table);
  const real = planned?.real ?? null;
  const source = at.values && finding ? sourceFor(at, table) : null;
  return {
    does,
    object,
    table: real,
    statement,
    rows: real === null ? 0 : await countRows(real),
    finding,
    ...(source && { values: await valuesAtRisk(source, finding!) }),
    unread: planned?.unread ?? false,
    compatible: compatible || real === null,
    preparations,
  };
}

function createTable({ tables, statement }: Exploring, step: StepOf<'createTable'>): FoundStep[] {
  const { name, columns } = step.table;
  if (!tables.has(name))
    tables.set(name, {
      name,
      real: null,
      origin: null,
      key: [],
      columns: new Map(columns.map((column) => [column.name, NEW_COLUMN])),
      changed: true,
      unread: false,
    });
  return [{ ...UNTOUCHED, statement, does: 'create', object: name }];
}

/** The value of a new column in every row. */
const NO_VALUE = sql`null`;

const NEW_COLUMN: PlannedColumn = {
  value: NO_VALUE,
  origin: null,
  type: undefined,
  declared: '',
  required: false,
  unique: false,
  hasDefault: false,
  checks: [],
  references: null,
};

async function dropTable(at: Exploring, step: StepOf<'dropTable'>): Promise<FoundStep[]> {
  const { name: table } = step.table;
  const source = sourceFor(at, table);
  const [finding] = source ? await lost(source, '', sql`1 = 1`) : [];
  const made = await found(at, table, { does: 'drop', object: table, finding, compatible: false });
  at.tables.delete(table);
  return [made];
}

async function lost(source: RowSource, column: string, condition: ReturnType<typeof sql>) {
  const object = column === '' ? source.table : `${source.table}.${column}`;
  const findings = await findRows({ ...source, column: { name: column } }, 'drop', condition);
  return findings.map((each) => ({ ...each, object, code: 'MIGRATION_NEEDS_CONSENT' as const }));
}

async function renameTable(at: Exploring, step: StepOf<'renameTable'>): Promise<FoundStep[]> {
  const { from, to } = step;
  const made = await found(at, from, { does: 'rename', object: from, compatible: false });
  withTableRenamed(at.tables, from, to);
  return [made];
}

async function renameColumn(at: Exploring, step: StepOf<'renameColumn'>): Promise<FoundStep[]> {
  const { table, from, to } = step;
  const made = await found(at, table, {
    does: 'rename',
    object: `${table}.${from}`,
    compatible: false,
  });
  change(at, table, (planned) => withColumnRenamed(planned, from, to));
  return [made];
}

async function renameValue(
  at: Exploring,
  { table, column, from, to }: StepOf<'renameValue'>,
): Promise<FoundStep[]> {
  const object = `${table}.${column}`;
  const step = await found(at, table, { does: 'value', object, compatible: false });
  const before = at.tables.get(table)?.columns.get(column);
  if (!before) return [step];
  const { value: old } = before;
  const isFrom = from === null ? sql`${old} is null` : sql`${old} = ${defaultSql(at.db, from)}`;
  const value = sql`case when ${isFrom} then ${defaultSql(at.db, to)} else ${old} end`;
  change(at, table, (planned) => withColumn(planned, column, { ...before, value, origin: null }));
  return [step];
}

async function alterTable(
  at: Exploring,
  { table, changes }: StepOf<'alterTable'>,
): Promise<FoundStep[]> {
  const steps: FoundStep[] = [];
  for (const each of changes) steps.push(...(await alteration(at, table, each)));
  return steps;
}

async function alteration(at: Exploring, table: string, alter: Alteration): Promise<FoundStep[]> {
  if (alter.kind === 'drop') return dropColumn(at, table, alter.column.name);
  if (alter.kind === 'addForeignKey') return addForeignKey(at, table, alter.key);
  if (alter.kind === 'dropForeignKey') {
    const object = `${table}.${alter.key.columns.join(', ')}`;
    return [await found(at, table, { does: 'relax', object })];
  }
  const before = at.tables.get(table)?.columns.get(alter.column.name);
  // Two branches may add the same column: the second migration changes its definition.
  return before
    ? alterColumn(at, table, { before, after: alter.column })
    : addColumn(at, table, alter.column);
}

async function dropColumn(at: Exploring, table: string, name: string): Promise<FoundStep[]> {
  const source = sourceFor(at, table);
  const [finding] = source ? await lost(source, name, sql`${sql.ref(name)} is not null`) : [];
  const object = `${table}.${name}`;
  const step = await found(at, table, { does: 'drop', object, finding, compatible: false });
  change(at, table, (planned) => withColumn(planned, name, null));
  return [step];
}

async function addForeignKey(
  at: Exploring,
  table: string,
  key: TableForeignKey,
): Promise<FoundStep[]> {
  const source = sourceFor(at, table);
  // A row with NULL in one of the columns refers to no row on purpose. A new column is stood for by
  // a null without a type, which PostgreSQL could not compare.
  const isNull = (name: string) => at.tables.get(table)?.columns.get(name)?.value === NO_VALUE;
  const [finding] = source && !key.columns.some(isNull) ? await findLost(source, key) : [];
  const object = `${table}.${key.columns.join(', ')}`;
  const preparations = prepareForeignKey(at, table, key);
  return [await found(at, table, { does: 'reference', object, finding, preparations })];
}

async function addColumn(
  at: Exploring,
  table: string,
  column: ColumnDescription,
): Promise<FoundStep[]> {
  const source = sourceFor(at, table);
  const [finding] = source ? await findRisks(source, { kind: 'add', column }) : [];
  const filled = 'default' in column;
  const object = `${table}.${column.name}`;
  const compatible = !column.required || filled;
  const preparations = prepareAdded(at, table, column);
  const step = await found(at, table, { does: 'add', object, finding, compatible, preparations });
  const value = filled ? defaultSql(at.db, column.default) : NO_VALUE;
  const origin = preparations.length > 0 ? column.name : null;
  const made = { ...defined(at.db, column, value), origin };
  change(at, table, (planned) => withColumn(planned, column.name, made));
  return [step];
}

interface NewDefinition {
  readonly before: PlannedColumn;
  readonly after: ColumnDescription;
}

async function alterColumn(
  at: Exploring,
  table: string,
  { before, after }: NewDefinition,
): Promise<FoundStep[]> {
  const source = sourceFor(at, table);
  const findings = source ? await findRisks(source, { kind: 'alter', column: after }) : [];
  const object = `${table}.${after.name}`;
  const aspects = aspectsOf(at.db, before, after);
  const all = [...new Set([...aspects, ...findings.map(({ does }) => does)])];
  const steps: FoundStep[] = [];
  for (const does of all) {
    const finding = findings.find((each) => each.does === does);
    const compatible = does !== 'type' && does !== 'require';
    const preparations = prepareAltered(at, table, { does, before, after });
    steps.push(await found(at, table, { does, object, finding, compatible, preparations }));
  }
  const keeps = findings.some(({ does, code }) => does === 'type' && code === 'ROWS_IN_THE_WAY');
  const type = keeps ? null : changeOfType(at.db, before.type, after);
  const value = newValue(at.db, after, type, before.value);
  const origin = type === null && !aspects.includes('type') ? before.origin : null;
  const made = { ...defined(at.db, after, value), origin };
  change(at, table, (planned) => withColumn(planned, after.name, made));
  return steps;
}

function defined(
  db: Kysely<any>,
  column: ColumnDescription,
  value: PlannedColumn['value'],
): PlannedColumn {
  return {
    value,
    origin: null,
    type: storedType(column.type),
    declared: typeText(db, column.type),
    required: column.required,
    unique: column.unique,
    hasDefault: 'default' in column,
    checks: column.check ? [checkText(db, column)] : [],
    references: column.references ?? null,
  };
}

async function createIndex(at: Exploring, step: StepOf<'createIndex'>): Promise<FoundStep[]> {
  const { table, index } = step;
  const { name, columns, unique, fold, search } = index;
  if (search)
    return [
      await found(at, table, {
        does: 'search',
        object: `${table} (${columns.join(', ')})`,
        preparations: prepareSearch(at, table, index),
      }),
    ];
  const source = unique ? sourceFor(at, table) : null;
  const parts = columns.map((column) =>
    fold ? folded(dialectOf(at.db), fold, column) : sql`${sql.ref(column)}`,
  );
  const finding = source ? await findRepeated(source, columns, parts) : null;
  const object =
    columns.length === 1
      ? `${table}.${columns[0]}`
      : unique
        ? `${table} (${columns.join(', ')})`
        : name;
  const preparations = prepareCreatedIndex(at, table, index);
  const does = unique ? 'unique' : 'index';
  return [await found(at, table, { does, object, finding, preparations })];
}

async function unknown(
  at: Exploring,
  { table, statement }: StepOf<'unknown'>,
): Promise<FoundStep[]> {
  const step = await found(at, table ?? '', {
    does: 'unknown',
    object: table ?? '',
    compatible: true,
  });
  for (const [name, planned] of at.tables)
    if (table === null || name === table) at.tables.set(name, { ...planned, unread: true });
  return [{ ...step, statementText: statement }];
}

/** The rows that a step would find; null for a table without rows of its own. */
function sourceFor({ db, tables }: Exploring, table: string): RowSource | null {
  const planned = tables.get(table);
  return planned ? sourceOf(db, tables, planned) : null;
}

function change(
  { tables }: Exploring,
  table: string,
  to: (planned: PlannedTable) => PlannedTable,
): void {
  const planned = tables.get(table);
  if (planned) tables.set(table, to(planned));
}

/**
 * The values of the rows that a finding names, one text for each key; `null` for no value. A table
 * that is dropped and a new column have none.
 */
export async function valuesAtRisk(
  { db, table, key, rows }: RowSource,
  { keys, object, does }: Finding,
): Promise<readonly string[]> {
  const columns = object === table ? [] : object.slice(table.length + 1).split(', ');
  if (columns.length === 0 || key.length === 0 || does === 'add') return keys.map(() => '');
  const keyText = joined(key, ':');
  const found = await sql<{ at: string; value: string }>`
    select ${keyText} as at, ${joined(columns, ', ')} as value from ${rows}
    where ${keyText} in (${sql.join(keys)})`.execute(db);
  const values = new Map(found.rows.map(({ at, value }) => [at, value]));
  return keys.map((each) => values.get(each) ?? 'null');
}

/** The values of columns as one text. */
function joined(columns: readonly string[], between: string) {
  return sql.join(
    columns.map((name) => sql`coalesce(cast(${sql.ref(name)} as text), 'null')`),
    sql` || ${sql.lit(between)} || `,
  );
}
