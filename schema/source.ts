import type { ASTNode } from 'graphql';
import type { Position } from './diagnostic.ts';

/**
 * One input file as text. The package reads no disk: whoever calls it does.
 *
 * @example
 * { file: 'schema.graphql', text: 'type Query { hello: String }' }
 */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** Where a piece of the SDL stands. Nodes made by us have no place and are said to be at the start of the schema. */
export function positionOf(node: ASTNode | undefined | null): Position {
  const at = node?.loc;
  if (!at) return { file: 'schema.graphql', line: 1, column: 1, length: 1 };
  const { line, column } = at.startToken;
  return { file: at.source.name, line, column, length: lengthOnLine(at.source.body, at.start, at.end) };
}

/** Where a character of a text stands; for texts that no parser has understood. */
export function positionAt(source: SourceText, offset: number, length = 1): Position {
  const before = source.text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) line++;
  return { file: source.file, line, column: offset - start + 1, length: Math.max(1, length) };
}

/** A mark never runs past the end of its line. */
function lengthOnLine(text: string, start: number, end: number): number {
  const newline = text.slice(start, end).search(/\r?\n/);
  return Math.max(1, newline < 0 ? end - start : newline);
}
