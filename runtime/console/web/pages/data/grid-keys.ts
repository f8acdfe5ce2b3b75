import { copyText } from './clipboard.ts';
import { CHECK, type GridState, HEAD, type CellPosition } from './grid-state.ts';

/** Actions of keys, apart from moving the active cell. */
export interface GridActions {
  sort(column: number): void;
  /** Turns the checkbox of a row; with `through` all rows since the last one. */
  select(row: number, through: boolean): void;
  /** Opens the row beside the grid. */
  open(row: number): void;
  save(): void;
}

/** The keys of the ARIA pattern for grids, with Enter and F2 to edit. */
export function onGridKey(event: KeyboardEvent, grid: GridState, actions: GridActions): void {
  if (grid.editing.peek() || event.defaultPrevented) return;
  const place = grid.active.peek();
  const to = moved(event, grid, place);
  if (to) {
    event.preventDefault();
    return grid.go(to);
  }
  if (act(event, grid, place, actions)) event.preventDefault();
}

function moved(
  event: KeyboardEvent,
  grid: GridState,
  { row, column }: CellPosition,
): CellPosition | undefined {
  const far = event.ctrlKey || event.metaKey;
  const first = grid.module.remove ? CHECK : 0;
  const lastColumn = grid.columns.length - 1;
  const lastRow = grid.count - 1;
  switch (event.key) {
    case 'ArrowUp':
      return { row: far ? 0 : row - 1, column };
    case 'ArrowDown':
      return { row: far ? lastRow : row + 1, column };
    case 'ArrowLeft':
      return { row, column: far ? first : column - 1 };
    case 'ArrowRight':
      return { row, column: far ? lastColumn : column + 1 };
    case 'Home':
      return { row: far ? 0 : row, column: first };
    case 'End':
      return { row: far ? lastRow : row, column: lastColumn };
    case 'PageUp':
      return { row: Math.max(0, row - grid.page), column };
    case 'PageDown':
      return { row: Math.min(lastRow, Math.max(0, row) + grid.page), column };
    default:
      return undefined;
  }
}

/** @returns whether the key was taken */
function act(
  event: KeyboardEvent,
  grid: GridState,
  place: CellPosition,
  actions: GridActions,
): boolean {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  const held = ctrlKey || metaKey;
  if (held && key.toLowerCase() === 's') return (actions.save(), true);
  if (held && key.toLowerCase() === 'c') return copy(grid, place);
  if (key === ' ' && place.row > HEAD && (place.column === CHECK || shiftKey))
    return (actions.select(place.row, false), true);
  if (place.row === HEAD) return headKey(key, place, actions);
  if (key === 'Enter' && held) return followLink(event);
  if (key === 'Enter' || key === 'F2') return enter(grid, place, actions);
  if (held || altKey || key.length !== 1 || key === ' ') return false;
  return type(grid, place, key);
}

function headKey(key: string, { column }: CellPosition, actions: GridActions): boolean {
  if (key !== 'Enter' && key !== ' ') return false;
  if (column !== CHECK) actions.sort(column);
  return column !== CHECK;
}

function enter(grid: GridState, place: CellPosition, actions: GridActions): boolean {
  if (place.column === CHECK) actions.select(place.row, false);
  else if (grid.fieldAt(place)) grid.edit(place);
  else if (grid.module.readable) actions.open(place.row);
  return true;
}

/** A character replaces the value of a text or a number. */
function type(grid: GridState, place: CellPosition, key: string): boolean {
  const kind = grid.fieldAt(place)?.kind;
  if (kind === undefined || kind === 'boolean' || kind === 'enum' || kind === 'json') return false;
  grid.edit(place, key);
  return true;
}

function followLink(event: KeyboardEvent): boolean {
  const link = (event.target as Element).querySelector('a');
  link?.click();
  return link !== null;
}

/** Copies the value of the active cell, unless text is selected. */
function copy(grid: GridState, { row, column }: CellPosition): boolean {
  const name = grid.columns[column]?.name;
  const data = grid.rowAt(row);
  if (name === undefined || !data || getSelection()?.toString()) return false;
  void navigator.clipboard.writeText(copyText(grid, data, name));
  return true;
}
