import { first } from '@twofold/schema';
import { type Kysely, sql } from 'kysely';
import { quotedName, storedType } from '@twofold/runtime/store';
import { isReady, isReadyName, type Ready, readyName } from '../online/ready.ts';
import type { Alteration, ColumnDescription } from './alteration.ts';
import { checkText, convertedValue, sizeOf, typeChange, typeText } from './column-values.ts';
import {
  addForeignKeyOnPostgres,
  checkForeignKey,
  dropForeignKeyOnPostgres,
  referenceSql,
  targetOf,
} from './foreign-keys.ts';
import { recorded } from './migration-run.ts';
import { checkRows } from './row-checks.ts';

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

interface Altering {
  readonly db: Kysely<any>;
  readonly table: string;
  readonly column: ColumnDescription;
  /** Those of the column that are there, and are no preparations. */
  readonly constraints: readonly Constraint[];
  /** What is there as the new definition has it. */
  readonly kept: ReadonlySet<Stated>;
}

/** A constraint of this column alone. */
interface Constraint {
  readonly name: string;
  readonly does: Stated;
  /** `authors.id restrict`; null for others. */
  readonly target: string | null;
}

type Stated = Exclude<Ready['does'], 'require'>;

/** In the order in which they are made, with the end of their names. */
const ENDS: Readonly<Record<Stated, string>> = { unique: 'key', check: 'check', reference: 'fkey' };
const STATED = Object.keys(ENDS) as Stated[];

/**
 * Gives a column its new definition, piece by piece. What stays the same is not made again, because
 * PostgreSQL would check all rows against it under a lock; and what was made ready before only gets
 * its name. A new type needs all of it again.
 */
async function redefine(db: Kysely<any>, table: string, column: ColumnDescription): Promise<void> {
  const keeps = await keepsType(db, table, column);
  const found = keeps
    ? await presentParts(db, table, column)
    : { constraints: [], kept: new Set<Stated>() };
  const altering = { db, table, column, ...found };
  const left = keeps ? await withoutSettled(altering) : column;
  if (!(await checkRows(db, table, { kind: 'alter', column: left }))) return;
  if (!keeps) await alterType(db, table, column);
  await alterDefault(altering);
  await alterRequired(altering);
  for (const does of STATED) await alterConstraint(altering, does);
}

async function presentParts(db: Kysely<any>, table: string, column: ColumnDescription) {
  const all = await constraintsOf(db, table, column.name);
  const constraints = all.filter(({ name }) => !isReadyName(name));
  const kept = new Set<Stated>();
  for (const does of STATED) {
    const [present, ...others] = constraints.filter((each) => each.does === does);
    if (present && others.length === 0 && (await isSame(db, { table, column }, present)))
      kept.add(does);
  }
  return { constraints, kept };
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

/** The definition without what all rows satisfy already, because it existed or was prepared. */
async function withoutSettled(altering: Altering): Promise<ColumnDescription> {
  const { column, kept } = altering;
  const { required, unique, check, references, ...rest } = column;
  const isSettled = async (does: Stated) =>
    kept.has(does) || (await readyFor(altering, does)) !== null;
  return {
    ...rest,
    required: required && !(await neverNull(altering)),
    unique: unique && !(await isSettled('unique')),
    ...(check && !(await isSettled('check')) && { check }),
    ...(references && !(await isSettled('reference')) && { references }),
  };
}

async function alterType(db: Kysely<any>, table: string, column: ColumnDescription): Promise<void> {
  const { name, type } = column;
  const alter = sql`alter table ${sql.table(table)}`;
  for (const each of await constraintsOf(db, table, name))
    await dropConstraint(db, table, each.name);
  // Statements before this one that were recorded and not run may have made constraints, which the
  // catalog does not show.
  if (recorded())
    for (const end of Object.values(ENDS))
      await sql`${alter} drop constraint if exists ${sql.ref(`${table}_${name}_${end}`)}`.execute(
        db,
      );
  await sql`${alter} alter column ${sql.ref(name)} drop default`.execute(db);
  const change = await typeChange(db, table, column);
  const typeSql = sql.raw(typeText(db, type));
  const value = change ? convertedValue(db, change, sql`${sql.ref(name)}`) : sql`${sql.ref(name)}`;
  await sql`${alter} alter column ${sql.ref(name)} type ${typeSql} using (${value})::${typeSql}`.execute(
    db,
  );
}

async function neverNull(altering: Altering): Promise<boolean> {
  const { db, table, column } = altering;
  if (recorded()) return false;
  const { rows } = await sql`
    select 1 from pg_attribute where attrelid = to_regclass(${quotedName(table)}) and attname = ${column.name} and attnotnull`.execute(
    db,
  );
  return rows.length > 0 || (await readyFor(altering, 'require')) !== null;
}

async function alterDefault(altering: Altering): Promise<void> {
  const { db, table, column } = altering;
  const { name, required } = column;
  const alter = db.schema.alterTable(table);
  if (!('default' in column))
    return alter.alterColumn(name, (each) => each.dropDefault()).execute();
  await alter.alterColumn(name, (each) => each.setDefault(column.default)).execute();
  if (required && !(await neverNull(altering)))
    await sql`update ${sql.table(table)} set ${sql.ref(name)} = default where ${sql.ref(name)} is null`.execute(
      db,
    );
}

/** PostgreSQL does not read the rows when a validated check says that there is no null. */
async function alterRequired(altering: Altering): Promise<void> {
  const {
    db,
    table,
    column: { name, required },
  } = altering;
  await db.schema
    .alterTable(table)
    .alterColumn(name, (each) => (required ? each.setNotNull() : each.dropNotNull()))
    .execute();
  const ready = await readyFor(altering, 'require');
  if (ready !== null) await dropConstraint(db, table, ready);
}

async function alterConstraint(altering: Altering, does: Stated): Promise<void> {
  const { db, table, column, constraints, kept } = altering;
  if (kept.has(does)) return;
  for (const each of constraints.filter((present) => present.does === does))
    await dropConstraint(db, table, each.name);
  const stated = statedBy(db, column, does);
  if (stated === null) return;
  const name = `${table}_${column.name}_${ENDS[does]}`;
  const ready = await readyFor(altering, does);
  const alter = sql`alter table ${sql.table(table)}`;
  if (does === 'unique') {
    // A separate statement for the index takes a lock that still lets others read.
    if (ready === null)
      await db.schema.createIndex(name).on(table).column(column.name).unique().execute();
    await sql`${alter} add constraint ${sql.ref(name)} unique using index ${sql.ref(ready ?? name)}`.execute(
      db,
    );
  } else if (ready === null)
    await sql`${alter} add constraint ${sql.ref(name)} ${sql.raw(stated)}`.execute(db);
  else await sql`${alter} rename constraint ${sql.ref(ready)} to ${sql.ref(name)}`.execute(db);
}

/** A constraint of a definition as SQL; null when it has none. */
function statedBy(db: Kysely<any>, column: ColumnDescription, does: Stated): string | null {
  const { unique, check, references } = column;
  if (does === 'unique') return unique ? 'unique' : null;
  if (does === 'check') return check ? `check (${checkText(db, column)})` : null;
  return references ? referenceSql(references) : null;
}

async function readyFor(
  { db, table, column }: Pick<Altering, 'db' | 'table' | 'column'>,
  does: Ready['does'],
): Promise<string | null> {
  const { references } = column;
  const target = references ? targetOf(references) : '';
  const definition = does === 'check' ? checkText(db, column) : does === 'reference' ? target : '';
  const name = readyName({ table, column: column.name, does, definition });
  return (await isReady(db, table, name)) ? name : null;
}

/** Whether a constraint that is there is that of the new definition. */
async function isSame(
  db: Kysely<any>,
  { table, column }: Pick<Altering, 'table' | 'column'>,
  present: Constraint,
): Promise<boolean> {
  const { unique, check, references } = column;
  if (present.does === 'unique') return unique;
  if (present.does === 'reference')
    return references !== undefined && present.target === targetOf(references);
  // PostgreSQL writes both conditions in its own form, for an empty copy of the table.
  if (!check) return false;
  const copy = sql.table('twofold_same');
  await sql`create temporary table ${copy} (like ${sql.table(table)})`.execute(db);
  await sql`alter table ${copy} add constraint twofold_wanted check (${check})`.execute(db);
  const { rows } = await sql<{ condition: string }>`
    select pg_get_constraintdef(oid) as condition from pg_constraint
    where conname = 'twofold_wanted' and conrelid = 'pg_temp.twofold_same'::regclass
      or conname = ${present.name} and conrelid = to_regclass(${quotedName(table)})`.execute(db);
  await sql`drop table ${copy}`.execute(db);
  return rows.length === 2 && first(rows).condition === rows[1]!.condition;
}

async function dropConstraint(db: Kysely<any>, table: string, name: string): Promise<void> {
  await db.schema.alterTable(table).dropConstraint(name).execute();
}

/** The unique, check and foreign key constraints of this column alone, prepared ones too. */
async function constraintsOf(
  db: Kysely<any>,
  table: string,
  column: string,
): Promise<readonly Constraint[]> {
  const { rows } = await sql<Constraint>`
    select c.conname as name,
      case c.contype when 'u' then 'unique' when 'c' then 'check' else 'reference' end as does,
      f.relname || '.' || k.attname || ' ' || case c.confdeltype
        when 'r' then 'restrict' when 'c' then 'cascade' when 'n' then 'set null'
        when 'd' then 'set default' else 'no action' end as target
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attname = ${column}
    left join pg_class f on f.oid = c.confrelid
    left join pg_attribute k on k.attrelid = c.confrelid and k.attnum = c.confkey[1]
    where c.conrelid = to_regclass(${quotedName(table)}) and c.contype in ('u', 'c', 'f') and c.conkey = array[a.attnum]`.execute(
    db,
  );
  return rows;
}
