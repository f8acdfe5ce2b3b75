import type pg from 'pg';
import { quotedName } from '@twofold/runtime/store';
import type { Catalog } from '../catalog/catalog.ts';
import { type LineReader, type LineSum, type LineWriter, RowRefused } from './database.ts';
import type { MovedTable } from './moved-table.ts';
import { type CopiedLines, CopyIn, CopyOutRaw } from './postgres-wire.ts';

/**
 * Rows from PostgreSQL to PostgreSQL go as the text that the one writes and the other reads. Neither
 * side makes values of them, and each computes its own checksum.
 */
export async function lineReader(client: pg.Client, catalog: Catalog): Promise<LineReader> {
  return {
    ...(await comparing(client, catalog)),
    read: (table) => linesOf(client, table),
  };
}

export async function lineWriter(client: pg.Client, catalog: Catalog): Promise<LineWriter> {
  return {
    ...(await comparing(client, catalog)),
    load: (table, lines) =>
      copyIn(client, table, async (copy) => {
        for await (const { bytes } of lines) await copy.send(bytes);
      }),
  };
}

async function comparing(client: pg.Client, { tables }: Catalog) {
  // The server computes the checksum over the bytes of its own encoding.
  const { rows } = await client.query(
    `select current_setting('server_version_num') || ' ' || current_setting('server_encoding') as version`,
  );
  const typeOf = ({ schema, name }: MovedTable, column: string) =>
    tables
      .find((each) => each.schema === schema && each.name === name)
      ?.columns.find((each) => each.name === column)?.type ?? '';
  return {
    version: String(rows[0].version),
    types: (table: MovedTable) => table.columns.map(({ name }) => typeOf(table, name)),
    checksum: (table: MovedTable) => checksum(client, table),
  };
}

const columnsOf = ({ columns }: MovedTable) =>
  columns.map(({ name }) => quotedName(name)).join(', ');

async function* linesOf(client: pg.Client, table: MovedTable): AsyncGenerator<CopiedLines> {
  const query = new CopyOutRaw(`copy (select ${columnsOf(table)} from ${named(table)}) to stdout`);
  client.query(query);
  yield* query;
  await query.done;
}

/** Copies what `send` gives into a table. @throws RowRefused for a value that the table cannot hold. */
export async function copyIn(
  client: pg.Client,
  table: MovedTable,
  send: (copy: CopyIn) => Promise<void>,
): Promise<void> {
  const copy = new CopyIn(`copy ${named(table)} (${columnsOf(table)}) from stdin`);
  client.query(copy);
  try {
    await send(copy);
    await copy.end();
  } catch (error) {
    await copy.abandon();
    throw refusalOf(error, table);
  }
}

/** Two sums of 64-bit hashes, so that the order of the rows does not matter. */
async function checksum(client: pg.Client, table: MovedTable): Promise<LineSum> {
  const text = `row(${columnsOf(table)})::text collate "C"`;
  const sum = (seed: number) => `coalesce(sum(hashtextextended(line, ${seed})), 0)::text`;
  const { rows } = await client.query(
    `select count(*)::text as rows, ${sum(1)} || ':' || ${sum(2)} as digest from (select ${text} as line from ${named(table)}) l`,
  );
  return { rows: Number(rows[0].rows), digest: rows[0].digest };
}

/** `COPY films, line 3, column id: "x"`: where PostgreSQL was when it refused a row. */
function refusalOf(error: unknown, table: MovedTable): unknown {
  const {
    where,
    message,
    detail,
    constraint,
    column: missing,
  } = error as Record<string, string | undefined>;
  const [, line, column] =
    /^COPY .*?, line (\d+)(?:, column ([^:]+?))?(?::|$)/m.exec(where ?? '') ?? [];
  if (line === undefined) return error;
  const said = `${message}${detail === undefined ? '' : ` (${detail})`}`;
  return new RowRefused(said, {
    row: Number(line) - 1,
    column: missing ?? column ?? table.columns.find(({ name }) => constraint?.includes(name))?.name,
    cause: error,
  });
}

/** The name of a table with its schema. */
export const named = ({
  schema,
  name,
}: {
  readonly schema: string;
  readonly name: string;
}): string => `${quotedName(schema)}.${quotedName(name)}`;
