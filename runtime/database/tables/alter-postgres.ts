import { type Kysely, sql } from 'kysely';
import { quotedName, storedType } from '@twofold/runtime/store';
import type { Alteration, ColumnDescription } from './alteration.ts';
import { alterDefinition, withoutSettled } from './alter-postgres-column.ts';
import { sizeOf, typeText } from './column-size.ts';
import {
  addForeignKeyOnPostgres,
  checkForeignKey,
  dropForeignKeyOnPostgres,
} from './foreign-keys.ts';
import { recorded } from './migration-run.ts';
import { checkRows, convertedValue, typeChange } from './row-checks.ts';

/** Makes the changes one by one: PostgreSQL alters a table in place, in the transaction. */
export async function alterOnPostgres(
  db: Kysely<any>,
  table: string,
  changes: readonly Alteration[],
): Promise<void> {
  for (const change of changes) {
    if (change.kind === 'drop')
      await db.schema.alterTable(table).dropColumn(change.column.name).execute();
    else if (change.kind === 'dropForeignKey')
      await dropForeignKeyOnPostgres(db, table, change.key.columns);
    else if (change.kind === 'add') await addColumn(db, table, change.column);
    else if (change.kind === 'alter') await redefine(db, table, change.column);
    else if (await checkForeignKey(db, table, change.key))
      await addForeignKeyOnPostgres(db, table, change.key);
  }
}

async function addColumn(db: Kysely<any>, table: string, column: ColumnDescription): Promise<void> {
  if (await checkRows(db, table, { kind: 'add', column }))
    await sql`alter table ${sql.table(table)} add column ${sql.raw(column.definition)}`.execute(db);
}

async function redefine(db: Kysely<any>, table: string, column: ColumnDescription): Promise<void> {
  const left = await unsettled(db, table, column);
  if (!(await checkRows(db, table, { kind: 'alter', column: left }))) return;
  if (await keepsType(db, table, column)) await alterDefinition(db, table, column);
  else await alterColumn(db, table, column);
}

/**
 * The definition without the parts that the database guarantees already, so that no row is read for
 * them while others wait.
 */
async function unsettled(
  db: Kysely<any>,
  table: string,
  column: ColumnDescription,
): Promise<ColumnDescription> {
  return (await keepsType(db, table, column)) ? withoutSettled(db, table, column) : column;
}

/** Whether the type stays the same, with its length or precision. */
async function keepsType(
  db: Kysely<any>,
  table: string,
  column: ColumnDescription,
): Promise<boolean> {
  // When statements are only recorded, the catalog does not have the effect of earlier ones, so it
  // cannot be compared.
  if (recorded() || storedType(column.type) === undefined) return false;
  // The length or the number of digits is part of the type, so it would change.
  if (sizeOf(typeText(db, column.type))) return false;
  return (await typeChange(db, table, column)) === null;
}

async function alterColumn(
  db: Kysely<any>,
  table: string,
  column: ColumnDescription,
): Promise<void> {
  const { name, type, required, unique, check, references, onDelete } = column;
  await dropConstraints(db, table, name);
  const alter = () => db.schema.alterTable(table);
  await alter()
    .alterColumn(name, (each) => each.dropDefault())
    .execute();
  const change = await typeChange(db, table, column);
  const typeSql = sql.raw(typeText(db, type));
  const value = change ? convertedValue(db, change, sql`${sql.ref(name)}`) : sql`${sql.ref(name)}`;
  await sql`alter table ${sql.table(table)} alter column ${sql.ref(name)} type ${typeSql} using (${value})::${typeSql}`.execute(
    db,
  );
  if ('default' in column) {
    await alter()
      .alterColumn(name, (each) => each.setDefault(column.default))
      .execute();
    if (required)
      await sql`update ${sql.table(table)} set ${sql.ref(name)} = default where ${sql.ref(name)} is null`.execute(
        db,
      );
  }
  await alter()
    .alterColumn(name, (each) => (required ? each.setNotNull() : each.dropNotNull()))
    .execute();
  if (unique) await alter().addUniqueConstraint(`${table}_${name}_key`, [name]).execute();
  if (check) await alter().addCheckConstraint(`${table}_${name}_check`, check).execute();
  if (references === undefined) return;
  const [target = '', key = ''] = references.split('.');
  const constraint = alter().addForeignKeyConstraint(`${table}_${name}_fkey`, [name], target, [
    key,
  ]);
  await (onDelete ? constraint.onDelete(onDelete) : constraint).execute();
}

/**
 * Drops the unique, check and foreign key constraints of this column alone; the new definition
 * states them again.
 */
async function dropConstraints(db: Kysely<any>, table: string, column: string): Promise<void> {
  const { rows } = await sql<{ conname: string }>`
    select c.conname from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attname = ${column}
    where c.conrelid = to_regclass(${quotedName(table)}) and c.contype in ('u', 'c', 'f') and c.conkey = array[a.attnum]`.execute(
    db,
  );
  for (const { conname } of rows)
    await db.schema.alterTable(table).dropConstraint(conname).execute();
  if (recorded()) await dropLaterConstraints(db, table, column);
}

/**
 * Statements before this one that were recorded and not run may have made constraints, which the
 * catalog does not show.
 */
async function dropLaterConstraints(db: Kysely<any>, table: string, column: string) {
  for (const kind of ['key', 'check', 'fkey'])
    await sql`alter table ${sql.table(table)} drop constraint if exists ${sql.ref(`${table}_${column}_${kind}`)}`.execute(
      db,
    );
}
