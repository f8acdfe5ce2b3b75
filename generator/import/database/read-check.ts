/** A check that the schema can express: the values of an enum, or bounds for `@constraint`. */
export interface PlainCheck {
  readonly column: string;
  readonly values?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

const CASTS = /::(?:"[^"]*"|[a-z_][\w.]*)(?: varying| precision)?(?:\(\d+(?:,\d+)?\))?(?:\[\])?/gi;

/** Reads a check of one column; undefined for one that is not plain. */
export function readCheck(expression: string): PlainCheck | undefined {
  const text = simplified(expression);
  const listed = /^("?)([^"()=<>]+?)\1 (?:= any \(*array\[(.*)\]\)*|in \((.*)\))$/i.exec(text);
  if (listed) return valuesOf(listed[2]!, listed[3] ?? listed[4] ?? '');
  const between = /^(.+?) between (-?[\d.]+) and (-?[\d.]+)$/i.exec(text);
  if (between)
    return joined([
      bound(`${between[1]} >= ${between[2]}`),
      bound(`${between[1]} <= ${between[3]}`),
    ]);
  return joined(text.split(/ and /i).map(bound));
}

/** Without casts, and without the parentheses that PostgreSQL adds. */
function simplified(expression: string): string {
  let text = expression.replace(CASTS, '').replace(/\s+/g, ' ').trim();
  for (let before = ''; before !== text;) {
    before = text;
    text = text
      .replace(/(^|[^\w"])\(("?[\w.-]+"?)\)/g, '$1$2')
      .replace(/^\((.*)\)$/, (all, inner: string) => (isBalanced(inner) ? inner : all))
      .replace(/\(([^()]+ (?:<=|>=|<|>) [^()]+)\)/g, '$1');
  }
  return text;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

function valuesOf(column: string, list: string): PlainCheck | undefined {
  const values = [...list.matchAll(/'((?:[^']|'')*)'/g)].map(([, value]) =>
    value!.replaceAll("''", "'"),
  );
  const whole = list.replace(/'(?:[^']|'')*'/g, '').replace(/[\s,()]/g, '');
  return values.length > 0 && whole === '' ? { column: unquoted(column), values } : undefined;
}

const unquoted = (name: string) => name.trim().replace(/^["`[]|["`\]]$/g, '');

function bound(text: string): PlainCheck | undefined {
  const found =
    /^(?:(length|char_length|character_length)\()?("[^"]+"|`[^`]+`|\[[^\]]+\]|\w+)\)? (>=|<=) (-?\d+(?:\.\d+)?)$/i.exec(
      text.trim(),
    );
  if (!found) return undefined;
  const [, length, name, operator, limit] = found;
  const key = `${operator === '>=' ? 'min' : 'max'}${length === undefined ? '' : 'Length'}`;
  return { column: unquoted(name!), [key]: Number(limit) };
}

/** The bounds of several checks, if they are about the same column. */
function joined(parts: readonly (PlainCheck | undefined)[]): PlainCheck | undefined {
  const [first] = parts;
  if (!first || parts.some((part) => part?.column !== first.column)) return undefined;
  return Object.assign({}, ...parts) as PlainCheck;
}
