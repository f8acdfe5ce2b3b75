import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { columnsOf, dialectOf, type DroppedValues } from '@twofold/runtime/store';
import { keyOf } from '../tables/row-checks.ts';

/** Values that were written to files before they were dropped. */
export interface Rescue {
  /** Writes the values and their keys to disk, one row a line, before it returns. */
  save(db: Kysely<any>, dropped: DroppedValues): Promise<void>;
  /** The files so far, relative to the project. */
  readonly files: readonly string[];
  /** Removes the files again, because nothing was dropped after all. */
  discard(): void;
}

const FOLDER = '.generator/rescued';

/** How many rows are read at a time. */
const PAGE = 1_000;

/**
 * Makes files `.generator/rescued/<time>-<table>.jsonl` in a project.
 *
 * @example
 * const rescue = createRescue(root);
 * await rescue.save(trx, { table: 'posts', column: 'rating' });
 */
export function createRescue(root: string, now: () => number = Date.now): Rescue {
  const time = new Date(now()).toISOString().replaceAll(':', '-');
  const files: string[] = [];
  const nextFile = (table: string) => {
    const base = `${FOLDER}/${time}-${table.replaceAll(/[^\w.-]/g, '_')}`;
    const same = files.filter((file) => file.startsWith(`${base}.`) || file.startsWith(`${base}-`));
    return `${base}${same.length > 0 ? `-${same.length + 1}` : ''}.jsonl`;
  };
  return {
    files,
    save: async (db, dropped) => {
      const file = nextFile(dropped.table);
      const path = join(root, file);
      let open: number | null = null;
      for await (const lines of readLines(db, dropped)) {
        if (open === null) {
          mkdirSync(join(root, FOLDER), { recursive: true });
          open = openSync(path, 'wx', 0o600);
          files.push(file);
        }
        writeSync(open, lines.map((line) => `${line}\n`).join(''));
      }
      if (open === null) return;
      fsyncSync(open);
      closeSync(open);
    },
    discard: () => files.splice(0).forEach((file) => rmSync(join(root, file), { force: true })),
  };
}

/** Pages of rows as JSON texts; none when the column has no value, or the table does not exist. */
async function* readLines(
  db: Kysely<any>,
  { table, column }: DroppedValues,
): AsyncGenerator<readonly string[]> {
  const columns = await columnsOf(db, table);
  if (columns.size === 0 || (column !== undefined && !columns.has(column))) return;
  const names = column === undefined ? [...columns] : [...(await keyOf(db, table)), column];
  const condition = column === undefined ? sql`1 = 1` : sql`${sql.ref(column)} is not null`;
  const read = dialectOf(db) === 'sqlite' ? readSqlite : readPostgres;
  for (let offset = 0; ; offset += PAGE) {
    const lines = await read(db, { table, names: [...new Set(names)], condition, offset });
    if (lines.length > 0) yield lines;
    if (lines.length < PAGE) return;
  }
}

interface Page {
  readonly table: string;
  readonly names: readonly string[];
  readonly condition: RawBuilder<unknown>;
  readonly offset: number;
}

/**
 * Reads rows that PostgreSQL writes as JSON itself, so that no number becomes a double of
 * JavaScript.
 */
async function readPostgres(
  db: Kysely<any>,
  { table, names, condition, offset }: Page,
): Promise<string[]> {
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const { rows } = await sql<{ line: string }>`
    select row_to_json(page)::text as line from (select ${columns} from ${sql.table(table)}
    where ${condition} order by ctid limit ${sql.lit(PAGE)} offset ${sql.lit(offset)}) as page`.execute(
    db,
  );
  return rows.map(({ line }) => line);
}

/** Reads rows. Integers that JavaScript cannot hold exactly are read as text. */
async function readSqlite(
  db: Kysely<any>,
  { table, names, condition, offset }: Page,
): Promise<string[]> {
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  const exact = names.map((name) => {
    const value = sql.ref(name);
    return sql`case when typeof(${value}) = 'integer' and ${value} not between -${most} and ${most} then cast(${value} as text) else ${value} end as ${value}`;
  });
  const { rows } = await sql<Record<string, unknown>>`
    select ${sql.join(exact)} from ${sql.table(table)} where ${condition}
    limit ${sql.lit(PAGE)} offset ${sql.lit(offset)}`.execute(db);
  return rows.map((row) =>
    JSON.stringify(
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
    ),
  );
}

/**
 * Bytes as hexadecimal digits, as PostgreSQL writes them, and the numbers that JSON does not have.
 */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return value;
}
