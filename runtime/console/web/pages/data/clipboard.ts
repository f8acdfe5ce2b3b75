import { textOf, valueOf } from './field-text.ts';
import type { GridState } from './grid-state.ts';
import { type Row, stage, stagedRow } from './staged.ts';

/** The value of a cell as text, with the change that is not saved. */
export function copyText({ module, columns }: GridState, row: Row, name: string): string {
  const column = columns.find((each) => each.name === name)!;
  const changes = stagedRow(module.path, String(row['id']))?.changes ?? {};
  return textOf(column, name in changes ? changes[name] : row[name]);
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
