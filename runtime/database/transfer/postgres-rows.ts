import type pg from 'pg';
import { addressOf, clientOf, quotedName } from '@twofold/runtime/store';
import type { Catalog } from '../catalog/catalog.ts';
import { readCatalog } from '../catalog/read-catalog.ts';
import { parseCopyLine, printCopyLine } from './copy-text.ts';
import {
  type LoadOptions,
  type ReadSchemas,
  type RowReader,
  RowRefused,
  type RowWriter,
} from './database.ts';
import { foreignKeysFirst, type MovedTable } from './moved-table.ts';
import { createAside } from './postgres-aside.ts';
import { copyIn, lineReader, lineWriter, named } from './postgres-lines.ts';
import { type CopyIn, CopyOut } from './postgres-wire.ts';
import type { Batch, Row } from './value.ts';

/** How long to wait for the lock of a table. */
const LOCK_TIMEOUT = '5s';

/** Fixes the text form of values for a transaction, as the connection may be that of a pooler. */
const SETTINGS = `set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local bytea_output = 'hex'; set local extra_float_digits = 1; set local client_encoding = 'UTF8'; set local row_security = off; set local array_nulls = on; set local lc_monetary = 'C'; set local xmloption = content; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local synchronize_seqscans = off`;

async function connect(url: string, begin: string, readOnly = false): Promise<pg.Client> {
  const client = new (clientOf(url, { application: 'twofold', readOnly }))();
  await client.connect();
  const { schema } = addressOf(url);
  const path = schema === undefined ? '' : `; set local search_path to ${quotedName(schema)}`;
  await client.query(`${begin}; ${SETTINGS}${path}`);
  return client;
}

async function catalogOf(client: pg.Client, schemas: ReadSchemas | undefined): Promise<Catalog> {
  const rows = async (sql: string, values: readonly unknown[]) =>
    (await client.query(sql, values as unknown[])).rows;
  const asked = schemas && 'besides' in schemas ? await withPath(client, schemas) : schemas;
  return readCatalog({ dialect: 'postgres', rows }, asked && { schemas: asked });
}

async function withPath(
  client: pg.Client,
  { besides }: { readonly besides: readonly string[] },
): Promise<readonly string[]> {
  const { rows } = await client.query('select current_schemas(false)::text[] as path');
  return [...new Set([...(rows[0].path as readonly string[]), ...besides])];
}

/** Opens a snapshot of PostgreSQL. */
export async function readPostgresRows(url: string, schemas?: ReadSchemas): Promise<RowReader> {
  const client = await connect(url, 'begin isolation level repeatable read read only', true);
  const catalog = await catalogOf(client, schemas);
  return {
    dialect: 'postgres',
    catalog,
    lines: await lineReader(client, catalog),
    filled: (tables) => filled(client, tables),
    read: (table) => rowsOf(client, table),
    close: () => client.end(),
  };
}

async function* rowsOf(client: pg.Client, table: MovedTable): AsyncGenerator<Batch> {
  const kinds = table.columns.map(({ kind }) => kind);
  const columns = table.columns.map(({ name, kind }) =>
    kind === 'list' ? `to_json(${quotedName(name)})` : quotedName(name),
  );
  const query = new CopyOut(`copy (select ${columns.join(', ')} from ${named(table)}) to stdout`);
  client.query(query);
  for await (const lines of query) yield lines.map((line) => parseCopyLine(line, kinds));
  await query.done;
}

/** Opens PostgreSQL for rows, in one transaction. */
export async function writePostgresRows(
  url: string,
  { managed, schemas }: LoadOptions,
): Promise<RowWriter> {
  const client = await connect(url, `begin; set local lock_timeout = '${LOCK_TIMEOUT}'`);
  const catalog = await catalogOf(client, schemas);
  const aside = createAside(client, { catalog, managed });
  return {
    dialect: 'postgres',
    catalog,
    lines: await lineWriter(client, catalog),
    filled: async (tables) => {
      for (const table of tables)
        await client.query(`lock table ${named(table)} in share row exclusive mode`);
      return filled(client, tables);
    },
    clear: async (tables) => {
      for (const table of foreignKeysFirst(tables, catalog).toReversed())
        await client.query(`delete from ${named(table)}`);
    },
    begin: (tables) => aside.put(tables),
    load: (table, batches) => copyIn(client, table, (copy) => send(copy, table, batches)),
    finish: async (tables) => {
      await aside.bringBack(tables);
      for (const table of tables) await countOn(client, table, catalog);
    },
    read: (table) => rowsOf(client, table),
    commit: async () => void (await client.query('commit')),
    rollback: async () => void (await client.query('rollback')),
    close: () => client.end(),
  };
}

async function filled(client: pg.Client, tables: readonly MovedTable[]): Promise<string[]> {
  const found: string[] = [];
  for (const table of tables) {
    const { rows } = await client.query(`select exists (select from ${named(table)}) as filled`);
    if (rows[0].filled) found.push(table.label);
  }
  return found;
}

async function send(copy: CopyIn, table: MovedTable, batches: AsyncIterable<Batch>): Promise<void> {
  const kinds = table.columns.map(({ kind }) => kind);
  let row = 0;
  for await (const batch of batches) {
    let lines = '';
    for (const each of batch) {
      const line = printCopyLine(each, kinds);
      if (line.includes('\0')) throw nulText(table, each, row);
      lines += line;
      row += 1;
    }
    await copy.send(lines);
  }
}

/** PostgreSQL's text has every character but one. */
function nulText({ columns }: MovedTable, values: Row, row: number): RowRefused {
  const column = columns[values.findIndex((value) => String(value).includes('\0'))]?.name;
  return new RowRefused('PostgreSQL keeps no text with the character U+0000', { row, column });
}

/** Lets each counted column continue after its highest value. */
async function countOn(client: pg.Client, table: MovedTable, catalog: Catalog): Promise<void> {
  const columns = catalog.tables.find(
    ({ schema, name }) => schema === table.schema && name === table.name,
  )!.columns;
  for (const { name, identity, default: value } of columns) {
    if (identity === null && !/^nextval\(/.test(value ?? '')) continue;
    await client.query(
      `select setval(s.name, greatest(m.highest, (select last_value from pg_sequences where format('%I.%I', schemaname, sequencename)::regclass = s.name::regclass)))
       from (select pg_get_serial_sequence($1, $2) as name) s, (select max(${quotedName(name)}) as highest from ${named(table)}) m
       where s.name is not null and m.highest > 0`,
      [named(table), name],
    );
  }
}
