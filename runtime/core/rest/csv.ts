import type { ColumnType, RestMember } from '@twofold/schema';

/** Texts that a spreadsheet takes for a formula begin with one of these. */
const FORMULA = /^[=+\-@\t\r]/;

const QUOTED = /[",\r\n]|^\s|\s$/;

/** Types whose values are numbers, although JSON has them as text. */
const NUMBERS: ReadonlySet<ColumnType> = new Set(['decimal', 'bigint', 'id']);

/** A column of a CSV file. */
export type CsvColumn = Pick<RestMember, 'name' | 'column'>;

/** The header row. RFC 4180 ends lines with CR LF. */
export const csvHeader = (columns: readonly CsvColumn[]): string =>
  lineOf(columns.map(({ name }) => name));

/**
 * A row as a line of CSV. Null is nothing, an empty text is `""`, and objects are JSON. A text that
 * a spreadsheet would take for a formula gets an apostrophe in front.
 *
 * @example csvLine([{ name: 'title' }], { title: '=1+1' }) // "'=1+1\r\n"
 */
export const csvLine = (
  columns: readonly CsvColumn[],
  row: Readonly<Record<string, unknown>>,
): string => lineOf(columns.map((column) => cell(column, row[column.name])));

const lineOf = (cells: readonly string[]) => `${cells.join(',')}\r\n`;

function cell({ column }: CsvColumn, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return quoted(JSON.stringify(value));
  if (value === '') return '""';
  const isNumber = column !== undefined && NUMBERS.has(column.type) && /^-?[\d.]+$/.test(value);
  return quoted(FORMULA.test(value) && !isNumber ? `'${value}` : value);
}

const quoted = (text: string) => (QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
