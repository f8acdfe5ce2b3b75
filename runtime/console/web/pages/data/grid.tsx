import { useLayoutEffect, useMemo } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import type { Column, Module } from '../../rest-modules.ts';
import { onGridPaste, onGridKey } from './grid-keys.ts';
import { GridRow } from './grid-row.tsx';
import { CHECK, GridState, HEAD, HEAD_HEIGHT } from './grid-state.ts';
import type { RowStore } from './row-store.ts';
import type { Selection } from './selection.ts';
import { staged } from './staged.ts';

interface GridProps {
  readonly module: Module;
  readonly columns: readonly Column[];
  readonly rows: RowStore;
  readonly selection: Selection;
  /** The row that is at the top when the grid is opened. */
  readonly start: number;
  open(row: number): void;
  save(): void;
}

/** The rows of a type. Only what is seen is in the document. */
export function Grid({ module, columns, rows, selection, start, open, save }: GridProps) {
  const grid = useMemo(() => new GridState(module, columns, rows), [module, columns, rows]);
  const actions = {
    sort: (column: number) => turnSort(columns[column]),
    select: (row: number, through: boolean) => selection.turn(rows, row, through),
    open,
    save,
  };
  const known = rows.version.value;
  useLayoutEffect(() => grid.measure(), [grid, known]);
  useLayoutEffect(() => watchSize(grid), [grid]);
  useLayoutEffect(() => {
    if (start > 0 && grid.count > 0) grid.scrollToRow(start);
  }, [grid, grid.count > 0]);
  useLayoutEffect(() => focusActive(grid));
  const { window, active, editing } = grid;
  return (
    <div
      role="grid"
      class="grid"
      ref={(element) => void (grid.element = element)}
      tabIndex={isActiveDrawn(grid) ? -1 : 0}
      aria-label={module.type}
      aria-rowcount={(rows.total.value ?? 0) + 1}
      aria-colcount={columns.length + (module.remove ? 1 : 0)}
      aria-multiselectable={module.remove}
      aria-busy={rows.loading.value}
      onScroll={() => onScroll(grid)}
      onFocusIn={(event) => noteFocus(grid, event.target as Element)}
      onKeyDown={(event) => onGridKey(event, grid, actions)}
      onPaste={(event) => onGridPaste(event, grid)}
      onDblClick={(event) => editAt(grid, event.target as Element)}
      onClick={(event) => onClick(event, actions)}
    >
      <div
        class="grid-size"
        style={{ width: px(grid.width), height: px(grid.height + HEAD_HEIGHT) }}
      >
        <Head grid={grid} selection={selection} />
        {drawn(grid).map((index) => (
          <GridRow
            key={keyOf(index, active.value.row, window.value.slots)}
            grid={grid}
            index={index}
            y={HEAD_HEIGHT + window.value.top + (index - window.value.first) * grid.rowHeight}
            row={rows.at(index)}
            from={window.value.firstColumn}
            end={window.value.endColumn}
            active={index === active.value.row ? active.value.column : null}
            editing={index === editing.value?.row ? editing.value : null}
            changes={changesOf(module, rows, index)}
            selected={selection.has(rows.at(index))}
          />
        ))}
      </div>
    </div>
  );
}

/**
 * The elements of a row that scrolls out of sight are used again for one that appears. The active
 * row keeps its elements, because one of them has the focus.
 */
function keyOf(index: number, active: number, slots: number): string {
  const slot = index % slots;
  return index !== active && active >= 0 && slot === active % slots ? 'beside' : `row${slot}`;
}

const px = (pixels: number) => `${pixels}px`;

/**
 * Whether the active cell is in a column that is drawn; if not, the grid takes the focus for it.
 */
function isActiveDrawn({ active, window }: GridState): boolean {
  const { column } = active.value;
  const { firstColumn, endColumn } = window.value;
  return column === CHECK || (column >= firstColumn && column < endColumn);
}

/** The rows of the window, and the active one, which keeps the focus while it is out of sight. */
function drawn({ window, active, count }: GridState): number[] {
  const { first, end } = window.value;
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  const { row } = active.value;
  if (row < 0 || row >= count || (row >= first && row < end)) return rows;
  return row < first ? [row, ...rows] : [...rows, row];
}

function changesOf({ path }: Module, rows: RowStore, index: number) {
  const id = rows.at(index)?.['id'];
  return staged.value.size === 0 ? undefined : staged.value.get(`${path}/${String(id)}`);
}

/**
 * The grid is laid out anew when what is above it, the window of the browser or the density
 * changes.
 */
function watchSize(grid: GridState): () => void {
  const fill = () => grid.fill();
  const watcher = new ResizeObserver(fill);
  if (grid.element) watcher.observe(grid.element);
  const around = grid.element?.closest('.rows');
  if (around) watcher.observe(around);
  const density = new MutationObserver(fill);
  density.observe(document.documentElement, { attributeFilter: ['data-density'] });
  addEventListener('resize', fill);
  return () => {
    watcher.disconnect();
    density.disconnect();
    removeEventListener('resize', fill);
  };
}

let planned = 0;

/** Computes the visible part at most once per frame. */
function onScroll(grid: GridState): void {
  cancelAnimationFrame(planned);
  planned = requestAnimationFrame(() => grid.measure());
}

const cellAt = (grid: GridState, row: number, column: number) =>
  grid.element?.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`);

/** Gives the focus to the active cell after it was moved by keys. */
function focusActive(grid: GridState): void {
  if (!grid.focusing || grid.editing.peek()) return;
  const { row, column } = grid.active.peek();
  const cell = cellAt(grid, row, column);
  if (!cell) return;
  grid.focusing = false;
  cell.focus({ preventScroll: true });
}

function placeOf(target: Element): { row: number; column: number } | undefined {
  const cell = target.closest<HTMLElement>('[data-column]');
  const { row, column } = cell?.dataset ?? {};
  return row === undefined ? undefined : { row: Number(row), column: Number(column) };
}

/** Makes a cell active that got the focus in another way, as by a click. */
function noteFocus(grid: GridState, target: Element): void {
  if (target === grid.element && !isActiveDrawn(grid)) return grid.go(grid.active.peek());
  const place = placeOf(target);
  const { row, column } = grid.active.peek();
  if (!place || grid.editing.peek() || (place.row === row && place.column === column)) return;
  grid.focusing = true;
  grid.active.value = place;
}

function editAt(grid: GridState, target: Element): void {
  const place = placeOf(target);
  if (place && place.row > HEAD && place.column > CHECK && !target.closest('a, .cell-editor'))
    grid.edit(place);
}

function onClick(
  event: MouseEvent,
  { select, sort }: { select(row: number, through: boolean): void; sort(column: number): void },
): void {
  const target = event.target as Element;
  const place = placeOf(target);
  if (!place || target.closest('.cell-editor')) return;
  if (place.row === HEAD && place.column > CHECK) return sort(place.column);
  if (place.row > HEAD && target.matches('input[type="checkbox"]'))
    select(place.row, event.shiftKey);
}

const NEXT = { none: 'ascending', ascending: 'descending', descending: 'none' } as const;

function sortOf({ name }: Column): keyof typeof NEXT {
  if (query.value.get('sort') !== name) return 'none';
  return query.value.get('order') === 'desc' ? 'descending' : 'ascending';
}

function turnSort(column: Column | undefined): void {
  if (!column?.sortable) return;
  const next = NEXT[sortOf(column)];
  setQuery({
    sort: next === 'none' ? null : column.name,
    order: next === 'none' ? null : next === 'descending' ? 'desc' : 'asc',
    page: null,
  });
}

function Head({ grid, selection }: { grid: GridState; selection: Selection }) {
  const { columns, module, edges, window } = grid;
  const { firstColumn, endColumn } = window.value;
  const { row, column: at } = grid.active.value;
  const tabIndex = (index: number) => (row === HEAD && at === index ? 0 : -1);
  return (
    <div role="row" class="grid-head" aria-rowindex={1}>
      {module.remove && (
        <div
          role="columnheader"
          aria-colindex={1}
          class="check"
          data-row={HEAD}
          data-column={CHECK}
          tabIndex={tabIndex(CHECK)}
        >
          <span class="hidden-text">{t('Select')}</span>
          {selection.size > 0 && <span aria-hidden="true">{selection.size}</span>}
        </div>
      )}
      <span class="gap" style={{ width: px(edges[firstColumn] ?? 0) }} />
      {columns.slice(firstColumn, endColumn).map((column, offset) => {
        const index = firstColumn + offset;
        const sorted = sortOf(column);
        return (
          <div
            key={column.name}
            role="columnheader"
            class={column.sortable ? 'sortable' : undefined}
            aria-colindex={index + 1 + (module.remove ? 1 : 0)}
            aria-sort={column.sortable ? sorted : undefined}
            style={{ width: grid.widthOf(index) }}
            {...(!column.sortable && { tabIndex: tabIndex(index) })}
            data-row={HEAD}
            data-column={index}
          >
            {column.sortable ? (
              <button type="button" tabIndex={tabIndex(index)} data-row={HEAD} data-column={index}>
                {column.name}
                <span class={`arrow ${sorted}`} aria-hidden="true" />
              </button>
            ) : (
              column.name
            )}
          </div>
        );
      })}
    </div>
  );
}
