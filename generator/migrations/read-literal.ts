const PIECE =
  /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|`(?:[^`\\$]|\\[^])*`|[\w$.+-]+|[^]/gy;

/** What follows the name of a member. */
const KEY = /\s*:/y;

/** A value that stands in a text, and where each item of a list begins. */
export interface Literal<Value> {
  readonly value: Value;
  readonly places: readonly number[];
}

/**
 * The value of a literal in the text of a TypeScript file. Nothing of the file is run: the literal
 * is written as JSON, which has the same lists and objects. Null for anything that is not data.
 *
 * @example readLiteral("const a = [{ to: 'b' }];", 10)?.value // [{ to: 'b' }]
 */
export function readLiteral<Value>(text: string, start: number): Literal<Value> | null {
  const json: string[] = [];
  const places: number[] = [];
  let depth = 0;
  PIECE.lastIndex = start;
  for (let found = PIECE.exec(text); found; found = PIECE.exec(text)) {
    const [piece] = found;
    if (/^(?:\s|\/[/*])/.test(piece)) continue;
    if (depth === 1 && '[{'.includes(piece)) places.push(found.index);
    if ('[{'.includes(piece)) depth += 1;
    if (']}'.includes(piece)) {
      depth -= 1;
      if (json.at(-1) === ',') json.pop();
    }
    KEY.lastIndex = PIECE.lastIndex;
    json.push(KEY.test(text) ? keyOf(piece) : jsonOf(piece));
    if (depth <= 0) break;
  }
  try {
    return { value: JSON.parse(json.join('')) as Value, places };
  } catch {
    return null;
  }
}

const keyOf = (piece: string): string =>
  /^[A-Za-z_$]/.test(piece) ? JSON.stringify(piece) : jsonOf(piece);

const jsonOf = (piece: string): string =>
  /^['"`]./s.test(piece) ? textOf(piece.slice(1, -1)) : piece;

/** The text between quotes as JSON, which escapes other characters. */
function textOf(inner: string): string {
  const escaped = inner.replace(/\\[^]|["\n]/g, (part) => {
    if (part === '"') return '\\"';
    if (part === '\n') return '\\n';
    return part === "\\'" || part === '\\`' || part === '\\$' ? part.slice(1) : part;
  });
  return `"${escaped}"`;
}
