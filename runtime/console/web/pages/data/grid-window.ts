import type { Column } from '../../rest-modules.ts';

/** The part of a grid that is drawn. */
export interface GridWindow {
  readonly first: number;
  /** After the last row. */
  readonly end: number;
  /** The most rows of a window of this height. */
  readonly slots: number;
  /** The position of the first drawn row, in pixels from the top of all rows. */
  readonly top: number;
  readonly firstColumn: number;
  /** After the last column. */
  readonly endColumn: number;
}

/** How a grid is scrolled, and how large its parts are, in pixels. */
export interface GridSize {
  readonly scrollTop: number;
  readonly scrollLeft: number;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly rows: number;
  /** The left edges of the columns, and the right edge of the last one. */
  readonly edges: readonly number[];
}

/** Browsers do not draw elements that are higher than some 17 million pixels. */
const MOST_PIXELS = 8_000_000;
const BESIDE = 6;

/**
 * The height of all rows in pixels. With too many rows, one pixel of scrolling passes several rows.
 */
export const heightOf = ({ rows, rowHeight }: Pick<GridSize, 'rows' | 'rowHeight'>): number =>
  Math.min(rows * rowHeight, MOST_PIXELS);

/** The row at the top, with a fraction. */
function rowAtTop(size: GridSize): number {
  const full = size.rows * size.rowHeight;
  const shown = heightOf(size);
  if (full === shown) return size.scrollTop / size.rowHeight;
  const share = size.scrollTop / Math.max(1, shown - size.height);
  return (Math.min(1, share) * (full - size.height)) / size.rowHeight;
}

/** The scroll position at which the row is the first visible one. */
export function scrollFor(row: number, size: GridSize): number {
  const full = size.rows * size.rowHeight;
  const shown = heightOf(size);
  if (full === shown) return row * size.rowHeight;
  return ((row * size.rowHeight) / Math.max(1, full - size.height)) * (shown - size.height);
}

/** The rows and columns to draw: the visible ones, and a few around them. */
export function windowOf(size: GridSize): GridWindow {
  const at = rowAtTop(size);
  const first = Math.max(0, Math.floor(at) - BESIDE);
  const seen = Math.ceil(size.height / size.rowHeight);
  const end = Math.min(size.rows, Math.floor(at) + seen + BESIDE + 1);
  const right = size.scrollLeft + size.width;
  const found = size.edges.findIndex((_, index) => (size.edges[index + 1] ?? 0) > size.scrollLeft);
  const firstColumn = Math.max(0, found);
  const last = size.edges.findIndex((edge) => edge >= right);
  return {
    first,
    end,
    slots: seen + 2 * BESIDE + 2,
    top: size.scrollTop - (at - first) * size.rowHeight,
    firstColumn: Math.max(0, firstColumn - 1),
    endColumn: last < 0 ? size.edges.length - 1 : Math.min(size.edges.length - 1, last + 1),
  };
}

const WIDTHS: Readonly<Record<Column['kind'], number>> = {
  text: 180,
  integer: 90,
  number: 100,
  boolean: 80,
  enum: 110,
  timestamp: 210,
  date: 110,
  time: 100,
  bytes: 180,
  json: 260,
};

/** The width of a column in pixels. Its name must fit too. */
export function widthOf({ name, kind, keyOf }: Column): number {
  const wide = name === 'id' ? 80 : keyOf ? 150 : WIDTHS[kind];
  return Math.max(wide, name.length * 8 + 40);
}

/** @example edgesOf([100, 50]) // [0, 100, 150] */
export function edgesOf(widths: readonly number[]): number[] {
  let edge = 0;
  return [0, ...widths.map((width) => (edge += width))];
}
