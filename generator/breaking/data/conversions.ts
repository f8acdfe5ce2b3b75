import type { ColumnType } from '@twofold/schema';

/** Changes of a column's type that keep every value: the rows of "Rows come first" in the docs. */
const EXACT: Readonly<Partial<Record<ColumnType, readonly ColumnType[]>>> = {
  integer: ['bigint', 'real', 'decimal', 'text'],
  bigint: ['decimal', 'text'],
  real: ['text'],
  decimal: ['text'],
  boolean: ['text'],
  timestamp: ['text'],
  date: ['timestamp', 'text'],
  time: ['text'],
  uuid: ['text'],
};

/** Changes that round a value, or cut its time of day, with `--allow-loss`. */
const LOSSY: Readonly<Partial<Record<ColumnType, readonly ColumnType[]>>> = {
  real: ['integer', 'bigint'],
  decimal: ['integer', 'bigint', 'real'],
  bigint: ['real'],
  timestamp: ['date'],
};

export const isExact = (from: ColumnType, to: ColumnType): boolean =>
  EXACT[from]?.includes(to) ?? false;

export const mayLose = (from: ColumnType, to: ColumnType): boolean =>
  LOSSY[from]?.includes(to) ?? false;
