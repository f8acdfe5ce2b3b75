import { useState } from 'preact/hooks';
import { query } from '../../address.ts';
import { callForText } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { saveFile } from '../../parts/save-file.ts';
import { useMenu } from '../../parts/use-menu.ts';
import type { Module } from '../../rest-modules.ts';
import type { RowStore } from './row-store.ts';
import { exportParameters, shownColumns } from './view.ts';

const TYPES = { CSV: 'text/csv', JSON: 'application/x-ndjson' } as const;

/** The button `Export`: every row that the filters find, as a file. */
export function ExportButton({ module, rows }: { module: Module; rows: RowStore }) {
  const { open, setOpen, close, root, button, onKeyDown } = useMenu();
  const [busy, setBusy] = useState(false);
  const take = async (kind: keyof typeof TYPES) => {
    close();
    setBusy(true);
    try {
      await exportRows(
        module,
        kind,
        exportParameters(shownColumns(module, query.value.get('fields')), rows.at(0)),
      );
      notify(t('{type} exported as {kind}', { type: module.type, kind }));
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  return (
    <div class="account" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-busy={busy}
        disabled={busy}
        onClick={() => setOpen(!open)}
      >
        {t('Export')}
      </button>
      {open && (
        <div class="menu" role="menu" aria-label={t('Export')}>
          {(['CSV', 'JSON'] as const).map((kind) => (
            <Button key={kind} role="menuitem" onClick={() => take(kind)}>
              {t(kind)}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

/** A stream that was cut short is an error, and makes no file. */
async function exportRows(
  module: Module,
  kind: keyof typeof TYPES,
  parameters: URLSearchParams,
): Promise<void> {
  const text = await callForText(`${module.path}?${parameters}`, TYPES[kind]);
  if (kind === 'CSV') saveFile(`${module.plural}.csv`, 'text/csv', [text]);
  else saveFile(`${module.plural}.json`, 'application/json', arrayOf(text));
}

/** A line for each row becomes a list of rows. */
const arrayOf = (lines: string): string[] => [
  '[\n',
  lines.trimEnd().replaceAll('\n', ',\n'),
  '\n]\n',
];
