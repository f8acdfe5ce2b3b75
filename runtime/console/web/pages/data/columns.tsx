import { useState } from 'preact/hooks';
import { query, setQuery } from '../../address.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { Column, Module } from '../../rest-modules.ts';
import { shownColumns } from './view.ts';

/** The button `Columns`: which columns are shown, and in which order. The address contains them. */
export function ColumnsButton({ module }: { module: Module }) {
  const [open, setOpen] = useState(false);
  const fields = query.value.get('fields');
  const hidden = module.columns.length - shownColumns(module, fields).length;
  return (
    <>
      <Button aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('Columns')}
        {hidden > 0 && (
          <span class="count" aria-hidden="true">
            −{hidden}
          </span>
        )}
      </Button>
      {open && <ColumnsDialog module={module} close={() => setOpen(false)} />}
    </>
  );
}

function ColumnsDialog({ module, close }: { module: Module; close: () => void }) {
  const shown = shownColumns(module, query.value.get('fields'));
  const [order, setOrder] = useState<readonly Column[]>([
    ...shown,
    ...module.columns.filter((column) => !shown.includes(column)),
  ]);
  const put = (columns: readonly Column[], names: ReadonlySet<string>) => {
    setOrder(columns);
    const next = columns.filter(({ name }) => names.has(name)).map(({ name }) => name);
    const isAll = next.join() === module.columns.map(({ name }) => name).join();
    if (next.length > 0) setQuery({ fields: isAll ? null : next.join(',') }, { replace: true });
  };
  const names = new Set(shown.map(({ name }) => name));
  const turn = (name: string) => {
    const next = new Set(names);
    if (!next.delete(name)) next.add(name);
    put(order, next);
  };
  const move = (at: number, by: number) => {
    const next = [...order];
    next.splice(at + by, 0, ...next.splice(at, 1));
    put(next, names);
  };
  return (
    <Dialog title={t('Columns')} close={close}>
      <ul class="column-list">
        {order.map(({ name }, index) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked={names.has(name)}
                disabled={names.size === 1 && names.has(name)}
                onChange={() => turn(name)}
              />
              {name}
            </label>
            <Arrows name={name} at={index} of={order.length} move={move} />
          </li>
        ))}
      </ul>
      <div class="buttons end">
        <Button
          onClick={() => put(module.columns, new Set(module.columns.map(({ name }) => name)))}
        >
          {t('Show all')}
        </Button>
        <Button class="main" onClick={close}>
          {t('Done')}
        </Button>
      </div>
    </Dialog>
  );
}

interface ArrowsProps {
  readonly name: string;
  readonly at: number;
  readonly of: number;
  move(at: number, by: number): void;
}

const Arrows = ({ name, at, of, move }: ArrowsProps) => (
  <>
    <Button
      class="icon"
      aria-label={t('Move {name} up', { name })}
      disabled={at === 0}
      onClick={() => move(at, -1)}
    >
      <span aria-hidden="true">↑</span>
    </Button>
    <Button
      class="icon"
      aria-label={t('Move {name} down', { name })}
      disabled={at === of - 1}
      onClick={() => move(at, 1)}
    >
      <span aria-hidden="true">↓</span>
    </Button>
  </>
);
