import { Component } from 'preact';
import { t } from '../../messages.ts';
import { CellEditor } from './cell-editor.tsx';
import { CHECK, type Editing, type GridState } from './grid-state.ts';
import type { Row, StagedRow } from './staged.ts';
import { classOf, Value } from './value.tsx';
import { labelOfKey, relatedAddress } from './related.ts';
import { rowAddress } from './view.ts';

interface GridRowProps {
  readonly grid: GridState;
  readonly index: number;
  /** Pixels from the top. */
  readonly y: number;
  /** Undefined until the row was read. */
  readonly row: Row | undefined;
  /** The columns that are drawn. */
  readonly from: number;
  readonly end: number;
  /** The column of the active cell, when it is in this row. */
  readonly active: number | null;
  readonly editing: Editing | null;
  readonly changes: StagedRow | undefined;
  readonly selected: boolean;
}

/** A row of the grid. It is drawn again only when something of it changed. */
export class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const last = this.props;
    return (Object.keys(next) as (keyof GridRowProps)[]).some((name) => next[name] !== last[name]);
  }

  override render(props: GridRowProps) {
    const { grid, index, y, row, from, end, active, editing, changes, selected } = props;
    const { edges, columns, module } = grid;
    const state = [
      editing && 'edited',
      changes?.error && 'refused',
      selected && 'selected',
      !row && 'waiting',
    ];
    return (
      <div
        role="row"
        class={['grid-row', ...state].filter(Boolean).join(' ')}
        aria-rowindex={index + 2}
        aria-selected={module.remove ? selected : undefined}
        style={{ transform: `translateY(${y}px)` }}
      >
        {module.remove && <Check index={index} row={row} active={active} selected={selected} />}
        <span class="gap" style={{ width: `${edges[from] ?? 0}px` }} />
        {columns.slice(from, end).map((column, offset) => (
          <this.Cell key={column.name} at={from + offset} />
        ))}
      </div>
    );
  }

  Cell = ({ at }: { readonly at: number }) => {
    const { grid, index, row, active, editing, changes } = this.props;
    const column = grid.columns[at]!;
    const changed = changes !== undefined && column.name in changes.changes;
    const value = changed ? changes.changes[column.name] : row?.[column.name];
    const isEdited = editing?.column === at && row !== undefined;
    const field = row?.[column.name] === undefined ? undefined : grid.fields[at];
    const state = [classOf(column), changed && 'changed', isEdited && 'editing'];
    return (
      <div
        role="gridcell"
        class={state.filter(Boolean).join(' ') || undefined}
        aria-colindex={at + 1 + (grid.module.remove ? 1 : 0)}
        aria-readonly={field ? undefined : true}
        aria-invalid={changed && changes.error !== null ? true : undefined}
        tabIndex={isEdited ? undefined : active === at ? 0 : -1}
        data-row={index}
        data-column={at}
        style={{ width: `${grid.edges[at + 1]! - grid.edges[at]!}px` }}
      >
        {isEdited && field ? (
          <CellEditor grid={grid} field={field} row={row} value={value} typed={editing.typed} />
        ) : (
          row && <Shown grid={grid} at={at} row={row} value={value} />
        )}
      </div>
    );
  };
}

interface ShownProps {
  readonly grid: GridState;
  readonly at: number;
  readonly row: Row;
  readonly value: unknown;
}

/** The key of a row and of a related row are links. */
function Shown({ grid, at, row, value }: ShownProps) {
  const { name, keyOf } = grid.columns[at]!;
  if (value === null || value === undefined) return <Value value={value} />;
  if (name === 'id')
    return grid.module.readable ? (
      <a tabIndex={-1} href={rowAddress(String(value))}>
        {String(value)}
      </a>
    ) : (
      <>{String(value)}</>
    );
  if (!keyOf) return <Value value={value} />;
  const address = relatedAddress(keyOf, String(value));
  const label = value === row[name] ? labelOfKey(keyOf, row) : null;
  return (
    <>
      {address === null ? (
        String(value)
      ) : (
        <a tabIndex={-1} href={address}>
          {String(value)}
        </a>
      )}
      {label !== null && <span class="label">{label}</span>}
    </>
  );
}

interface CheckProps {
  readonly index: number;
  readonly row: Row | undefined;
  readonly active: number | null;
  readonly selected: boolean;
}

function Check({ index, row, active, selected }: CheckProps) {
  const isActive = active === CHECK;
  return (
    <div role="gridcell" class="check" aria-colindex={1}>
      {row && (
        <input
          type="checkbox"
          tabIndex={isActive ? 0 : -1}
          data-row={index}
          data-column={CHECK}
          aria-label={t('Select row {id}', { id: String(row['id']) })}
          checked={selected}
        />
      )}
    </div>
  );
}
