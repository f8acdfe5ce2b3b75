import { t } from '../../messages.ts';
import type { Column, FieldType } from '../../rest-modules.ts';

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

type Kind = Pick<FieldType, 'kind' | 'nullable'>;

/** The value of a row as text in a control. */
export function textOf({ kind }: Kind, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (kind === 'json') return JSON.stringify(value, null, 2);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * The value that a text in a control stands for. Numbers beyond what JavaScript holds exactly stay
 * text, and the server reads them.
 *
 * @throws SyntaxError when it is no JSON
 */
export function valueOf({ kind, nullable }: Kind, text: string): unknown {
  if (text === '' && kind !== 'text') return nullable ? null : undefined;
  if (kind === 'json') return JSON.parse(text);
  if (kind === 'boolean') return text === 'true';
  if (kind === 'timestamp') return new Date(`${text}Z`).toISOString();
  if (kind !== 'integer' && kind !== 'number') return text;
  const number = Number(text);
  return String(number) === text && (kind === 'number' || Number.isSafeInteger(number))
    ? number
    : text;
}

/** Whether two values of a row are the same. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);
