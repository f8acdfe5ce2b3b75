import type { FieldType } from '../../rest-modules.ts';

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
