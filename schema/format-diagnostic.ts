import type { Diagnostic } from './diagnostic.ts';

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
