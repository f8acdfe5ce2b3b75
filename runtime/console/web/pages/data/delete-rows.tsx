import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { failureText } from '../../parts/use-call.ts';
import type { Module, Reference } from '../../rest-modules.ts';
import { moduleOf } from './view.ts';
import type { Selection } from './selection.ts';
import { dropRows } from './staged.ts';

interface DeleteRowsProps {
  readonly module: Module;
  readonly selection: Selection;
  changed(): void;
}

/** The button `Delete rows`, which asks first and says which other rows would be deleted. */
export function DeleteRows({ module, selection, changed }: DeleteRowsProps) {
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    const ids = [...selection.ids.value];
    setBusy(true);
    const text = [whichRows(module, ids), ...(await whatGoesWith(module, ids))].join(' ');
    if (await confirm({ text, action: t('Delete rows') })) {
      await removeRows(module, ids, selection);
      changed();
    }
    setBusy(false);
  };
  return (
    <Button disabled={selection.size === 0 || busy} aria-busy={busy} onClick={remove}>
      {t('Delete rows')}
    </Button>
  );
}

/** Ids that a question lists. */
const NAMED = 10;

function whichRows({ type }: Module, ids: readonly string[]): string {
  const named = ids.slice(0, NAMED).join(', ');
  const more = ids.length - NAMED;
  const given = { rows: rowsText(ids.length, type), ids: named, more };
  return more > 0
    ? t('{rows} will be deleted: {ids} and {more} more.', given)
    : t('{rows} will be deleted: {ids}.', given);
}

/** A number of rows; null where it is not known. */
function rowsText(n: number | null, type: string): string {
  if (n === null) return t('All rows of {type}', { type });
  return t(n === 1 ? '1 row of {type}' : '{n} rows of {type}', { n, type });
}

/**
 * Sentences about rows of other types that refer to these. Types without such rows are left out.
 */
async function whatGoesWith(module: Module, ids: readonly string[]): Promise<string[]> {
  const sentences = module.references.map(async (reference) => {
    const n = await countReferring(reference, ids).catch(() => null);
    return n === 0 ? [] : [sentenceOf(reference, n)];
  });
  return (await Promise.all(sentences)).flat();
}

/** How many rows refer to these; null where it cannot be read. */
async function countReferring({ type, field }: Reference, ids: readonly string[]) {
  const other = moduleOf(type);
  if (!other?.columns.some(({ name, words }) => name === field && words.includes('in')))
    return null;
  const parameters = new URLSearchParams({ [`${field}_in`]: ids.join(','), limit: '1' });
  const { pagination } = await call<{ pagination: { total: number | null } }>(
    'GET',
    `${other.path}?${parameters}`,
  );
  return pagination.total;
}

function sentenceOf({ type, field, onDelete }: Reference, n: number | null): string {
  const given = { rows: rowsText(n, type), field };
  if (onDelete === 'cascade') return t('{rows} will be deleted with them ({field}).', given);
  if (onDelete === 'set null') return t('{rows} will stay with {field} set to NULL.', given);
  return t('{rows} must be deleted or changed first ({field}).', given);
}

/** Deletes the rows one by one. A row that the server refuses to delete stays selected. */
async function removeRows(
  { path }: Module,
  ids: readonly string[],
  selection: Selection,
): Promise<void> {
  const gone: string[] = [];
  const refused: string[] = [];
  for (const id of ids)
    try {
      await call('DELETE', `${path}/${encodeURIComponent(id)}`);
      gone.push(id);
    } catch (error) {
      refused.push(`${id}: ${failureText(error)}`);
    }
  dropRows(path, gone);
  selection.ids.value = new Set(ids.filter((id) => !gone.includes(id)));
  if (gone.length > 0)
    notify(t(gone.length === 1 ? '1 row deleted' : '{n} rows deleted', { n: gone.length }));
  if (refused.length > 0) notifyFailure(refused.slice(0, NAMED).join('\n'));
}
