/** The column that rows are sorted by. */
export interface Sorted {
  readonly by: string | null;
  readonly descending: boolean;
}

interface SortedColumn<Row> {
  readonly id: string;
  readonly sort?: 'server' | ((row: Row) => string | number | null);
}

const texts = new Intl.Collator('en', { numeric: true });

/**
 * Rows in the order of a column. Null comes last in both directions. Rows that the server sorts
 * keep their order.
 */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly SortedColumn<Row>[],
  { by, descending }: Sorted,
): readonly Row[] {
  const sort = columns.find(({ id }) => id === by)?.sort;
  if (typeof sort !== 'function') return rows;
  return [...rows].sort((a, b) => compare(sort(a), sort(b), descending ? -1 : 1));
}

function compare(a: string | number | null, b: string | number | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return (a - b) * sign;
  return texts.compare(String(a), String(b)) * sign;
}
