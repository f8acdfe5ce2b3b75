import type { Position, SourceText } from '@twofold/schema';

/** A text with operations and fragments: a `.graphql` file, or a template in code. */
export interface DocumentText extends SourceText {
  /** Where the text begins in its file; both count from 1. */
  readonly line: number;
  readonly column: number;
  /** Whether it stands in code, where it may be the argument of `graphql()`. */
  readonly inCode: boolean;
  /** Whether it is complete as it stands. A template with `${}` is not. */
  readonly isStatic: boolean;
}

/**
 * The position in the file. `at` counts from the beginning of the text, which may be a template
 * literal in the middle of the file.
 */
export function placeIn(
  { file, line, column }: DocumentText,
  at: { readonly line: number; readonly column: number },
  length = 1,
): Position {
  return {
    file,
    line: line + at.line - 1,
    column: at.line === 1 ? column + at.column - 1 : at.column,
    length,
  };
}

/** The files of the texts, as far as they are known, for the lines that a report shows. */
export function filesOf(texts: readonly DocumentText[]): SourceText[] {
  const byFile = Map.groupBy(texts, ({ file }) => file);
  return [...byFile].map(([file, parts]) => ({ file, text: linesOf(parts) }));
}

/** The texts of one file in their lines and columns, with nothing in between. */
function linesOf(parts: readonly DocumentText[]): string {
  let lines: string[] = [];
  for (const { text, line, column } of parts) {
    const [first = '', ...rest] = text.split(/\r\n|[\r\n]/);
    lines = [...lines, ...Array<string>(Math.max(0, line - lines.length)).fill('')];
    lines[line - 1] = (lines[line - 1] ?? '').padEnd(column - 1) + first;
    lines.push(...rest);
  }
  return lines.join('\n');
}
