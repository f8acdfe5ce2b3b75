import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { AppError, failure } from '../errors.ts';
import { parseExact } from '../data/sql/exact-json.ts';
import { callerKey } from './service.ts';
import { readFieldSelection } from './field-selection.ts';
import { askOwnList } from './own-fields.ts';
import { readListVariables } from './query.ts';
import { addedNames } from './added-fields.ts';
import { fieldNode } from './operations.ts';
import { readRootText, rowsOperation } from './read.ts';
import type { RestAnswer, RestRequest } from './request.ts';
import type { ColumnType, RestMember } from '@twofold/schema';

const TYPES = ['text/csv', 'application/x-ndjson'] as const;

/** A form in which every matching row is sent. */
export type StreamType = (typeof TYPES)[number];

/** The form that a request prefers to a page of JSON; undefined when it prefers none. */
export function streamTypeOf(koa: Context): StreamType | undefined {
  const wanted = koa.accepts(['application/json', ...TYPES]);
  return TYPES.find((type) => type === wanted);
}

type Row = Readonly<Record<string, unknown>>;

/** Some rows, and the key after which the next ones begin; null after the last batch. */
interface Batch {
  readonly rows: readonly Row[];
  readonly next: string | number | null;
}

/** How many rows a batch has. Fewer are read when the rows are large, or embed many others. */
const BATCH = 1000;

/**
 * Every matching row as a stream. One batch is in memory at a time, and each begins after the last
 * row of the one before, so that no row comes twice. A failure cuts the stream off.
 *
 * @throws AppError 429 while the caller has two streams
 */
export async function streamRows(request: RestRequest, type: StreamType): Promise<RestAnswer> {
  const { service, koa } = request;
  const free = service.streams.take(callerKey(koa.state['context']));
  // The client may disconnect before it gets the first row.
  koa.res.once('close', free);
  if (koa.res.destroyed) free();
  try {
    const read = readerOf(request);
    const first = await read(null);
    const columns = type === 'text/csv' ? columnsOf(request) : undefined;
    const stream = Readable.from(textOf(request, { read, first, columns }));
    return { status: 200, stream, type };
  } catch (error) {
    free();
    throw error;
  }
}

interface Streaming {
  readonly read: (from: Batch['next']) => Promise<Batch>;
  readonly first: Batch;
  /** The columns of CSV; absent for lines of JSON. */
  readonly columns: readonly CsvColumn[] | undefined;
}

async function* textOf(
  { service, context }: RestRequest,
  { read, first, columns }: Streaming,
): AsyncGenerator<string> {
  if (columns) yield csvHeader(columns);
  let batch = first;
  for (;;) {
    yield batch.rows
      .map((row) => (columns ? csvLine(columns, row) : `${JSON.stringify(row)}\n`))
      .join('');
    // The text of these rows was sent, so its memory is free for other answers.
    service.engine.store.memory.end(context);
    if (batch.next === null) return;
    batch = await read(batch.next);
  }
}

/** The members of a row, in the order of JSON. */
function columnsOf({ service, served, query }: RestRequest): CsvColumn[] {
  const { fields, include } = readFieldSelection(query);
  const members = [...service.members(served.module.entity.name).values()];
  return members.filter(({ name, kind }) =>
    kind === 'relation'
      ? include.has(name) || fields?.has(name) === true
      : fields === null || name === 'id' || fields.has(name),
  );
}

const readerOf = (request: RestRequest): Streaming['read'] =>
  request.served.isOwn('list') ? ownReader(request) : keysetReader(request);

/** Reads one page after another, because a function of the project's own has no cursor. */
function ownReader(request: RestRequest): Streaming['read'] {
  const { list } = request.served.module;
  const limit = list?.action.kind === 'list' ? Math.min(BATCH, list.action.list.paging.max) : BATCH;
  return async (from) => {
    const page = Number(from ?? 1);
    const { data } = await askOwnList(request, { page, limit });
    const rows = parseExact(String(data)) as Row[];
    return { rows, next: rows.length < limit ? null : page + 1 };
  };
}

const PAGE = [fieldNode('hasNextPage'), fieldNode('endCursor')];

function keysetReader(request: RestRequest): Streaming['read'] {
  const { service, served, query, rules } = request;
  const operation = rowsOperation(request, addedNames.every(served.module), {
    args: ['where', 'orderBy', 'search', 'first', 'after'],
    below: (rows) => [
      fieldNode('nodes', { as: 'data', below: rows }),
      fieldNode('pageInfo', { as: 'page', below: PAGE }),
    ],
  });
  const asked = readListVariables(service, query, served, rules);
  let first = BATCH;
  return async (after) => {
    for (;;) {
      try {
        const variables = { ...asked, first, after };
        const text = await readRootText(request, { operation, variables, coerced: true });
        return batchOf(text === null ? null : String(text));
      } catch (error) {
        const fewer = fewerRows(error, first);
        if (fewer === first) throw error;
        first = fewer;
      }
    }
  };
}

/** A batch that is too costly or too large is read again with fewer rows. */
function fewerRows(error: unknown, rows: number): number {
  if (!(error instanceof AppError) || error.status !== 400) return rows;
  const { value, limit } = error.extensions as { value?: number; limit?: number };
  if (typeof value === 'number' && typeof limit === 'number' && value > limit)
    return Math.max(1, Math.floor((rows * limit) / value));
  return /more than \d+ bytes/.test(error.message) ? Math.max(1, Math.floor(rows / 4)) : rows;
}

interface Answered {
  readonly data: readonly Row[];
  readonly page: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

function batchOf(text: string | null): Batch {
  if (text === null) throw failure.forbidden();
  const { data, page } = parseExact(text) as Answered;
  return { rows: data, next: page.hasNextPage ? page.endCursor : null };
}

/** Texts that a spreadsheet takes for a formula begin with one of these. */
const FORMULA = /^[=+\-@\t\r]/;

const QUOTED = /[",\r\n]|^\s|\s$/;

/** Types whose values are numbers, although JSON has them as text. */
const NUMBERS: ReadonlySet<ColumnType> = new Set(['decimal', 'bigint', 'id']);

/** A column of a CSV file. */
type CsvColumn = Pick<RestMember, 'name' | 'column'>;

/** The header row. RFC 4180 ends lines with CR LF. */
const csvHeader = (columns: readonly CsvColumn[]): string =>
  lineOf(columns.map(({ name }) => name));

/**
 * A row as a line of CSV. Null is nothing, an empty text is `""`, and objects are JSON. A text that
 * a spreadsheet would take for a formula gets an apostrophe in front.
 *
 * @example csvLine([{ name: 'title' }], { title: '=1+1' }) // "'=1+1\r\n"
 */
const csvLine = (columns: readonly CsvColumn[], row: Readonly<Record<string, unknown>>): string =>
  lineOf(columns.map((column) => cell(column, row[column.name])));

const lineOf = (cells: readonly string[]) => `${cells.join(',')}\r\n`;

function cell({ column }: CsvColumn, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return quoted(JSON.stringify(value));
  if (value === '') return '""';
  const isNumber = column !== undefined && NUMBERS.has(column.type) && /^-?[\d.]+$/.test(value);
  return quoted(FORMULA.test(value) && !isNumber ? `'${value}` : value);
}

const quoted = (text: string) => (QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
