/** A token of a migration's text. */
export interface MigrationToken {
  readonly kind: 'name' | 'number' | 'string' | 'template' | 'mark';
  /** The text of a name, number or mark; the value of a string or template. */
  readonly text: string;
  /** Set for a template with interpolated values: its text is not known. */
  readonly hasValues?: true;
  readonly line: number;
}

const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const NAME = /[A-Za-z_$][\w$]*/y;
const NUMBER = /\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?/iy;
const STRING = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y;

/**
 * Splits the text of a TypeScript file into tokens, as far as a migration needs it. An unknown
 * character becomes a mark.
 */
export function readTokens(text: string): MigrationToken[] {
  const tokens: MigrationToken[] = [];
  let line = 1;
  const take = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  for (let at = 0; at < text.length;) {
    const piece = take(SPACE, at) ?? nextPiece(text, at, take);
    const token = tokenOf(piece, line);
    if (token) tokens.push(token);
    line += countLines(piece);
    at += piece.length;
  }
  return tokens;
}

function countLines(piece: string): number {
  let lines = 0;
  for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1)) lines++;
  return lines;
}

function nextPiece(
  text: string,
  at: number,
  take: (pattern: RegExp, at: number) => string | undefined,
): string {
  if (text[at] === '`') return text.slice(at, templateEnd(text, at));
  return (
    take(NAME, at) ??
    take(NUMBER, at) ??
    take(STRING, at) ??
    (text.startsWith('=>', at) ? '=>' : text[at]!)
  );
}

/** The position after a template's closing backtick; interpolated values may contain templates. */
function templateEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '`') return at + 1;
    else if (text.startsWith('${', at)) at = valueEnd(text, at + 2);
  }
  return text.length;
}

/** The position of the brace that ends an interpolated value. */
function valueEnd(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '`') at = templateEnd(text, at) - 1;
    else if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  return text.length;
}

function tokenOf(piece: string, line: number): MigrationToken | null {
  const [first = ''] = piece;
  if (/\s/.test(first) || piece.startsWith('//') || piece.startsWith('/*')) return null;
  if (/[A-Za-z_$]/.test(first)) return { kind: 'name', text: piece, line };
  if (/\d/.test(first)) return { kind: 'number', text: piece.replaceAll('_', ''), line };
  if (first === '`') return template(piece, line);
  if (piece.length > 1 && (first === "'" || first === '"'))
    return { kind: 'string', text: meaningOf(piece.slice(1, -1)), line };
  return { kind: 'mark', text: piece, line };
}

function template(piece: string, line: number): MigrationToken {
  const inner = piece.slice(1, -1);
  const hasValues = /(?<!\\)(?:\\\\)*\$\{/.test(inner);
  return { kind: 'template', text: meaningOf(inner), line, ...(hasValues && { hasValues }) };
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  '0': '\0',
  '\n': '',
};

function meaningOf(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|([^]))/gi,
    (_all, wide?: string, unicode?: string, byte?: string, single?: string) =>
      single === undefined
        ? String.fromCodePoint(Number.parseInt(wide ?? unicode ?? byte ?? '0', 16))
        : (ESCAPES[single] ?? single),
  );
}
