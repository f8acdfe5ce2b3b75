/** Words that begin a line, at the depth of their parentheses. */
const BREAKS =
  /^(?:select|from|where|order|group|having|limit|union|left|inner|cross|join|values|set|returning|on conflict|insert|update|delete|with)$/i;

/** Characters up to which parentheses stay on one line. */
const SHORT = 60;

/**
 * Breaks a statement into lines: at its clauses, and inside of long parentheses. It changes white
 * space alone.
 *
 * @example sqlLines('select 1 from posts where id = ?') // 'select 1\nfrom posts\nwhere id = ?'
 */
export function sqlLines(sql: string): string {
  const tokens = sql.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|\s+|[^\s()'"]+/g) ?? [];
  const closes = matches(tokens);
  const open: boolean[] = [];
  let text = '';
  let skipTo = -1;
  const newLine = () => `\n${'  '.repeat(open.filter(Boolean).length)}`;
  tokens.forEach((token, index) => {
    if (index <= skipTo) return void (text += token);
    if (token === '(') {
      const end = closes.get(index) ?? index;
      const inner = tokens.slice(index, end + 1).join('');
      if (inner.length <= SHORT || !/\bselect\b/i.test(inner)) {
        text += token;
        if (inner.length <= SHORT) skipTo = end;
        else open.push(false);
        return;
      }
      text += token;
      open.push(true);
      text += newLine();
      return;
    }
    if (token === ')') {
      const broken = open.pop();
      text = broken ? text.trimEnd() + newLine() + token : text + token;
      return;
    }
    const breaks =
      BREAKS.test(token) && open.at(-1) !== false && !/(?:[(\n]|left|inner|cross)\s*$/i.test(text);
    text = breaks && text !== '' ? text.trimEnd() + newLine() + token : text + token;
  });
  return text;
}

/** The index of the closing parenthesis of each opening one. */
function matches(tokens: readonly string[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, index) => {
    if (token === '(') open.push(index);
    else if (token === ')') found.set(open.pop() ?? -1, index);
  });
  return found;
}

/** The beginning of a JSON text, over several lines. */
interface JsonLines {
  readonly text: string;
  /** Whether the whole text is there. */
  readonly whole: boolean;
}

/**
 * Lays out the beginning of a JSON text. Its characters stay as they are, so that no number is
 * rounded, and what is beyond `most` characters costs nothing.
 *
 * @example jsonLines('{"a":[1,2]}', 1000).text // '{\n  "a": [\n    1,\n    2\n  ]\n}'
 */
export function jsonLines(json: string, most: number): JsonLines {
  let [text, depth, at] = ['', 0, 0];
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const token of tokens(json)) {
    if (text.length > most) return { text: text.slice(0, most), whole: false };
    at += 1;
    if (token === '{' || token === '[') {
      depth += 1;
      text += token + newLine();
    } else if (token === '}' || token === ']') {
      depth -= 1;
      text = /[{[]\s*$/.test(text.slice(-200)) ? text.trimEnd() + token : text + newLine() + token;
    } else if (token === ',') text += token + newLine();
    else text += token === ':' ? ': ' : token;
  }
  return text.length > most ? { text: text.slice(0, most), whole: false } : { text, whole: at > 0 };
}

/** Strings, punctuation, and the rest. A string that does not end is taken as it is. */
function* tokens(json: string): Generator<string> {
  const next = /"(?:[^"\\]|\\[^])*"?|[{}[\],:]|[^\s"{}[\],:]+/g;
  for (let found = next.exec(json); found; found = next.exec(json)) yield found[0];
}
