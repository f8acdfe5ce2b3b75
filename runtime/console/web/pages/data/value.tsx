import { t } from '../../messages.ts';
import type { Column } from '../../rest-modules.ts';

/** Characters of a value that a cell shows; the row beside the grid has all. */
const SHOWN = 200;

/** A value of a row as text. Null, an empty text and what may not be read look different. */
export function Value({ value, whole = false }: { value: unknown; whole?: boolean }) {
  if (value === undefined) return <i class="no-access">{t('no access')}</i>;
  if (value === null) return <i class="null">NULL</i>;
  if (typeof value === 'object')
    return <code>{whole ? JSON.stringify(value, null, 2) : cut(JSON.stringify(value))}</code>;
  return <>{whole ? String(value) : cut(String(value))}</>;
}

const cut = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** The class of a column, for its alignment and font. */
export const classOf = ({ kind, keyOf }: Column): string =>
  !keyOf && (kind === 'integer' || kind === 'number') ? 'digits' : '';
