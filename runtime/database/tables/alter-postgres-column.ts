import { type Kysely, sql } from 'kysely';
import { quotedName } from '@twofold/runtime/store';
import type { ColumnDescription } from './alteration.ts';
import { isReady, type Ready, readyName } from '../online/ready.ts';

interface Altering {
  readonly db: Kysely<any>;
  readonly table: string;
  readonly column: ColumnDescription;
  readonly constraints: readonly Constraint[];
}

/** A constraint of this column alone. */
interface Constraint {
  readonly name: string;
  readonly kind: 'u' | 'c' | 'f';
  /** `authors.id` and what happens when that row is deleted; null for others. */
  readonly target: string | null;
}

/**
 * Gives a column of the same type its new definition, piece by piece. What stays the same is not
 * made again, because PostgreSQL would check all rows against it under a lock; and what was made
 * ready before only gets its name.
 */
export async function alterDefinition(
  db: Kysely<any>,
  table: string,
  column: ColumnDescription,
): Promise<void> {
  const altering = { db, table, column, constraints: await constraintsOf(db, table, column.name) };
  await alterDefault(altering);
  await alterRequired(altering);
  await alterUnique(altering);
  await alterCheck(altering);
  await alterReference(altering);
}

/**
 * The definition without the constraints that all rows satisfy already, because they existed before
 * or were prepared.
 */
export async function withoutSettled(
  db: Kysely<any>,
  table: string,
  column: ColumnDescription,
): Promise<ColumnDescription> {
  const altering = { db, table, column, constraints: await constraintsOf(db, table, column.name) };
  const { check, references, ...rest } = column;
  return {
    ...rest,
    required: column.required && !(await neverNull(altering)),
    unique:
      column.unique && ofKind(altering, 'u').length === 0 && !(await isMade(altering, 'unique')),
    ...(check && !(await isMade(altering, 'check')) && { check }),
    ...(references !== undefined && !(await leads(altering)) && { references }),
  };
}

async function neverNull(altering: Altering): Promise<boolean> {
  const { db, table, column } = altering;
  const { rows } = await sql`
    select 1 from pg_attribute where attrelid = to_regclass(${quotedName(table)}) and attname = ${column.name} and attnotnull`.execute(
    db,
  );
  return rows.length > 0 || isMade(altering, 'require');
}

async function leads(altering: Altering): Promise<boolean> {
  const [present] = ofKind(altering, 'f');
  return present?.target === definitionOf(altering, 'reference') || isMade(altering, 'reference');
}

/** Whether the constraint or index was prepared before the migration. */
async function isMade(altering: Altering, does: Ready['does']): Promise<boolean> {
  return (await readyFor(altering, does)) !== null;
}

function definitionOf({ db, column }: Altering, does: Ready['does']): string {
  const { check, references, onDelete = 'no action' } = column;
  if (does === 'check') return check ? sql`${check}`.compile(db).sql : '';
  return does === 'reference' && references !== undefined ? `${references} ${onDelete}` : '';
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

async function alterUnique(altering: Altering): Promise<void> {
  const { db, table, column } = altering;
  const [present] = ofKind(altering, 'u');
  if (present && !column.unique) return dropConstraint(db, table, present.name);
  if (present || !column.unique) return;
  const name = `${table}_${column.name}_key`;
  const ready = await readyFor(altering, 'unique');
  // A separate statement for the index takes a lock that still lets others read.
  if (ready === null)
    await db.schema.createIndex(name).on(table).column(column.name).unique().execute();
  await sql`alter table ${sql.table(table)} add constraint ${sql.ref(name)} unique using index ${sql.ref(ready ?? name)}`.execute(
    db,
  );
}

async function alterCheck(altering: Altering): Promise<void> {
  const { db, table, column } = altering;
  const { check } = column;
  const present = ofKind(altering, 'c');
  if (check && present.length === 1 && (await isSame(altering, present[0]!.name))) return;
  for (const { name } of present) await dropConstraint(db, table, name);
  if (!check) return;
  const name = `${table}_${column.name}_check`;
  const ready = await readyFor(altering, 'check');
  if (ready !== null) return renameConstraint(db, table, { from: ready, to: name });
  await db.schema.alterTable(table).addCheckConstraint(name, check).execute();
}

/**
 * Whether two conditions are equal. PostgreSQL writes both in its own form, for an empty copy of
 * the table.
 */
async function isSame({ db, table, column }: Altering, present: string): Promise<boolean> {
  const copy = sql.table('twofold_same');
  await sql`create temporary table ${copy} (like ${sql.table(table)})`.execute(db);
  await sql`alter table ${copy} add constraint twofold_wanted check (${column.check!})`.execute(db);
  const { rows } = await sql<{ condition: string }>`
    select pg_get_constraintdef(oid) as condition from pg_constraint
    where conname = 'twofold_wanted' and conrelid = 'pg_temp.twofold_same'::regclass
      or conname = ${present} and conrelid = to_regclass(${quotedName(table)})`.execute(db);
  await sql`drop table ${copy}`.execute(db);
  return rows.length === 2 && rows[0]!.condition === rows[1]!.condition;
}

async function alterReference(altering: Altering): Promise<void> {
  const { db, table, column } = altering;
  const { references, onDelete = 'no action' } = column;
  const present = ofKind(altering, 'f');
  if (present.length === 1 && present[0]!.target === definitionOf(altering, 'reference')) return;
  for (const { name } of present) await dropConstraint(db, table, name);
  if (references === undefined) return;
  const name = `${table}_${column.name}_fkey`;
  const ready = await readyFor(altering, 'reference');
  if (ready !== null) return renameConstraint(db, table, { from: ready, to: name });
  const [target = '', key = ''] = references.split('.');
  await db.schema
    .alterTable(table)
    .addForeignKeyConstraint(name, [column.name], target, [key])
    .onDelete(onDelete)
    .execute();
}

const ofKind = ({ constraints }: Altering, kind: Constraint['kind']) =>
  constraints.filter((each) => each.kind === kind);

async function readyFor(altering: Altering, does: Ready['does']): Promise<string | null> {
  const { table, column } = altering;
  const definition = definitionOf(altering, does);
  const name = readyName({ table, column: column.name, does, definition });
  return (await isReady(altering.db, table, name)) ? name : null;
}

async function dropConstraint(db: Kysely<any>, table: string, name: string): Promise<void> {
  await db.schema.alterTable(table).dropConstraint(name).execute();
}

async function renameConstraint(
  db: Kysely<any>,
  table: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await sql`alter table ${sql.table(table)} rename constraint ${sql.ref(from)} to ${sql.ref(to)}`.execute(
    db,
  );
}

const ACTIONS: Readonly<Record<string, string>> = {
  a: 'no action',
  r: 'restrict',
  c: 'cascade',
  n: 'set null',
  d: 'set default',
};

/** The constraints of this column alone, without the prepared ones. */
async function constraintsOf(
  db: Kysely<any>,
  table: string,
  column: string,
): Promise<readonly Constraint[]> {
  const { rows } = await sql<{ name: string; kind: 'u' | 'c' | 'f'; target: string; on: string }>`
    select c.conname as name, c.contype::text as kind, f.relname || '.' || k.attname as target, c.confdeltype::text as on
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attname = ${column}
    left join pg_class f on f.oid = c.confrelid
    left join pg_attribute k on k.attrelid = c.confrelid and k.attnum = c.confkey[1]
    where c.conrelid = to_regclass(${quotedName(table)}) and c.contype in ('u', 'c', 'f') and c.conkey = array[a.attnum]
      and c.conname not like 'twofold\\_ready\\_%'`.execute(db);
  return rows.map(({ name, kind, target, on }) => ({
    name,
    kind,
    target: kind === 'f' ? `${target} ${ACTIONS[on]}` : null,
  }));
}
