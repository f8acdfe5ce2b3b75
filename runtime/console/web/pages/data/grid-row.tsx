import { Component } from 'preact';
import { t } from '../../messages.ts';
import type { Column } from '../../rest-modules.ts';
import { CellEditor } from './cell-editor.tsx';
import { CHECK, type Editing, type GridState } from './grid-state.ts';
import type { Row, StagedRow } from './staged.ts';
import { classOf, Value } from './value.tsx';
import { labelOfKey, relatedAddress, rowAddress } from './view.ts';

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
          <Cell key={column.name} {...props} column={column} at={from + offset} />
        ))}
      </div>
    );
  }
}

interface CellProps extends GridRowProps {
  readonly column: Column;
  readonly at: number;
}

function Cell({ column, at, grid, index, row, active, editing, changes }: CellProps) {
  const change = changes && column.name in changes.changes ? changes : null;
  const value = (change?.changes ?? row)?.[column.name];
  const field = grid.fieldAt({ row: index, column: at });
  const edited = row && field && editing?.column === at && { field, row, place: editing };
  const state = [classOf(column), change && 'changed', edited && 'editing'].filter(Boolean);
  return (
    <div
      role="gridcell"
      class={state.join(' ')}
      aria-colindex={at + 1 + (grid.module.remove ? 1 : 0)}
      aria-readonly={!field}
      aria-invalid={change?.error != null}
      {...(!edited && { tabIndex: active === at ? 0 : -1 })}
      data-row={index}
      data-column={at}
      style={{ width: grid.widthOf(at) }}
    >
      {edited && <CellEditor {...{ grid, value, ...edited }} />}
      {row && !edited && <Shown {...{ grid, column, row, value }} />}
    </div>
  );
}

interface ShownProps {
  readonly grid: GridState;
  readonly column: Column;
  readonly row: Row;
  readonly value: unknown;
}

/** The key of a row and of a related row are links. */
function Shown({ grid, column: { name, keyOf }, row, value }: ShownProps) {
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
