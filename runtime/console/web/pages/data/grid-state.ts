import { signal } from '@preact/signals';
import type { Column, InputField, Module } from '../../rest-modules.ts';
import type { RowStore } from './row-store.ts';
import type { Row } from './staged.ts';
import {
  edgesOf,
  type GridSize,
  type GridWindow,
  heightOf,
  scrollFor,
  widthOf,
  windowOf,
} from './grid-window.ts';

/** The position of a cell. Row -1 has the headers, and column -1 the checkboxes. */
export interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/** A cell that is being edited. The typed character that began it replaces the value. */
export interface Editing extends CellPosition {
  readonly typed: string | null;
}

export const HEAD = -1;
export const CHECK = -1;

/** The visible part of a grid, and its active cell. */
export class GridState {
  readonly module: Module;
  readonly columns: readonly Column[];
  readonly fields: readonly (InputField | undefined)[];
  readonly rows: RowStore;
  readonly edges: readonly number[];
  readonly window = signal<GridWindow>({
    first: 0,
    end: 0,
    slots: 1,
    top: 0,
    firstColumn: 0,
    endColumn: 0,
  });
  readonly active = signal<CellPosition>({ row: 0, column: 0 });
  readonly editing = signal<Editing | null>(null);
  /** In pixels. The density decides it. */
  rowHeight = 34;
  /** Whether the active cell gets the focus when it is drawn. */
  focusing = false;
  element: HTMLElement | null = null;

  constructor(module: Module, columns: readonly Column[], rows: RowStore) {
    this.module = module;
    this.columns = columns;
    this.rows = rows;
    this.fields = columns.map(({ name }) => module.update.find((field) => field.name === name));
    this.edges = edgesOf(columns.map(widthOf));
  }

  /** The width of the checkboxes. */
  get checks(): number {
    return this.module.remove ? CHECK_WIDTH : 0;
  }

  get count(): number {
    return this.rows.total.peek() ?? 0;
  }

  get width(): number {
    return this.checks + (this.edges.at(-1) ?? 0);
  }

  /** The width of a column in pixels. */
  widthOf(column: number): string {
    const [left = 0, right = left] = this.edges.slice(column, column + 2);
    return `${right - left}px`;
  }

  get height(): number {
    return heightOf({ rows: this.count, rowHeight: this.rowHeight });
  }

  /** Fills the window of the browser down to its end. It reads the layout, so no frame calls it. */
  fill(): void {
    const { element } = this;
    if (!element) return;
    const top = element.getBoundingClientRect().top + scrollY;
    const height = Math.max(LEAST_HEIGHT, innerHeight - top - BELOW);
    element.style.setProperty('--grid-height', `${Math.floor(height)}px`);
    const row = getComputedStyle(element).getPropertyValue('--grid-row');
    this.rowHeight = Number.parseFloat(row) || this.rowHeight;
    this.measure();
  }

  #size(): GridSize {
    const { scrollTop = 0, scrollLeft = 0, clientWidth = 0, clientHeight = 0 } = this.element ?? {};
    const { rowHeight, edges } = this;
    const height = Math.max(rowHeight, clientHeight - HEAD_HEIGHT);
    const width = clientWidth - this.checks;
    return { scrollTop, scrollLeft, width, height, rowHeight, rows: this.count, edges };
  }

  /** Computes which part of the grid is visible. */
  measure(): void {
    const next = windowOf(this.#size());
    const now = this.window.peek();
    if (JSON.stringify(now) !== JSON.stringify(next)) this.window.value = next;
    if (this.count > 0) this.rows.show(next.first, Math.max(next.first, next.end - 1));
  }

  /** How many rows fit into the visible part. */
  get page(): number {
    const { height, rowHeight } = this.#size();
    return Math.max(1, Math.floor(height / rowHeight) - 1);
  }

  /** Makes a cell the active one, and scrolls to it. */
  go({ row, column }: CellPosition): void {
    const place = {
      row: clamp(row, HEAD, this.count - 1),
      column: clamp(column, this.module.remove ? CHECK : 0, this.columns.length - 1),
    };
    this.focusing = true;
    this.reveal(place);
    this.active.value = place;
  }

  reveal({ row, column }: CellPosition): void {
    const { element } = this;
    if (!element) return;
    const size = this.#size();
    if (row >= 0) {
      const up = scrollFor(row, size);
      const down = scrollFor(row + 1 - size.height / size.rowHeight, size);
      if (up < size.scrollTop) element.scrollTop = up;
      else if (down > size.scrollTop) element.scrollTop = Math.ceil(down);
    }
    const [left = 0, right = 0] = this.edges.slice(Math.max(0, column), Math.max(0, column) + 2);
    if (left < size.scrollLeft) element.scrollLeft = left;
    else if (right > size.scrollLeft + size.width) element.scrollLeft = right - size.width;
    this.measure();
  }

  /** Scrolls to a row. The active cell stays. */
  scrollToRow(row: number): void {
    if (this.element) this.element.scrollTop = scrollFor(row, this.#size());
    this.measure();
  }

  /** The field that a cell can be changed by; undefined where it can only be read. */
  fieldAt({ row, column }: CellPosition): InputField | undefined {
    const value = this.rowAt(row)?.[this.columns[column]?.name ?? ''];
    return value === undefined ? undefined : this.fields[column];
  }

  rowAt(row: number): Row | undefined {
    return row < 0 ? undefined : this.rows.at(row);
  }

  edit(place: CellPosition, typed: string | null = null): void {
    if (this.fieldAt(place)) this.editing.value = { ...place, typed };
  }

  /** Ends the editing of a cell, which has the focus again. */
  leave(): void {
    this.editing.value = null;
    this.focusing = true;
  }
}

const CHECK_WIDTH = 40;
export const HEAD_HEIGHT = 36;

/** Pixels for the line below the grid with the number of rows, and the least height of a grid. */
const BELOW = 64;
const LEAST_HEIGHT = 280;

const clamp = (value: number, least: number, most: number) =>
  Math.max(least, Math.min(value, Math.max(least, most)));
