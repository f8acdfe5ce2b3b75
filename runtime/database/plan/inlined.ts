import { quotedText } from '@twofold/runtime/store';
/**
 * A statement with its parameters in their places, `?` or `$1`, for a text that somebody else runs.
 *
 * @example
 * inlined('update posts set title = ?', ["it's"]) // "update posts set title = 'it''s'"
 */
export function inlined(statement: string, parameters: readonly unknown[]): string {
  let next = 0;
  return statement.replace(
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?|\$(\d+)/g,
    (found: string, number: string | undefined) => {
      if (found === '?') return literal(parameters[next++]);
      return number === undefined ? found : literal(parameters[Number(number) - 1]);
    },
  );
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  const text = value instanceof Date ? value.toISOString() : String(value);
  return quotedText(text);
}
