import { type Kysely, type RawBuilder, sql } from 'kysely';
import { InternalError } from '@twofold/runtime/errors';
import type { Alteration, ColumnDescription } from './alteration.ts';
import { checkForeignKey, foreignKeySql, isForeignKeyOf, noForeignKey } from './foreign-keys.ts';
import { newValue, typeChange } from './column-values.ts';
import { checkRows } from './row-checks.ts';
import {
  columnOf,
  joinDefinition,
  splitDefinition,
  type TableDefinition,
} from './table-definition.ts';

/**
 * Adds columns by ALTER TABLE where that is possible, and otherwise rebuilds the table: it makes a
 * new table, copies the rows, drops the old table, renames the new one, and makes indexes and
 * triggers again. See "Making Other Kinds Of Table Schema Changes" in SQLite's documentation.
 * Foreign keys are off during the whole migration and checked at its end.
 */
export async function alterOnSqlite(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<void> {
  const possible: Alteration[] = [];
  for (const change of changes) if (await isPossible(db, table, change)) possible.push(change);
  if (possible.every(isSimple)) {
    for (const { column } of possible as readonly { column: ColumnDescription }[])
      await sql`alter table ${sql.table(table)} add column ${sql.raw(column.definition)}`.execute(
        db,
      );
  } else await rebuild(db, table, possible);
}

async function isPossible(db: Kysely<any>, table: string, change: Alteration): Promise<boolean> {
  if (change.kind === 'addForeignKey') return checkForeignKey(db, table, change.key);
  if (change.kind === 'drop' || change.kind === 'dropForeignKey') return true;
  return checkRows(db, table, { kind: change.kind, column: change.column });
}

/** Whether ALTER TABLE ADD COLUMN allows it: not unique, and required only with a default. */
function isSimple(change: Alteration): boolean {
  return (
    change.kind === 'add' &&
    !change.column.unique &&
    (!change.column.required || 'default' in change.column)
  );
}

async function rebuild(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<void> {
  const before = splitDefinition(await tableSql(db, table));
  const after = applyChanges(table, before, changes);
  const others = await dependentSql(db, table);
  const fresh = `twofold_new_${table}`;
  await sql.raw(joinDefinition(fresh, after)).execute(db);
  await copyRows(db, { from: table, to: fresh, changes, columns: sharedColumns(before, after) });
  if (/\bautoincrement\b/i.test(joinDefinition(table, after))) await keepSequence(db, table, fresh);
  await db.schema.dropTable(table).execute();
  await sql`alter table ${sql.table(fresh)} rename to ${sql.table(table)}`.execute(db);
  for (const statement of others) await sql.raw(statement).execute(db);
}

function applyChanges(
  table: string,
  definition: TableDefinition,
  changes: readonly Alteration[],
): TableDefinition {
  return changes.reduce((now, change): TableDefinition => {
    if (change.kind === 'drop')
      return {
        ...now,
        columns: now.columns.filter((each) => columnOf(each) !== change.column.name),
      };
    if (change.kind === 'add')
      return { ...now, columns: [...now.columns, change.column.definition] };
    if (change.kind === 'addForeignKey')
      return { ...now, constraints: [...now.constraints, foreignKeySql(table, change.key)] };
    if (change.kind === 'dropForeignKey') {
      const stays = (each: string) => !isForeignKeyOf(each, change.key.columns);
      const constraints = now.constraints.filter(stays);
      if (constraints.length === now.constraints.length)
        throw noForeignKey(table, change.key.columns);
      return { ...now, constraints };
    }
    return {
      ...now,
      columns: now.columns.map((each) =>
        columnOf(each) === change.column.name ? change.column.definition : each,
      ),
    };
  }, definition);
}

function sharedColumns(before: TableDefinition, after: TableDefinition): string[] {
  const names = new Set(before.columns.map(columnOf));
  return after.columns.map(columnOf).filter((name) => names.has(name));
}

interface Copy {
  readonly from: string;
  readonly to: string;
  readonly changes: readonly Alteration[];
  readonly columns: readonly string[];
}

/**
 * Copies rows. Values of a column with a new type are converted, and nulls of a newly required
 * column become its default.
 */
async function copyRows(db: Kysely<any>, { from, to, changes, columns }: Copy): Promise<void> {
  const values: RawBuilder<unknown>[] = [];
  for (const name of columns) {
    const change = changes.find((each) => each.kind === 'alter' && each.column.name === name);
    values.push(
      change?.kind === 'alter'
        ? newValue(db, change.column, await typeChange(db, from, change.column))
        : sql`${sql.ref(name)}`,
    );
  }
  const names = columns.map((name) => sql`${sql.ref(name)}`);
  await sql`insert into ${sql.table(to)} (${sql.join(names)}) select ${sql.join(values)} from ${sql.table(from)}`.execute(
    db,
  );
}

async function tableSql(db: Kysely<any>, table: string): Promise<string> {
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where type = 'table' and name = ${table}`.execute(db);
  if (!rows[0]) throw new InternalError(`there is no table ${table}`);
  return rows[0].sql;
}

async function dependentSql(db: Kysely<any>, table: string): Promise<string[]> {
  const { rows } = await sql<{
    sql: string;
  }>`select sql from sqlite_master where tbl_name = ${table} and type in ('index', 'trigger') and sql is not null`.execute(
    db,
  );
  return rows.map((row) => row.sql);
}

/**
 * Lets an AUTOINCREMENT table go on counting after its last key, so that no key is used twice. The
 * statements contain no key, because the ledger keeps them for later.
 */
async function keepSequence(db: Kysely<any>, table: string, fresh: string): Promise<void> {
  await sql`delete from sqlite_sequence where name = ${fresh}`.execute(db);
  await sql`insert into sqlite_sequence (name, seq) select ${fresh}, seq from sqlite_sequence where name = ${table}`.execute(
    db,
  );
}
