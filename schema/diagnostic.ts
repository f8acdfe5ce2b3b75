/** A place in an input file. Lines and columns count from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The number of marked characters; 1 when unknown. */
  readonly length: number;
}

/** An error stops the run; a warning and a hint do not. */
export type Severity = 'error' | 'warning' | 'hint';

/**
 * Replaces the text from `start` up to `end` of a file. Offsets count UTF-16 code units from 0, as
 * strings do.
 */
export interface Edit {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * One way to correct a finding. Its edits have to be applied together, and they change nothing
 * around them.
 */
export interface Fix {
  /** The meaning of this fix, if there are several. */
  readonly title?: string;
  readonly edits: readonly Edit[];
}

/**
 * One finding about the schema or the manifest. Data, never thrown: a run reports all of them at
 * once.
 *
 * @example
 * { code: 'RELATION_AMBIGUOUS', severity: 'error', summary: 'Post.author and Post.editor can both be the inverse of User.posts',
 *   why: 'two fields of Post have the type User', fix: 'posts: [Post!]! @relation(inverse: "author")', at: { … } }
 */
export interface Diagnostic {
  /** Stable, upper snake case. Listed in `schema/README.md`. */
  readonly code: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly why?: string;
  /** The lines after the first fix, or a sentence that says what to do. */
  readonly fix?: string;
  /** Fixes of the schema as edits that a program can apply, the advised one first. */
  readonly fixes?: readonly Fix[];
  /** The field, if the finding is about one that the user has to write: `Query.feed`. */
  readonly coordinate?: string;
  readonly at: Position;
}

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

/**
 * Longer lines are cut around the mark, because the line of a minified file would fill the screen.
 */
const WIDEST = 120;

/**
 * A finding as text: place, code, summary, the marked lines, the reason and the fix.
 *
 * @example
 * formatDiagnostic(diagnostics[0], text) // 'schema.graphql:12:3  error  RELATION_AMBIGUOUS  Post.author and …'
 */
export function formatDiagnostic(diagnostic: Diagnostic, sourceText: string): string {
  const { at, severity, code, summary, why, fix } = diagnostic;
  const lines = [
    `${at.file}:${at.line}:${at.column}  ${severity}  ${code}  ${summary}`,
    ...frame(diagnostic, sourceText),
  ];
  if (why) lines.push(`   why  ${why}`);
  if (fix)
    lines.push(
      ...fix
        .split('\n')
        .map((line, index) => (index === 0 ? `   fix  ${line}` : `        ${line}`)),
    );
  return lines.join('\n');
}

function frame({ at }: Diagnostic, sourceText: string): string[] {
  const all = sourceText.split(/\r?\n/);
  const line = all[at.line - 1];
  if (line === undefined || sourceText.trim() === '') return [];
  const width = Math.max(4, String(at.line).length + 2);
  const gutter = (label: string, text: string) => `   ${label.padStart(width)} │ ${text}`.trimEnd();
  const from = at.column > WIDEST - 20 ? at.column - 40 : 0;
  const shown = printable(line.slice(from, from + WIDEST));
  const above = all[at.line - 2];
  const mark =
    ' '.repeat(Math.max(0, at.column - 1 - from)) +
    '^'.repeat(Math.max(1, Math.min(at.length, line.length - at.column + 1, WIDEST)));
  return [
    ...(above?.trim() && from === 0
      ? [gutter(String(at.line - 1), printable(above.slice(0, WIDEST)))]
      : []),
    gutter(String(at.line), shown),
    gutter('', mark),
  ];
}

/** Tabs would move the mark, and control characters could control a terminal. */
function printable(text: string): string {
  return text.replaceAll('\t', ' ').replace(/\p{Cc}/gu, '?');
}
