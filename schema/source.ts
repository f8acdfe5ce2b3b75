import type { Position } from './diagnostic.ts';

/**
 * One input file as text. This package does not read the disk; its caller does.
 *
 * @example
 * { file: 'schema.graphql', text: 'type Query { hello: String }' }
 */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** The position of a character, for texts that could not be parsed. */
export function positionAt(source: SourceText, offset: number, length = 1): Position {
  const before = source.text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) line++;
  return { file: source.file, line, column: offset - start + 1, length: Math.max(1, length) };
}
