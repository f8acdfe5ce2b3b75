/** One step of a pattern. */
export interface Token {
  /** Whether it matches this character (one code point). */
  readonly takes: (char: string) => boolean;
  /** Whether it may match any number of characters. */
  readonly repeats: boolean;
  /** The distances to the tokens that may follow without matching a character. */
  readonly skips: readonly number[];
}

const notSlash = (char: string) => char !== '/';
const anything = () => true;
const nothing = () => false;

export const SLASH: Token = literal('/');
/** Matches all paths below a matching folder. */
export const BELOW: Token = { takes: anything, repeats: true, skips: [] };
const REST: Token = { takes: anything, repeats: true, skips: [1] };
/** Matches any number of folders, each with its slash: `(.*\/)?`. */
const FOLDERS: readonly Token[] = [{ takes: nothing, repeats: false, skips: [1, 3] }, REST, SLASH];

/**
 * Parses a pattern of a `.dockerignore` into tokens, as moby/patternmatcher does: `*` and `?` do
 * not match a slash, `**` does, and `**` before other text ends after a slash. Null when Go's
 * `filepath.Match` reports a bad pattern.
 */
export function parsePattern(pattern: string): readonly Token[] | null {
  const chars = [...pattern];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length;) {
    const char = chars[at] as string;
    if (char === '*' && chars[at + 1] === '*') {
      at += chars[at + 2] === '/' ? 3 : 2;
      tokens.push(...folders(chars, at));
    } else if (char === '[') {
      const found = parseClass(chars, at + 1);
      if (!found) return null;
      tokens.push(found.token);
      at = found.end;
    } else if (char === '\\') {
      if (at + 1 === chars.length) return null;
      tokens.push(literal(chars[at + 1] as string));
      at += 2;
    } else {
      tokens.push(wildcard(char) ?? literal(char));
      at += 1;
    }
  }
  return tokens;
}

function literal(wanted: string): Token {
  return { takes: (char) => char === wanted, repeats: false, skips: [] };
}

function wildcard(char: string): Token | null {
  if (char === '*') return { takes: notSlash, repeats: true, skips: [1] };
  return char === '?' ? { takes: notSlash, repeats: false, skips: [] } : null;
}

/**
 * The tokens for a `**` that ends before `at`: at the end of the pattern it matches everything,
 * otherwise any number of folders.
 */
function folders(chars: readonly string[], at: number): readonly Token[] {
  // When the pattern is `**` followed by plain text, Docker compares only the end of the path:
  // `**foo` matches `barfoo`.
  const plain = at === 2 && !chars.slice(at).some((char) => '*?[]\\'.includes(char));
  return at === chars.length || plain ? [REST] : FOLDERS;
}

/** Parses `[a-z]` or `[^a-z]`, from the position after the bracket. */
function parseClass(
  chars: readonly string[],
  start: number,
): { readonly token: Token; readonly end: number } | null {
  const negated = chars[start] === '^';
  const ranges: (readonly [string, string])[] = [];
  let at = start + (negated ? 1 : 0);
  while (chars[at] !== ']' || ranges.length === 0) {
    const low = classChar(chars, at);
    const high = low && chars[low.end] === '-' ? classChar(chars, low.end + 1) : low;
    if (!low || !high || point(low.char) > point(high.char)) return null;
    ranges.push([low.char, high.char]);
    at = high.end;
  }
  const holds = (char: string) =>
    ranges.some(([low, high]) => point(low) <= point(char) && point(char) <= point(high));
  const takes = (char: string) => holds(char) !== negated;
  return { token: { takes, repeats: false, skips: [] }, end: at + 1 };
}

/**
 * Parses one character of a class. An unescaped `-` or `]`, or the end of the pattern, makes the
 * pattern invalid.
 */
function classChar(chars: readonly string[], at: number) {
  const escaped = chars[at] === '\\';
  const char = chars[escaped ? at + 1 : at];
  if (char === undefined || (!escaped && (char === '-' || char === ']'))) return null;
  return { char, end: at + (escaped ? 2 : 1) };
}

const point = (char: string) => char.codePointAt(0) as number;
