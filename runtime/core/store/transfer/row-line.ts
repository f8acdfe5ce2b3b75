import type { MovedColumn } from './moved-table.ts';
import type { Row, Value } from './value.ts';

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
