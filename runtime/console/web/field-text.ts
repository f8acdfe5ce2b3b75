import type { InputField } from './rest-modules.ts';

/** The value of a row as text in a control. */
export function textOf({ kind }: InputField, value: unknown): string {
  if (value === null || value === undefined) return '';
  return kind === 'json' ? JSON.stringify(value) : String(value);
}

/**
 * The value that a text in a control stands for. Numbers beyond what JavaScript holds exactly stay
 * text, and the server reads them.
 *
 * @throws SyntaxError when it is no JSON
 */
export function valueOf({ kind, nullable }: InputField, text: string): unknown {
  if (text === '' && kind !== 'text') return nullable ? null : undefined;
  if (kind === 'json') return JSON.parse(text);
  if (kind === 'boolean') return text === 'true';
  if (kind !== 'integer' && kind !== 'number') return text;
  const number = Number(text);
  return String(number) === text ? number : text;
}
