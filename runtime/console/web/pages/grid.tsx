import { useState } from 'preact/hooks';
import { query, setQuery } from '../address.ts';
import { t } from '../messages.ts';
import { Cell } from '../parts/cell.tsx';
import { ValueControl } from '../parts/value-control.tsx';
import type { InputField, Module } from '../rest-modules.ts';
import { type Row, stage, stagedRow } from '../staged.ts';

interface GridProps {
  readonly module: Module;
  readonly rows: readonly Row[];
  readonly total: number;
  /** The number of the first row, from 0. */
  readonly first: number;
  readonly selected: ReadonlySet<string>;
  select(id: string, on: boolean): void;
}

/** The rows of a page, in a grid whose cells can be edited where the API takes changes. */
export function Grid({ module, rows, total, first, selected, select }: GridProps) {
  return (
    <div class="scroll">
      <table role="grid" aria-label={module.type} aria-rowcount={total + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {module.remove && <td />}
            {module.fields.map((field) => (
              <Header key={field} field={field} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <GridRow
              key={String(row['id'])}
              module={module}
              row={row}
              index={first + index + 2}
              selected={selected.has(String(row['id']))}
              select={select}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface GridRowProps {
  readonly module: Module;
  readonly row: Row;
  readonly index: number;
  readonly selected: boolean;
  select(id: string, on: boolean): void;
}

function GridRow({ module, row, index, selected, select }: GridRowProps) {
  const id = String(row['id']);
  const changes = stagedRow(module.plural, id);
  return (
    <tr aria-rowindex={index} class={changes?.error ? 'refused' : ''}>
      {module.remove && (
        <td>
          <input
            type="checkbox"
            aria-label={t('Select row {id}', { id })}
            checked={selected}
            onChange={(event) => select(id, event.currentTarget.checked)}
          />
        </td>
      )}
      {module.fields.map((name) => {
        if (name === 'id') return <RowLink key={name} id={id} error={changes?.error ?? null} />;
        const field = module.update.find((each) => each.name === name);
        const value = changes && name in changes.changes ? changes.changes[name] : row[name];
        return field && row[name] !== undefined ? (
          <EditableCell
            key={name}
            plural={module.plural}
            id={id}
            field={field}
            value={value}
            changed={changes !== undefined && name in changes.changes}
          />
        ) : (
          <td key={name} tabIndex={-1}>
            <Cell value={value} />
          </td>
        );
      })}
    </tr>
  );
}

function RowLink({ id, error }: { id: string; error: string | null }) {
  const to = new URLSearchParams(query.value);
  to.set('row', id);
  return (
    <td>
      <a href={`?${to}`}>{id}</a>
      {error !== null && (
        <span role="alert" class="cell-error">
          {error}
        </span>
      )}
    </td>
  );
}

interface EditableCellProps {
  readonly plural: string;
  readonly id: string;
  readonly field: InputField;
  readonly value: unknown;
  readonly changed: boolean;
}

/** Enter, F2 or a double click edits; Enter notes the change, Escape drops it. */
function EditableCell({ plural, id, field, value, changed }: EditableCellProps) {
  const [editing, setEditing] = useState(false);
  if (editing)
    return (
      <td class="editing">
        <ValueControl
          field={field}
          value={value}
          done={(next) => {
            setEditing(false);
            if (next !== undefined) void stage(plural, id, field.name, next.value);
          }}
        />
      </td>
    );
  return (
    <td
      tabIndex={0}
      class={changed ? 'changed' : ''}
      onDblClick={() => setEditing(true)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'F2') return;
        event.preventDefault();
        setEditing(true);
      }}
    >
      <Cell value={value} />
    </td>
  );
}

const NEXT = { none: 'ascending', ascending: 'descending', descending: 'none' } as const;

function Header({ field }: { field: string }) {
  const sorted = query.value.get('sort') === field;
  const descending = query.value.get('order') === 'desc';
  const now = sorted ? (descending ? 'descending' : 'ascending') : 'none';
  const turn = () => {
    const next = NEXT[now];
    setQuery({
      sort: next === 'none' ? null : field,
      order: next === 'none' ? null : next === 'descending' ? 'desc' : 'asc',
      page: null,
    });
  };
  return (
    <th aria-sort={now} scope="col">
      <button type="button" onClick={turn}>
        {field}
        <span aria-hidden="true">{{ none: '', ascending: ' ↑', descending: ' ↓' }[now]}</span>
      </button>
    </th>
  );
}
