import {
  type Chain,
  type Expression,
  isMark,
  NotUnderstood,
  peek,
  type TokenReader,
  readExpression,
  takeMark,
} from './expression.ts';
import { readTokens, type MigrationToken } from './tokens.ts';

/** A statement of a migration's `up`: calls that can be read, or text that cannot. */
export type MigrationStatement =
  | { readonly kind: 'calls'; readonly chain: Chain; readonly line: number }
  | { readonly kind: 'unread'; readonly text: string; readonly line: number };

/** The content of a migration's file. */
export interface MigrationText {
  readonly statements: readonly MigrationStatement[];
  /** The kind of the keys, if `columnTypes` gives it. */
  readonly ids: 'integer' | 'uuid' | null;
  readonly allowLoss: readonly string[];
  /**
   * `export const leaves`: the tables after statements that cannot be read, as lines that the
   * finding suggests.
   */
  readonly leaves: readonly string[] | null;
}

/**
 * The most characters of texts that are kept with what was read of them. A run reads each migration
 * several times, and `dev` runs again and again.
 */
const MOST_KEPT = 8_000_000;

const kept = new Map<string, MigrationText>();
let keptCharacters = 0;

/** Reads a migration without running it. What is returned may be shared: nobody changes it. */
export function readMigration(text: string): MigrationText {
  const known = kept.get(text);
  if (known) kept.delete(text);
  else keptCharacters += text.length;
  const read = known ?? parseMigration(text);
  // What was asked for last stands last, and what was not asked for longest leaves first.
  kept.set(text, read);
  for (const oldest of kept.keys()) {
    if (keptCharacters <= MOST_KEPT || oldest === text) break;
    kept.delete(oldest);
    keptCharacters -= oldest.length;
  }
  return read;
}

function parseMigration(text: string): MigrationText {
  const tokens = readTokens(text);
  const body = findBody(tokens);
  const statements = body ? readStatements(body) : [];
  const types = statements.find(
    (each) => each.kind === 'calls' && each.chain.root === 'columnTypes',
  );
  return {
    statements,
    ids: types?.kind === 'calls' ? idsOf(types.chain) : null,
    allowLoss: readList(tokens, 'allowLoss') ?? [],
    leaves: readList(tokens, 'leaves'),
  };
}

function idsOf({ links }: Chain): 'integer' | 'uuid' {
  const kind = links[0]?.args?.[1];
  return kind?.kind === 'value' && kind.value === 'uuid' ? 'uuid' : 'integer';
}

/** The tokens between the braces of `up`. */
function findBody(tokens: readonly MigrationToken[]): TokenReader | null {
  const named = tokens.findIndex(
    ({ text }, at) => text === 'up' && ['function', 'const'].includes(tokens[at - 1]?.text ?? ''),
  );
  if (named < 0) return null;
  const parameters = tokens.findIndex((token, at) => at > named && isMark(token, '('));
  const after = parameters < 0 ? -1 : closingBracket(tokens, parameters);
  const start = tokens.findIndex((token, at) => at > after && isMark(token, '{'));
  return after < 0 || start < 0
    ? null
    : { tokens, at: start + 1, end: closingBracket(tokens, start) };
}

const OPEN = new Set(['(', '[', '{']);
const CLOSE = new Set([')', ']', '}']);

/** The position of the bracket that closes the one at `start`. */
function closingBracket(tokens: readonly MigrationToken[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    const { kind, text } = tokens[at]!;
    if (kind !== 'mark') continue;
    if (OPEN.has(text)) depth++;
    if (CLOSE.has(text) && --depth === 0) return at;
  }
  return tokens.length;
}

function readStatements(reader: TokenReader): MigrationStatement[] {
  const statements: MigrationStatement[] = [];
  while (peek(reader)) {
    if (takeMark(reader, ';')) continue;
    statements.push(readStatement(reader));
  }
  return statements;
}

function readStatement(reader: TokenReader): MigrationStatement {
  const start = reader.at;
  const { line } = peek(reader)!;
  try {
    skipWords(reader);
    const chain = readExpression(reader);
    if (chain.kind !== 'chain' || !endsHere(reader)) throw new NotUnderstood();
    return { kind: 'calls', chain, line };
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    reader.at = start;
    return { kind: 'unread', text: skipStatement(reader), line };
  }
}

/** Skips `await`, `return`, and `const type =`. */
function skipWords(reader: TokenReader): void {
  const [first, second, third] = [peek(reader), peek(reader, 1), peek(reader, 2)];
  if (first?.text === 'await' || first?.text === 'return') reader.at += 1;
  if (first?.text === 'const' && second?.kind === 'name' && isMark(third, '=')) reader.at += 3;
  if (peek(reader)?.text === 'await') reader.at += 1;
}

/** A statement ends with a semicolon, or where another one begins on the next line. */
function endsHere(reader: TokenReader): boolean {
  const token = peek(reader);
  return !token || isMark(token, ';') || token.kind === 'name';
}

/** Skips a statement that cannot be read, up to its semicolon or the brace that ends its block. */
function skipStatement(reader: TokenReader): string {
  const texts: string[] = [];
  let depth = 0;
  for (let token = peek(reader); token; token = peek(reader)) {
    reader.at += 1;
    texts.push(token.text);
    if (token.kind !== 'mark') continue;
    if (OPEN.has(token.text)) depth++;
    if (CLOSE.has(token.text)) depth--;
    const isOver = depth === 0 && (token.text === ';' || endsBlock(token, reader));
    if (isOver) break;
  }
  return texts.join(' ');
}

function endsBlock({ text }: MigrationToken, reader: TokenReader): boolean {
  const following = peek(reader)?.text ?? '';
  return text === '}' && !['else', 'catch', 'finally', ')', '.', ',', ';'].includes(following);
}

/** `export const NAME = ['a', 'b'];` */
function readList(tokens: readonly MigrationToken[], name: string): string[] | null {
  const at = tokens.findIndex(
    ({ text, kind }, index) =>
      kind === 'name' &&
      text === name &&
      tokens[index - 1]?.text === 'const' &&
      isMark(tokens[index + 1], '='),
  );
  if (at < 0) return null;
  try {
    const list = readExpression({ tokens, at: at + 2, end: tokens.length });
    return list.kind === 'list' ? list.items.flatMap(textOf) : [];
  } catch (error) {
    if (error instanceof NotUnderstood) return [];
    throw error;
  }
}

function textOf(item: Expression): string[] {
  return item.kind === 'value' && typeof item.value === 'string' ? [item.value] : [];
}
