import { type Kysely, type RawBuilder, sql } from 'kysely';
import {
  convertValue,
  dialectOf,
  isSafe,
  quotedName,
  type StoredType,
  type TypeChange,
} from '@twofold/runtime/store';
import type { ColumnDescription, ForeignKey } from './alteration.ts';
import { adviceFor, type Doing } from './effects.ts';
import { type Finding, isAllowed, recorded, reportRows } from './migration-run.ts';
import { recordCheck } from './recorded-check.ts';
import {
  catalogType,
  changeOfType,
  defaultSql,
  newValue,
  outside,
  sizeOf,
  typeChange,
  typeText,
} from './column-values.ts';

/** The rows of a table in the state in which a step finds them. */
export interface RowSource {
  readonly db: Kysely<any>;
  readonly table: string;
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
  /** The SQL for FROM, with the name of the table. */
  readonly rows: RawBuilder<unknown>;
  /** The rows of another table, to which a foreign key refers; null when it has none yet. */
  readonly rowsOf: (table: string) => RawBuilder<unknown> | null;
  readonly typeOf: (column: string) => Promise<StoredType | undefined>;
}

/** A change of one column, with the rows of its table. */
interface Checked extends RowSource {
  readonly column: ColumnDescription;
}

export interface CheckedChange {
  readonly kind: 'add' | 'alter';
  readonly column: ColumnDescription;
}

/**
 * Checks the rows against a column's new definition before anything is changed, and reports those
 * that violate it.
 *
 * @returns whether the change can be made.
 */
export async function checkRows(
  db: Kysely<any>,
  table: string,
  change: CheckedChange,
): Promise<boolean> {
  const recording = recorded();
  if (recording) {
    const altered = change.kind === 'alter' ? await typeChange(db, table, change.column) : null;
    recordCheck(recording, { db, table, ...change, change: altered });
    return true;
  }
  const found = (await findRisks(await tableRows(db, table), change)).filter(
    ({ code, object }) => code === 'ROWS_IN_THE_WAY' || !isAllowed(object),
  );
  found.forEach(reportRows);
  return found.length === 0;
}

/** The rows of a table as it is now. */
export async function tableRows(db: Kysely<any>, table: string): Promise<RowSource> {
  return {
    db,
    table,
    key: await keyOf(db, table),
    rows: sql`${sql.table(table)}`,
    rowsOf: (other) => sql`${sql.table(other)}`,
    typeOf: (column) => catalogType(db, table, column),
  };
}

/**
 * Rows that a change would lose, change, or be refused because of. Losses that the user has agreed
 * to are included.
 */
export async function findRisks(
  source: RowSource,
  { kind, column }: CheckedChange,
): Promise<Finding[]> {
  const checked: Checked = { ...source, column };
  return kind === 'add' ? checkAdded(checked) : checkAltered(checked);
}

async function checkAdded(checked: Checked): Promise<Finding[]> {
  const { column } = checked;
  const filled = 'default' in column;
  if (column.required && !filled) return findRows(checked, 'add', sql`1 = 1`);
  return column.unique && filled
    ? checkUnique(checked, defaultSql(checked.db, column.default))
    : [];
}

async function checkAltered(checked: Checked): Promise<Finding[]> {
  const { db, column } = checked;
  const change = changeOfType(db, await checked.typeOf(column.name), column);
  const converted = change ? await checkConversion(checked, change) : [];
  if (converted.some(isImpossible)) return converted;
  const value = newValue(db, column, change);
  const sized = await checkSize(checked, value, change);
  if (sized && isImpossible(sized)) return [...converted, sized];
  const found = [
    converted,
    sized ? [sized] : [],
    column.required && !('default' in column)
      ? await findRows(checked, 'require', sql`${sql.ref(column.name)} is null`)
      : [],
    column.unique ? await checkUnique(checked, value) : [],
    column.check ? await checkCondition(checked, value) : [],
    column.references
      ? await findLost({ ...checked, rows: changed(checked, value) }, column.references)
      : [],
  ];
  return found.flat();
}

/** An agreed loss of values still leaves the other conditions on the converted values. */
const isImpossible = ({ code }: Finding): boolean => code === 'ROWS_IN_THE_WAY';

/** Columns of the primary key, in order. */
export async function keyOf(db: Kysely<any>, table: string): Promise<string[]> {
  const { rows } = await (
    dialectOf(db) === 'sqlite'
      ? sql<{ name: string }>`select name from pragma_table_info(${table}) where pk > 0 order by pk`
      : sql<{ name: string }>`
        select a.attname as name from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
        where i.indrelid = to_regclass(${quotedName(table)}) and i.indisprimary order by array_position(i.indkey::int2[], a.attnum)`
  ).execute(db);
  return rows.map(({ name }) => name);
}

/** How many rows a scan reads at a time. */
const PAGE = 5_000;

/** Checks each value in this process, so that the result is the same for both databases. */
async function checkConversion(checked: Checked, change: TypeChange): Promise<Finding[]> {
  if (isSafe(change.from, change.to)) return [];
  const count = { lossy: 0, impossible: 0 };
  const keys: Record<keyof typeof count, string[]> = { lossy: [], impossible: [] };
  for await (const { key, value } of scan(checked, change.from)) {
    const converted = convertValue(change.from, change.to, value);
    if (converted?.exact) continue;
    const verdict = converted ? 'lossy' : 'impossible';
    count[verdict] += 1;
    if (keys[verdict].length < 5) keys[verdict].push(key);
  }
  const finding = (code: Finding['code'], atRisk: number, first: readonly string[]) =>
    describeRows(checked, { code, does: 'type', atRisk, keys: first, change });
  if (count.impossible > 0)
    return [await finding('ROWS_IN_THE_WAY', count.impossible, keys.impossible)];
  if (count.lossy > 0) return [await finding('MIGRATION_NEEDS_CONSENT', count.lossy, keys.lossy)];
  return [];
}

/**
 * Reads every value with its key, in the order of the keys, page by page. Integers come as text,
 * because they may have 64 bits.
 */
async function* scan(
  { db, rows: source, column, key }: Checked,
  from: StoredType,
): AsyncGenerator<{ readonly key: string; readonly value: unknown }> {
  const value = sql.ref(column.name);
  const read = ['integer', 'bigint', 'decimal'].includes(from)
    ? sql`cast(${value} as text)`
    : value;
  const order = key.length > 0 ? key : [column.name];
  const names = sql.join(order.map((name) => sql.ref(name)));
  let after = sql``;
  for (let offset = 0; ; offset += PAGE) {
    const { rows } = await sql<Record<string, unknown>>`
      select ${read} as twofold_value, ${names} from ${source}
      where ${value} is not null ${after} order by ${names} limit ${sql.lit(PAGE)}
      ${key.length > 0 ? sql`` : sql`offset ${sql.lit(offset)}`}`.execute(db);
    for (const row of rows)
      yield { key: order.map((name) => String(row[name])).join(':'), value: row['twofold_value'] };
    if (rows.length < PAGE) return;
    const last = sql.join(order.map((name) => sql`${rows.at(-1)![name]}`));
    if (key.length > 0) after = sql`and (${names}) > (${last})`;
  }
}

/** Values that PostgreSQL would cut to the length or round to the places of the new type. */
async function checkSize(
  checked: Checked,
  value: RawBuilder<unknown>,
  change: TypeChange | null,
): Promise<Finding | null> {
  const { db, column } = checked;
  const text = typeText(db, column.type);
  const size = dialectOf(db) === 'postgres' ? sizeOf(text) : null;
  if (!size) return null;
  const { impossible, lossy } = outside(size, sql`${sql.ref(column.name)}`);
  const source = changed(checked, value);
  const named = {
    does: 'type',
    change: { from: change?.from ?? 'a larger one', to: text },
  } as const;
  const [refused] = await findRows(checked, named, impossible, source);
  if (refused || !lossy) return refused ?? null;
  const consent = { ...named, code: 'MIGRATION_NEEDS_CONSENT' } as const;
  return (await findRows(checked, consent, lossy, source))[0] ?? null;
}

/** A subquery with the key and the new value of the column. */
function changed(
  { rows, table, column, key }: Checked,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const names = key.map((name) => sql.ref(name));
  const kept = names.length > 0 ? sql`${sql.join(names)}, ` : sql``;
  return sql`(select ${kept}${value} as ${sql.ref(column.name)} from ${rows}) as ${sql.table(table)}`;
}

async function checkUnique(checked: Checked, value: RawBuilder<unknown>): Promise<Finding[]> {
  const { column } = checked;
  const rows = changed(checked, value);
  const order = sql.join(
    (checked.key.length > 0 ? checked.key : [column.name]).map((name) => sql.ref(name)),
  );
  const numbered = sql`(select ${sql.table(checked.table)}.*, row_number() over (partition by ${sql.ref(column.name)} order by ${order}) as twofold_number
    from ${rows} where ${sql.ref(column.name)} is not null) as numbered`;
  return findRows(checked, 'unique', sql`twofold_number > 1`, numbered);
}

/** Rows that repeat the values of a unique index over several columns; null when there are none. */
export async function repeatedValues(
  db: Kysely<any>,
  table: string,
  columns: readonly string[],
): Promise<Finding | null> {
  return findRepeated(
    await tableRows(db, table),
    columns,
    columns.map((name) => sql`${sql.ref(name)}`),
  );
}

/**
 * Rows that repeat the values of a unique index over `columns`, whose parts may be expressions.
 */
export async function findRepeated(
  source: RowSource,
  columns: readonly string[],
  parts: readonly RawBuilder<unknown>[],
): Promise<Finding | null> {
  const { rows } = source;
  const key = source.key.length > 0 ? source.key : columns;
  const names = sql.join(key.map((name) => sql.ref(name)));
  const filled = sql.join(
    parts.map((part) => sql`${part} is not null`),
    sql` and `,
  );
  const numbered = sql`(select ${names},
    row_number() over (partition by ${sql.join(parts)} order by ${names}) as twofold_number
    from ${rows} where ${filled}) as numbered`;
  const column = { name: columns.join(', ') };
  const [found] = await findRows(
    { ...source, key, column },
    'unique',
    sql`twofold_number > 1`,
    numbered,
  );
  return found ?? null;
}

async function checkCondition(checked: Checked, value: RawBuilder<unknown>): Promise<Finding[]> {
  const { column, rows, db } = checked;
  const plain = newValue(db, { ...column, required: false }, null);
  // A condition in raw SQL may use other columns, which only the table itself has.
  const source = isPlain(db, value, plain) ? rows : changed(checked, value);
  return findRows(checked, 'check', sql`not (${column.check!})`, source);
}

function isPlain(db: Kysely<any>, value: RawBuilder<unknown>, plain: RawBuilder<unknown>): boolean {
  return value.compile(db).sql === plain.compile(db).sql;
}

/** Rows with a value in all columns for which no row with this key exists. */
export async function findLost(
  source: RowSource,
  { columns, table, references }: ForeignKey,
): Promise<Finding[]> {
  const rows = source.rowsOf(table);
  const own = (name: string) => sql`${sql.ref(source.table)}.${sql.ref(name)}`;
  const and = (parts: readonly ReturnType<typeof sql>[]) => sql.join(parts, sql` and `);
  const named = references.map((name, at) => sql`${sql.ref(name)} as ${sql.ref(`key${at}`)}`);
  const equal = columns.map((name, at) => sql`target.${sql.ref(`key${at}`)} = ${own(name)}`);
  const leads = rows
    ? sql`exists (select 1 from (select ${sql.join(named)} from ${rows}) as target where ${and(equal)})`
    : sql`1 = 0`;
  const filled = columns.map((name) => sql`${own(name)} is not null`);
  const column = { name: columns.join(', ') };
  return findRows({ ...source, column }, 'reference', sql`${and(filled)} and not ${leads}`);
}

/** The text about rows at risk, and what it is made from. */
interface Risk extends Pick<Finding, 'code' | 'does' | 'atRisk' | 'keys'> {
  /** Names of the types. */
  readonly change?: { readonly from: string; readonly to: string };
}

/** Adds the total number of rows, and a sentence about them. */
async function describeRows(
  { db, table, rows: source, column }: Asked,
  { change, ...risk }: Risk,
): Promise<Finding> {
  const object = `${table}.${column.name}`;
  const total = await countOf(db, source);
  const some = `${risk.atRisk} of ${total} row${total === 1 ? '' : 's'} of ${table}`;
  const lossy = risk.code === 'MIGRATION_NEEDS_CONSENT';
  const facts = { object, some, change, lossy, related: column.references !== undefined };
  return { ...risk, object, rows: total, ...adviceFor(risk.does, facts) };
}

/** How many rows there are, of those with a condition. */
async function countOf(
  db: Kysely<any>,
  rows: RawBuilder<unknown>,
  condition: RawBuilder<unknown> = sql`1 = 1`,
): Promise<number> {
  const counted = sql<{ count: number }>`select count(*) as count from ${rows} where ${condition}`;
  return Number((await counted.execute(db)).rows[0]!.count);
}

/** The rows of a table, and the column or columns that they are asked about. */
interface Asked extends RowSource {
  readonly column: { readonly name: string; readonly references?: unknown };
}

type AskedRisk = Pick<Risk, 'does' | 'change'> & Partial<Pick<Risk, 'code'>>;

export async function findRows(
  checked: Asked,
  asked: Doing | AskedRisk,
  condition: RawBuilder<unknown>,
  source: RawBuilder<unknown> = checked.rows,
): Promise<Finding[]> {
  const risk = typeof asked === 'string' ? { does: asked } : asked;
  const { db, key, column } = checked;
  const atRisk = await countOf(db, source, condition);
  if (atRisk === 0) return [];
  const order = key.length > 0 ? key : [column.name];
  const names = sql.join(order.map((name) => sql.ref(name)));
  const { rows } = await sql<
    Record<string, unknown>
  >`select ${names} from ${source} where ${condition} order by ${names} limit 5`.execute(db);
  const keys = rows.map((row) => order.map((name) => String(row[name])).join(':'));
  return [await describeRows(checked, { code: 'ROWS_IN_THE_WAY', ...risk, atRisk, keys })];
}
