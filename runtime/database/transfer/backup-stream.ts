import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { AppError } from '@twofold/runtime/errors';
import type { BackupHead, BackupTable } from '@twofold/runtime/kernel';
import type { TableRows } from './move-rows.ts';
import type { MovedColumn } from './moved-table.ts';
import type { Batch, Row, Value } from './value.ts';

/**
 * Starts a line that is no row. It does not occur in JSON, where it would be escaped (RFC 8259,
 * section 7).
 */
const MARK = '\x1e';

/**
 * Between the project, which knows the database, and the command line, which knows the file, a
 * backup is a stream: a line for each row, and marked lines between them.
 */
export type MarkedLine =
  | { readonly head: Omit<BackupHead, 'tables'> | BackupHead }
  | { readonly table: string }
  | { readonly end: string; readonly rows: number }
  | { readonly done: true };

/** Writes text; waits while the reader is slower. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

export const writeMark = (stream: Writable, mark: MarkedLine): Promise<void> =>
  writeText(stream, `${MARK}${JSON.stringify(mark)}\n`);

/** Bytes of lines that are handled together. */
const BATCH_BYTES = 256 * 1024;

/** The lines of a stream in batches, without their ends; a marked line is a batch of its own. */
async function* linesOf(stream: Readable): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let lines: string[] = [];
  let size = 0;
  let rest: string[] = [];
  for await (const chunk of stream) {
    const parts = decoder.write(chunk as Buffer).split('\n');
    for (let at = 0; at < parts.length - 1; at++) {
      rest.push(parts[at]!);
      const line = rest.length === 1 ? rest[0]! : rest.join('');
      rest = [];
      if (line.startsWith(MARK)) {
        if (lines.length > 0) yield lines;
        yield [line];
        [lines, size] = [[], 0];
        continue;
      }
      lines.push(line);
      size += line.length;
      if (size < BATCH_BYTES) continue;
      yield lines;
      [lines, size] = [[], 0];
    }
    rest.push(parts.at(-1)!);
  }
}

/** Reads a backup that the command line sends: its head, then table after table. */
export interface BackupReader {
  head(): Promise<BackupHead>;
  /** The next table; undefined after the last one. */
  next(): Promise<TableRows | undefined>;
}

export function readBackup(stream: Readable): BackupReader {
  const lines = linesOf(stream);
  let head: BackupHead | undefined;
  const mark = async (): Promise<MarkedLine> => {
    const { value } = await lines.next();
    const line = (value as readonly string[] | undefined)?.[0];
    if (line === undefined || !line.startsWith(MARK)) throw damaged('it ends too early');
    return JSON.parse(line.slice(1)) as MarkedLine;
  };
  return {
    head: async () => {
      const first = await mark();
      if (!('head' in first)) throw damaged('it has no head');
      return (head = first.head as BackupHead);
    },
    next: async () => {
      const found = await mark();
      if ('done' in found) return undefined;
      if (!('table' in found)) throw damaged('a table is expected');
      const facts = head?.tables.find(({ name }) => name === found.table);
      if (!facts) throw damaged(`its list has no table ${found.table}`);
      return tableOf(lines, facts);
    },
  };
}

/** How many batches are kept, to find a row that the database refuses only later. */
const REMEMBERED = 64;

type Lines = AsyncGenerator<readonly string[]>;

/** The table of a file in the backup. Its columns are those of the first row. */
async function tableOf(lines: Lines, facts: BackupTable): Promise<TableRows> {
  const first = await lines.next();
  const start = (first.value as readonly string[] | undefined) ?? [];
  const columns = isMarked(start) ? [] : Object.keys(JSON.parse(start[0]!) as object);
  const parse = rowParser(columns);
  const recent: { readonly from: number; readonly rows: Batch }[] = [];
  async function* read(): AsyncGenerator<Batch> {
    const hash = createHash('sha256');
    let rows = 0;
    for (let batch = start; !isMarked(batch); batch = await following(lines)) {
      hash.update(`${batch.join('\n')}\n`);
      const parsed = batch.map((line) => parse(line) ?? otherColumns(facts.name));
      recent.push({ from: rows, rows: parsed });
      if (recent.length > REMEMBERED) recent.shift();
      rows += batch.length;
      yield parsed;
    }
    if (rows !== facts.rows || hash.digest('hex') !== facts.sha256)
      throw damaged(`the rows of ${facts.name} are not those that were written`);
  }
  const find = async (at: number) => {
    const batch = recent.find(({ from, rows }) => from <= at && at < from + rows.length);
    return batch?.rows[at - batch.from];
  };
  return { name: facts.name, columns, read, find };
}

const isMarked = (batch: readonly string[]) => batch.length === 0 || batch[0]!.startsWith(MARK);

async function following(lines: Lines): Promise<readonly string[]> {
  const { value } = await lines.next();
  if (value === undefined) throw damaged('it ends too early');
  return value as readonly string[];
}

function otherColumns(table: string): Row {
  throw damaged(`the rows of ${table} have different columns`);
}

function damaged(problem: string): AppError {
  return new AppError(
    500,
    'BACKUP_DAMAGED',
    `the backup was cut off or changed: ${problem}; nothing was written`,
  );
}

/** A row as a line of a backup: `{"id":1,"title":"x"}`, without the line's end. */
export function rowPrinter(columns: readonly MovedColumn[]): (row: Row) => string {
  const starts = columns.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    let line = '';
    for (let at = 0; at < starts.length; at++) line += starts[at]! + JSON.stringify(row[at]);
    return `${line}}`;
  };
}

/** A line of a backup as a row with these columns. @returns undefined when it has others. */
export function rowParser(columns: readonly string[]): (line: string) => Row | undefined {
  return (line) => {
    const parsed = JSON.parse(line) as Record<string, Value>;
    const row = columns.map((name) => parsed[name]);
    const complete = row.every((value) => value !== undefined);
    return complete && Object.keys(parsed).length === columns.length ? (row as Row) : undefined;
  };
}
