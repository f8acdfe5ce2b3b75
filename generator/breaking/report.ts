import type { Paint } from '../report.ts';
import type { Against } from './base/against.ts';
import { type Change, type Level, LEVELS, type Place, summaryOf } from './change.ts';

export interface Report {
  readonly ok: boolean;
  readonly against: Against;
  readonly changes: readonly Change[];
}

/** The base in the form of `--json`. */
export const saidOf = (against: Against): object =>
  against.kind === 'file' ? { file: against.file } : { ref: against.ref, commit: against.commit };

const nameOf = (against: Against): string =>
  against.kind === 'file' ? against.file : `${against.ref} (${against.commit.slice(0, 12)})`;

/**
 * The changes for a terminal; of the safe ones only the number, and those that no document uses.
 */
export function formatChanges({ against, changes }: Report, paint: Paint): string {
  const mark: Readonly<Record<Level, (text: string) => string>> = {
    breaking: paint.red,
    dangerous: paint.yellow,
    safe: paint.green,
  };
  const shown = changes.filter(({ level, unused }) => level !== 'safe' || unused);
  const lines = shown.map((change) =>
    [
      `${placeText(change.at)}${mark[change.level](change.level)}  ${change.class}  ${change.code}  ${change.message}${change.unused ? ' (no document uses it)' : ''}`,
      ...(change.usedBy ?? []).map((user) => `   ${paint.dim('used')} ${userText(user)}`),
      ...(change.fix ? [`   ${paint.dim('fix')}  ${change.fix}`] : []),
    ].join('\n'),
  );
  return `${[`Compared with ${nameOf(against)}: ${countText(changes)}`, ...lines].join('\n')}\n`;
}

function countText(changes: readonly Change[]): string {
  const summary = summaryOf(changes);
  if (changes.length === 0) return 'nothing changed.';
  return `${LEVELS.map((level) => `${summary[level]} ${level}`).join(', ')}.`;
}

const placeText = (at: Place | undefined) => (at ? `${at.file}:${at.line}:${at.column}  ` : '');

const userText = ({ operation, retired, at }: NonNullable<Change['usedBy']>[number]) =>
  `${operation}${retired ? ' (retired)' : ''}${at ? `  ${at.file}:${at.line}:${at.column}` : ''}`;

/** A comment for a pull request. */
export function formatMarkdown({ ok, against, changes }: Report): string {
  const title = ok ? 'No change breaks a caller' : 'This breaks callers';
  const sections = LEVELS.slice(0, 2).flatMap((level) => {
    const found = changes.filter((change) => change.level === level);
    return found.length === 0 ? [] : [sectionText(level, found)];
  });
  return `### ${title}\n\nCompared with ${escape(nameOf(against))}: ${countText(changes)}\n${sections.join('')}`;
}

function sectionText(level: Level, changes: readonly Change[]): string {
  const rows = changes.map(
    ({ class: kind, coordinate, message, fix, at, usedBy = [] }) =>
      `| ${kind} | \`${coordinate}\` | ${escape(message)}${fix ? `<br>${escape(fix)}` : ''} | ${at ? escape(`${at.file}:${at.line}`) : ''} | ${usedBy.map(({ operation }) => escape(operation)).join(', ')} |`,
  );
  return `\n#### ${level}\n\n| class | what | | where | used by |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

/** Text that others wrote must not end a cell of the table, become a link or mention people. */
const escape = (text: string) =>
  text
    .replace(/[\\`*_{}[\]()#!|<>~]/g, '\\$&')
    .replace(/@/g, '@\u200b')
    .replace(/\s+/g, ' ');
