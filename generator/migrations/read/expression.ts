import type { MigrationToken } from './tokens.ts';

/** An argument or statement of a migration, as far as it can be read without running it. */
export type Expression =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Expression> }
  | { readonly kind: 'template'; readonly text: string; readonly hasValues: boolean }
  | { readonly kind: 'function'; readonly parameter: string; readonly body: Chain }
  | Chain;

/** `db.schema.createTable('posts').execute()`: a name, and the calls on it. */
export interface Chain {
  readonly kind: 'chain';
  readonly root: string;
  readonly links: readonly ChainLink[];
}

/**
 * `.schema` has no `args`, `.execute()` has empty `args`; a call of the root itself has no name.
 */
export interface ChainLink {
  readonly name: string;
  readonly args: readonly Expression[] | null;
}

/** Reads tokens one by one. */
export interface TokenReader {
  at: number;
  readonly tokens: readonly MigrationToken[];
  readonly end: number;
}

/**
 * Thrown by the reader, and caught where a statement is read: the statement cannot be understood.
 */
export class NotUnderstood extends Error {}

export function peek({ at, end, tokens }: TokenReader, ahead = 0): MigrationToken | undefined {
  return at + ahead < end ? tokens[at + ahead] : undefined;
}

export function isMark(token: MigrationToken | undefined, text: string): boolean {
  return token?.kind === 'mark' && token.text === text;
}

function next(reader: TokenReader): MigrationToken {
  const token = peek(reader);
  if (!token) throw new NotUnderstood();
  reader.at += 1;
  return token;
}

function expectMark(reader: TokenReader, text: string): void {
  if (!isMark(next(reader), text)) throw new NotUnderstood();
}

/** Consumes a mark if it is next. */
export function takeMark(reader: TokenReader, text: string): boolean {
  if (!isMark(peek(reader), text)) return false;
  reader.at += 1;
  return true;
}

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };

/** @throws NotUnderstood for anything that is neither data nor a chain of calls. */
export function readExpression(reader: TokenReader): Expression {
  const token = next(reader);
  switch (token.kind) {
    case 'string':
      return { kind: 'value', value: token.text };
    case 'number':
      return { kind: 'value', value: Number(token.text) };
    case 'template':
      return { kind: 'template', text: token.text, hasValues: token.hasValues === true };
    case 'name':
      if (token.text in WORDS) return { kind: 'value', value: WORDS[token.text]! };
      return isArrow(peek(reader)) ? readFunction(reader, token.text) : readChain(reader, token);
    default:
      return readBracketed(reader, token);
  }
}

const isArrow = (token: MigrationToken | undefined) => isMark(token, '=>');

function readBracketed(reader: TokenReader, { text }: MigrationToken): Expression {
  if (text === '-') {
    const inner = readExpression(reader);
    if (inner.kind !== 'value' || typeof inner.value !== 'number') throw new NotUnderstood();
    return { kind: 'value', value: -inner.value };
  }
  if (text === '[') return { kind: 'list', items: readItems(reader, ']') };
  if (text === '{') return { kind: 'object', members: readMembers(reader) };
  if (text !== '(') throw new NotUnderstood();
  const parameter = next(reader);
  if (parameter.kind !== 'name' || !takeMark(reader, ')') || !isArrow(peek(reader)))
    throw new NotUnderstood();
  return readFunction(reader, parameter.text);
}

function readFunction(reader: TokenReader, parameter: string): Expression {
  expectMark(reader, '=>');
  const body = readExpression(reader);
  if (body.kind !== 'chain') throw new NotUnderstood();
  return { kind: 'function', parameter, body };
}

function readItems(reader: TokenReader, close: string): Expression[] {
  const items: Expression[] = [];
  while (!takeMark(reader, close)) {
    items.push(readExpression(reader));
    if (!takeMark(reader, ',') && !isMark(peek(reader), close)) throw new NotUnderstood();
  }
  return items;
}

function readMembers(reader: TokenReader): Map<string, Expression> {
  const members = new Map<string, Expression>();
  while (!takeMark(reader, '}')) {
    const name = next(reader);
    if (name.kind !== 'name' && name.kind !== 'string') throw new NotUnderstood();
    expectMark(reader, ':');
    members.set(name.text, readExpression(reader));
    if (!takeMark(reader, ',') && !isMark(peek(reader), '}')) throw new NotUnderstood();
  }
  return members;
}

function readChain(reader: TokenReader, root: MigrationToken): Chain {
  const links: ChainLink[] = [];
  for (;;) {
    const token = peek(reader);
    if (token?.kind === 'template') {
      links.push({ name: '`', args: [readExpression(reader)] });
    } else if (takeMark(reader, '(')) {
      links.push({ name: '', args: readItems(reader, ')') });
    } else if (takeMark(reader, '.')) {
      const name = next(reader);
      if (name.kind !== 'name') throw new NotUnderstood();
      const args = takeMark(reader, '(') ? readItems(reader, ')') : null;
      links.push({ name: name.text, args });
    } else return { kind: 'chain', root: root.text, links };
  }
}
