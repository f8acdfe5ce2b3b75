import { CHECK, type GridState, HEAD, type CellPosition } from './grid-state.ts';
import { textOf, valueOf } from './value.tsx';
import { type Row, stage, stagedRow } from './staged.ts';

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
  const first = { row: 0, column: grid.module.remove ? CHECK : 0 };
  const last = { row: grid.count - 1, column: grid.columns.length - 1 };
  const far = event.ctrlKey || event.metaKey;
  const places: Readonly<Record<string, CellPosition>> = {
    ArrowUp: { row: far ? first.row : row - 1, column },
    ArrowDown: { row: far ? last.row : row + 1, column },
    ArrowLeft: { row, column: far ? first.column : column - 1 },
    ArrowRight: { row, column: far ? last.column : column + 1 },
    Home: { row: far ? first.row : row, column: first.column },
    End: { row: far ? last.row : row, column: last.column },
    PageUp: { row: Math.max(0, row - grid.page), column },
    PageDown: { row: Math.min(last.row, Math.max(0, row) + grid.page), column },
  };
  return places[event.key];
}

/** @returns whether the key was taken */
function act(
  event: KeyboardEvent,
  grid: GridState,
  place: CellPosition,
  actions: GridActions,
): boolean {
  const { key, altKey, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) return actWithControl(event, grid, place, actions);
  if (key === ' ' && place.row > HEAD && (place.column === CHECK || shiftKey))
    return (actions.select(place.row, false), true);
  if (place.row === HEAD) return headKey(key, place, actions);
  if (key === 'Enter' || key === 'F2') return enter(grid, place, actions);
  return !altKey && key.length === 1 && key !== ' ' && type(grid, place, key);
}

function actWithControl(
  event: KeyboardEvent,
  grid: GridState,
  place: CellPosition,
  { save }: GridActions,
): boolean {
  const key = event.key.toLowerCase();
  if (key === 's') return (save(), true);
  if (key === 'c') return copy(grid, place);
  return key === 'enter' && place.row > HEAD && followLink(event);
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

/** The value of a cell as text, with the change that is not saved. */
function copyText({ module, columns }: GridState, row: Row, name: string): string {
  const column = columns.find((each) => each.name === name);
  const changes = stagedRow(module.path, String(row['id']))?.changes ?? {};
  return column ? textOf(column, name in changes ? changes[name] : row[name]) : '';
}

/**
 * Stages the text of the clipboard in the active cell. Text that is no value of its kind is left.
 */
export function onGridPaste(event: ClipboardEvent, grid: GridState): void {
  if (grid.editing.peek()) return;
  const place = grid.active.peek();
  const field = grid.fieldAt(place);
  const row = grid.rowAt(place.row);
  const text = event.clipboardData?.getData('text/plain');
  if (!field || !row || text === undefined) return;
  event.preventDefault();
  const { path, type } = grid.module;
  try {
    const value = valueOf(field, text.replace(/\r?\n$/, ''));
    if (value !== undefined) stage({ path, type, row }, field.name, value);
  } catch {
    grid.edit(place, text);
  }
}
