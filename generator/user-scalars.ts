import type { ColumnType } from '@twofold/schema';

/** `type` of a mapping → the stored type. */
const STORED: Readonly<Record<string, ColumnType>> = {
  text: 'text',
  integer: 'integer',
  real: 'real',
  json: 'json',
  timestamp: 'timestamp',
};

/**
 * How the scalars of `src/scalars.ts` are stored, read from its text without running it.
 *
 * @returns null when the text is not a plain object literal (it has a spread or an imported
 * mapping): then it is unknown which scalars are missing.
 */
export function readUserScalars(text: string | null): Readonly<Record<string, ColumnType>> | null {
  if (text === null) return {};
  const plain = blankComments(text);
  const start = /export\s+const\s+scalars\b[^=]*=\s*\{/.exec(plain);
  if (!start) return null;
  const found: Record<string, ColumnType> = {};
  let at = start.index + start[0].length;
  for (;;) {
    const entry = /^[\s,]*(?:['"]?(\w+)['"]?\s*:\s*\{|\})/.exec(plain.slice(at));
    if (!entry) return null;
    if (entry[1] === undefined) return found;
    const open = at + entry[0].length;
    const end = closingBrace(plain, open);
    const type = /(?:^|[,{\s])type\s*:\s*['"](\w+)['"]/.exec(plain.slice(open, end))?.[1];
    found[entry[1]] = STORED[type ?? 'text'] ?? 'text';
    at = end + 1;
  }
}

/** Replaces comments by blanks, so that positions stay the same. */
function blankComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|(?<![:'"\w])\/\/[^\n]*/g, (comment) =>
    comment.replace(/[^\n]/g, ' '),
  );
}

/** The position where the brace that is open before `at` closes; braces in strings do not count. */
function closingBrace(text: string, at: number): number {
  let depth = 1;
  for (let index = at; index < text.length; index++) {
    const character = text[index]!;
    if (character === '"' || character === "'" || character === '`') index = endOfText(text, index);
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return index;
  }
  return text.length;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[start]) return at;
  }
  return text.length;
}
