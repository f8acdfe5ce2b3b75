import { useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { notify } from '../../parts/notices.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import type { Module } from '../../rest-modules.ts';
import { ColumnsButton } from './columns.tsx';
import { DeleteRows } from './delete-rows.tsx';
import { ExportButton } from './export.tsx';
import { FilterButton } from './filter.tsx';
import type { RowStore } from './row-store.ts';
import type { Selection } from './selection.ts';
import {
  discardChanges,
  type Row,
  saveChanges,
  staged,
  unsaved,
  decideLater,
  keepMine,
  type StagedRow,
  takeTheirs,
} from './staged.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Value } from './value.tsx';
import { NewRow } from './new-row.tsx';

export interface ToolsProps {
  readonly module: Module;
  readonly rows: RowStore;
  readonly selection: Selection;
}

/** Saves all rows, shows their new values, and reads dependent data again. */
export async function saveAll({
  module,
  rows,
}: Pick<ToolsProps, 'module' | 'rows'>): Promise<void> {
  const before = unsaved.value;
  if (before === 0) return;
  await saveChanges((path, row) => path === module.path && rows.replace(row));
  const saved = before - unsaved.value;
  if (saved > 0) notify(t(saved === 1 ? '1 change saved' : '{n} changes saved', { n: saved }));
  if (saved > 0) rows.reload();
}

/** The buttons of the rows. A button is left out if the API does not have its call. */
export function Tools({ module, rows, selection }: ToolsProps) {
  const [making, setMaking] = useState(false);
  const meanwhile = [...staged.value.values()].find(
    ({ theirs, postponed }) => theirs !== null && !postponed,
  );
  const saved = (path: string, row: Row) => {
    if (path === module.path) rows.replace(row);
  };
  return (
    <div class="tools">
      {module.searched && <SearchBox label={t('Search rows')} parameter="search" />}
      <FilterButton module={module} />
      <ColumnsButton module={module} />
      {module.create && <Button onClick={() => setMaking(true)}>{t('New row')}</Button>}
      <ExportButton module={module} rows={rows} />
      {module.remove && (
        <DeleteRows module={module} selection={selection} changed={() => rows.reload()} />
      )}
      <SaveTools module={module} rows={rows} />
      {making && module.create && (
        <NewRow
          module={module}
          fields={module.create}
          close={() => setMaking(false)}
          saved={() => rows.reload()}
        />
      )}
      {meanwhile && (
        <ChangedMeanwhile
          key={`${meanwhile.path}/${meanwhile.id}`}
          row={meanwhile}
          saved={saved}
          done={() => rows.reload()}
        />
      )}
    </div>
  );
}

function SaveTools({ module, rows }: Pick<ToolsProps, 'module' | 'rows'>) {
  const [saving, setSaving] = useState(false);
  const n = unsaved.value;
  if (module.update.length === 0 && n === 0) return null;
  const save = async () => {
    setSaving(true);
    await saveAll({ module, rows });
    setSaving(false);
  };
  return (
    <div class="save-tools">
      <span role="status" class="unsaved">
        {n === 0 ? '' : t(n === 1 ? '1 unsaved change' : '{n} unsaved changes', { n })}
      </span>
      <Button disabled={n === 0 || saving} onClick={discard}>
        {t('Discard changes')}
      </Button>
      <Button
        class="main"
        aria-keyshortcuts="Control+S"
        aria-busy={saving}
        disabled={n === 0 || saving}
        onClick={save}
      >
        {t('Save changes')}
      </Button>
    </div>
  );
}

async function discard(): Promise<void> {
  const [n, rows] = [unsaved.value, staged.value.size];
  const text = t('{changes} of {rows} will be lost.', {
    changes: t(n === 1 ? '1 unsaved change' : '{n} unsaved changes', { n }),
    rows: t(rows === 1 ? '1 row' : '{n} rows', { n: rows }),
  });
  if (await confirm({ text, action: t('Discard changes') })) discardChanges();
}

/** The rows that the server refused to save, each with the server's message. */
export function Refusals({ module }: Pick<ToolsProps, 'module'>) {
  const refused = [...staged.value.values()].filter(({ error }) => error !== null);
  if (refused.length === 0) return null;
  return (
    <div class="refusals" role="alert">
      {refused.map(({ path, type, id, error }) => (
        <p key={`${path}/${id}`}>
          {path === module.path
            ? t('Row {id} is not saved: {error}', { id, error: error ?? '' })
            : t('Row {id} of {type} is not saved: {error}', { id, type, error: error ?? '' })}
        </p>
      ))}
    </div>
  );
}

interface ChangedMeanwhileProps {
  readonly row: StagedRow;
  saved(path: string, row: Row): void;
  done(): void;
}

/** The dialog `Changed meanwhile`: the values of another user beside those of this user. */
function ChangedMeanwhile({ row, saved, done }: ChangedMeanwhileProps) {
  const take = () => {
    takeTheirs(row);
    done();
  };
  const keep = async () => {
    await keepMine(row, saved);
    done();
  };
  return (
    <Dialog title={t('Changed meanwhile')} close={() => decideLater(row)} size="wide">
      <p>
        {t('Row {id} of {type} was changed since you read it.', { id: row.id, type: row.type })}
      </p>
      <div class="scroll" role="region" aria-label={t('Both versions')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {[t('Field'), t('Before'), t('Theirs'), t('Yours')].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.entries(row.changes).map(([name, mine]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {[row.base[name], row.theirs?.[name], mine].map((value, index) => (
                  <td key={index}>
                    <Value value={value} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="buttons end">
        <Button onClick={take}>{t('Take theirs')}</Button>
        <Button class="main" onClick={keep}>
          {t('Keep mine')}
        </Button>
      </div>
    </Dialog>
  );
}
