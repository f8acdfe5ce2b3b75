import { Lexer, parse, print, Source, type Token, TokenKind } from 'graphql';

/**
 * Lays out a document, with its comments, which `print` of graphql-js drops.
 *
 * @throws GraphQLError for a text that is no document
 */
export function prettify(text: string): string {
  const wanted = print(parse(text));
  if (!text.includes('#')) return wanted;
  const laid = layOut(text);
  // If a comment is in a place that the layout does not expect, the text stays as it was typed.
  return isSame(laid, wanted) ? laid : text;
}

function isSame(laid: string, wanted: string): boolean {
  try {
    return print(parse(laid)) === wanted;
  } catch {
    return false;
  }
}

interface Layout {
  text: string;
  /** Of selection sets, and of anything within parentheses, brackets or the braces of a value. */
  depth: number;
  inner: number;
}

function layOut(text: string): string {
  const layout: Layout = { text: '', depth: 0, inner: 0 };
  for (const token of tokensOf(text)) add(layout, token, text.slice(token.start, token.end));
  return `${layout.text.trim()}\n`.replaceAll(/[ \t]+$/gm, '');
}

function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text));
  while (lexer.advance().kind !== TokenKind.EOF);
  let token = lexer.token;
  while (token.prev) token = token.prev;
  for (let next = token.next; next && next.kind !== TokenKind.EOF; next = next.next) yield next;
}

const OPEN = new Set<string>([TokenKind.PAREN_L, TokenKind.BRACKET_L]);
const CLOSE = new Set<string>([TokenKind.PAREN_R, TokenKind.BRACKET_R]);

function add(layout: Layout, token: Token, text: string): void {
  const line = `\n${'  '.repeat(layout.depth)}`;
  if (token.kind === TokenKind.COMMENT)
    layout.text += token.prev?.line === token.line ? ` ${text}` : `${line}${text}`;
  else if (layout.inner > 0 || OPEN.has(token.kind)) addInner(layout, token, text);
  else if (token.kind === TokenKind.BRACE_L) {
    const begins = token.prev?.kind === TokenKind.COMMENT || token.prev?.kind === TokenKind.BRACE_R;
    layout.text +=
      layout.text === '' ? text : begins ? `${before(token, line)}${text}` : ` ${text}`;
    layout.depth += 1;
  } else if (token.kind === TokenKind.BRACE_R) {
    layout.depth -= 1;
    layout.text += `\n${'  '.repeat(layout.depth)}${text}`;
  } else
    layout.text += beginsLine(token, layout.depth)
      ? `${before(token, line)}${text}`
      : joined(token, text);
}

/** Definitions are separated by an empty line. */
const before = (token: Token, line: string) =>
  token.prev?.kind === TokenKind.BRACE_R && line === '\n' ? '\n\n' : line;

function beginsLine({ kind, prev }: Token, depth: number): boolean {
  if (prev?.kind === TokenKind.COMMENT) return true;
  if (kind !== TokenKind.NAME && kind !== TokenKind.SPREAD) return false;
  if (prev?.kind === TokenKind.BRACE_R) return true;
  if (depth === 0) return false;
  if (prev?.kind === TokenKind.NAME)
    return prev.value !== 'on' || prev.prev?.kind !== TokenKind.SPREAD;
  return ![TokenKind.COLON, TokenKind.AT, TokenKind.SPREAD].includes(prev?.kind as never);
}

const TIGHT = new Set<string>([TokenKind.AT, TokenKind.SPREAD, TokenKind.SOF]);

function joined({ kind, prev }: Token, text: string): string {
  if (kind === TokenKind.COLON || TIGHT.has(prev?.kind ?? '')) {
    return prev?.kind === TokenKind.SPREAD && /^on$/.test(text) ? ` ${text}` : text;
  }
  return ` ${text}`;
}

/** Arguments, variables and values stay on one line. */
function addInner(layout: Layout, token: Token, text: string): void {
  const { kind, prev } = token;
  const opens = OPEN.has(kind) || kind === TokenKind.BRACE_L;
  const closes = CLOSE.has(kind) || kind === TokenKind.BRACE_R;
  if (closes) layout.inner -= 1;
  if (prev?.kind === TokenKind.COMMENT) layout.text += `\n${'  '.repeat(layout.depth + 1)}`;
  layout.text += `${separator(token, layout.inner, closes)}${text}`;
  if (opens) layout.inner += 1;
}

const GLUED = new Set<string>([
  TokenKind.DOLLAR,
  TokenKind.AT,
  TokenKind.PAREN_L,
  TokenKind.BRACKET_L,
  TokenKind.COMMENT,
]);

const TIGHT_BEFORE = new Set<string>([TokenKind.PAREN_L, TokenKind.COLON, TokenKind.BANG]);
/** What a value follows. */
const AFTER = new Set<string>([TokenKind.COLON, TokenKind.EQUALS]);

function separator({ kind, prev }: Token, inner: number, closes: boolean): string {
  const last = prev?.kind ?? TokenKind.SOF;
  if (kind === TokenKind.BRACE_R || last === TokenKind.BRACE_L)
    return last === TokenKind.BRACE_L && kind === TokenKind.BRACE_R ? '' : ' ';
  if (closes || GLUED.has(last)) return '';
  if (TIGHT_BEFORE.has(kind)) return '';
  const isApart = AFTER.has(last) || kind === TokenKind.EQUALS || kind === TokenKind.AT;
  return isApart || inner === 0 ? ' ' : ', ';
}
