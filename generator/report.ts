import type { Diagnostic, SourceText } from '@twofold/schema';
import type { FileChange, FileChangeKind } from './files.ts';

/** Functions that colour a text, or return it unchanged. */
export interface Paint {
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

export function createPaint(colors: boolean): Paint {
  const paint = (open: number, close: number) => (text: string) =>
    colors ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    red: paint(31, 39),
    yellow: paint(33, 39),
    green: paint(32, 39),
    dim: paint(2, 22),
    bold: paint(1, 22),
  };
}

/**
 * Findings as a terminal shows them: place, code, what, the lines, why and how to mend it.
 *
 *     schema.graphql:12:3  error  RELATION_AMBIGUOUS  Post.author and Post.editor can both be …
 *        11 │ type User {
 *        12 │   posts: [Post!]!
 *           │   ^^^^^
 *        why  two fields of Post have the type User
 *        fix  posts: [Post!]! @relation(inverse: "author")
 */
export function formatFindings(
  findings: readonly Diagnostic[],
  sources: readonly SourceText[],
  paint: Paint,
): string[] {
  const files = new Set(findings.map(({ at }) => at.file));
  const lines = new Map(
    sources
      .filter(({ file }) => files.has(file))
      .map(({ file, text }) => [file, text.split(/\r\n|\r|\n/)]),
  );
  const times = new Map<string, number>();
  return findings.map((finding) => {
    const { code, severity, at } = finding;
    const before = times.get(code) ?? 0;
    times.set(code, before + 1);
    const isShort = severity !== 'error' && before >= IN_FULL;
    return isShort
      ? formatFinding({ ...finding, why: '' }, undefined, paint)
      : formatFinding(finding, lines.get(at.file), paint);
  });
}

/** How many warnings of one code have their line and their reason; the others are alike. */
const IN_FULL = 3;

function formatFinding(
  finding: Diagnostic,
  lines: readonly string[] | undefined,
  paint: Paint,
): string {
  const { at, severity, code, summary, why, fix } = finding;
  const mark = severity === 'error' ? paint.red : severity === 'warning' ? paint.yellow : paint.dim;
  return [
    `${paint.bold(`${at.file}:${at.line}:${at.column}`)}  ${mark(severity)}  ${code}  ${printable(summary)}`,
    ...(lines === undefined ? [] : frame(lines, finding, paint)),
    ...(why ? [labelled(paint.dim('why'), why)] : []),
    ...(fix ? [labelled(paint.dim('fix'), fix)] : []),
  ].join('\n');
}

/** A fix that offers a choice has one line for each option, aligned below each other. */
function labelled(label: string, text: string): string {
  return `   ${label}  ${printable(text).replaceAll('\n', '\n        ')}`;
}

function frame(lines: readonly string[], { at }: Diagnostic, paint: Paint): string[] {
  const number = (line: number) => String(line).padStart(5);
  const shown = [at.line - 1, at.line].filter(
    (line) =>
      line >= 1 && line <= lines.length && (line === at.line || lines[line - 1]!.trim() !== ''),
  );
  if (!shown.includes(at.line)) return [];
  const line = lines[at.line - 1]!;
  const before = line.slice(0, at.column - 1).replace(/[^\t]/g, ' ');
  const width = Math.max(1, Math.min(at.length, line.length - at.column + 1));
  return [
    ...shown.map(
      (each) => paint.dim(`${number(each)} │ `) + printable(lines[each - 1]!).slice(0, 200),
    ),
    `${paint.dim('      │ ')}${printable(before).slice(0, 200)}${paint.red('^'.repeat(Math.min(width, 120)))}`,
  ];
}

/**
 * The text of an input file without control characters, which could move the cursor or set colours.
 */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (character) =>
    character === '\t' || character === '\n' ? character : '�',
  );
}

const VERBS: Readonly<Record<Exclude<FileChangeKind, 'same'>, string>> = {
  create: 'new',
  update: 'changed',
  remove: 'removed',
  edited: 'edited by hand',
  stale: 'no longer generated, but edited: kept',
  conflict: 'needs you: see the .new file',
};

/** One line for each file that a run changes or would change. */
export function formatChanges(changes: readonly FileChange[], paint: Paint): string[] {
  return changes.flatMap(({ path, kind }) => {
    if (kind === 'same') return [];
    const color = kind === 'create' ? paint.green : kind === 'update' ? paint.yellow : paint.red;
    return [`  ${color(VERBS[kind].padEnd(8))}  ${path}`];
  });
}

/** A change as `--json` reports it, without the texts, which may be long. */
export function changeAsData({ path, owner, kind }: FileChange): {
  path: string;
  owner: string;
  change: string;
} {
  return { path, owner, change: kind };
}
