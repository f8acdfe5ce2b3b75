import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite';
import { ConfigError } from '@twofold/runtime/errors';
import { isOfSearch, quotedName } from '@twofold/runtime/store';
import type { Catalog, CatalogSource } from '../catalog/catalog.ts';
import { readCatalog } from '../catalog/read-catalog.ts';
import { withStorageClasses } from '../catalog/storage-classes.ts';
import { type LoadOptions, type RowReader, RowRefused, type RowWriter } from './database.ts';
import type { MovedTable, ValueKind } from './moved-table.ts';
import { type Batch, integerValue, type Row, type Value } from './value.ts';

/** Milliseconds that a writer of the server is waited for. */
const BUSY = 30_000;

const BATCH = 1000;

/** Opens a snapshot of a SQLite file; a server may go on writing to it. */
export async function readSqliteRows(file: string): Promise<RowReader> {
  if (!existsSync(file)) throw new ConfigError([`there is no database at ${file}`]);
  const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY });
  // The snapshot begins with the first statement that reads.
  database.exec('begin');
  const catalog = await readCatalog(sourceOf(database));
  return {
    dialect: 'sqlite',
    catalog,
    counted: () => withStorageClasses(sourceOf(database), catalog),
    filled: async (tables) => filled(database, tables),
    read: (table) => rowsOf(database, table),
    close: async () => database.close(),
  };
}

const filled = (database: DatabaseSync, tables: readonly MovedTable[]): string[] =>
  tables
    .filter(({ name }) => database.prepare(`select 1 from ${quotedName(name)} limit 1`).get())
    .map(({ label }) => label);

const sourceOf = (database: DatabaseSync): CatalogSource => ({
  dialect: 'sqlite',
  rows: async (sql) => database.prepare(sql).all() as Record<string, unknown>[],
});

async function* rowsOf(database: DatabaseSync, table: MovedTable): AsyncGenerator<Batch> {
  const kinds = table.columns.map(({ kind }) => kind);
  const columns = table.columns.map(({ name }) => quotedName(name)).join(', ');
  const statement = database.prepare(`select ${columns} from ${quotedName(table.name)}`);
  statement.setReturnArrays(true);
  statement.setReadBigInts(true);
  let batch: Row[] = [];
  for (const row of statement.iterate() as unknown as Iterable<SQLOutputValue[]>) {
    batch.push(row.map((value, at) => valueOf(value, kinds[at]!)));
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Kinds whose values are texts in SQLite. */
const TEXTS: ReadonlySet<ValueKind> = new Set(['text', 'json', 'integer', 'real', 'boolean']);

function valueOf(value: SQLOutputValue, kind: ValueKind): Value {
  if (value === null) return null;
  if (typeof value === 'string') return TEXTS.has(kind) ? value : { text: value };
  if (typeof value === 'bigint') return ofInteger(value, kind);
  if (typeof value === 'number') return ofReal(value, kind);
  const base64 = Buffer.from(value).toString('base64');
  return kind === 'bytes' ? base64 : { bytes: base64 };
}

function ofInteger(value: bigint, kind: ValueKind): Value {
  if (kind === 'boolean' && (value === 0n || value === 1n)) return value === 1n;
  return kind === 'integer' ? integerValue(String(value)) : { integer: String(value) };
}

function ofReal(value: number, kind: ValueKind): Value {
  const expected = kind === 'real' || kind === 'integer';
  return expected && Number.isFinite(value) ? value : { real: String(value) };
}

/** Opens a SQLite file to write rows, in one transaction during which no other writer can write. */
export async function writeSqliteRows(file: string, { managed }: LoadOptions): Promise<RowWriter> {
  const database = new DatabaseSync(file, { timeout: BUSY });
  // Foreign keys can only be switched off outside a transaction. They are checked before the
  // commit.
  database.exec('pragma foreign_keys = off; begin immediate');
  const catalog = await readCatalog(sourceOf(database));
  const triggers = createTriggers(database, { catalog, managed });
  return {
    dialect: 'sqlite',
    catalog,
    filled: async (tables) => filled(database, tables),
    clear: async (tables) => {
      for (const { name } of tables) database.exec(`delete from ${quotedName(name)}`);
    },
    begin: async (tables) => triggers.drop(tables),
    load: (table, batches) => insert(database, table, batches),
    finish: async () => {
      triggers.make();
      assertReferences(database);
    },
    read: (table) => rowsOf(database, table),
    commit: async () => database.exec('commit'),
    rollback: async () => {
      if (database.isTransaction) database.exec('rollback');
    },
    close: async () => database.close(),
  };
}

/**
 * Drops triggers before the load and makes them again after it. A trigger would change rows, or
 * write rows that the source has already. Tables of other programs keep their triggers; the
 * comparison afterwards shows what these changed.
 */
function createTriggers(
  database: DatabaseSync,
  { catalog, managed }: LoadOptions & { readonly catalog: Catalog },
) {
  const dropped: string[] = [];
  return {
    drop: (tables: readonly MovedTable[]) => {
      if (!managed) return;
      const names = new Set(tables.map(({ name }) => name));
      for (const { triggers } of catalog.tables.filter(({ name }) => names.has(name)))
        for (const { name, definition } of triggers) {
          // The triggers of a search index stay, because the index gets its rows in no other way.
          if (isOfSearch(name)) continue;
          database.exec(`drop trigger ${quotedName(name)}`);
          dropped.push(definition);
        }
    },
    make: () => {
      for (const definition of dropped.splice(0)) database.exec(definition);
    },
  };
}

async function insert(
  database: DatabaseSync,
  { name, columns }: MovedTable,
  batches: AsyncIterable<Batch>,
): Promise<void> {
  const names = columns.map((column) => quotedName(column.name)).join(', ');
  const values = columns.map(() => '?').join(', ');
  const statement = database.prepare(
    `insert into ${quotedName(name)} (${names}) values (${values})`,
  );
  let row = 0;
  for await (const batch of batches) {
    for (const each of batch) {
      try {
        statement.run(...each.map((value, at) => bound(value, columns[at]!.kind)));
      } catch (error) {
        throw refusal(error, row, columns);
      }
      row += 1;
    }
  }
}

/** SQLite names the column as `posts.title`, if it names one. */
function refusal(error: unknown, row: number, columns: MovedTable['columns']): RowRefused {
  const message = error instanceof Error ? error.message : String(error);
  const column = columns.find(({ name }) => message.includes(`.${name}`))?.name;
  return new RowRefused(message, { row, column, cause: error });
}

const LARGEST = 2n ** 63n;

function bound(value: Value, kind: ValueKind): SQLInputValue {
  if (value === null) return null;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (typeof value === 'number')
    return kind !== 'real' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string') return ofText(value, kind);
  if ('text' in value) return value.text;
  if ('bytes' in value) return Buffer.from(value.bytes, 'base64');
  if ('integer' in value) return BigInt(value.integer);
  if (value.real === 'NaN') throw new Error('SQLite keeps no NaN');
  return Number(value.real);
}

function ofText(value: string, kind: ValueKind): SQLInputValue {
  if (kind === 'bytes') return Buffer.from(value, 'base64');
  if (kind !== 'integer' || !/^-?\d{16,19}$/.test(value)) return value;
  const number = BigInt(value);
  return number >= -LARGEST && number < LARGEST ? number : value;
}

function assertReferences(database: DatabaseSync): void {
  const [first] = database.prepare('pragma foreign_key_check').all();
  if (first)
    throw new Error(
      `rows of ${String(first['table'])} refer to rows of ${String(first['parent'])} that are not there`,
    );
}
