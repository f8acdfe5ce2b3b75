import type { FileChange } from './files.ts';
import { diffLines, type LineEdit } from './text/diff-lines.ts';

const CONTEXT = 3;

/** Changes as a unified diff, as `git diff` and `patch` read it. */
export function formatDiffs(changes: readonly FileChange[]): string {
  return changes.map(({ path, before, after }) => formatDiff(path, before, after)).join('');
}

function formatDiff(path: string, before: string | null, after: string | null): string {
  const [old, next] = [splitLines(before), splitLines(after)];
  const hunks = joinHunks(diffLines(old, next));
  if (hunks.length === 0) return '';
  const head = `--- ${before === null ? '/dev/null' : `a/${path}`}\n+++ ${after === null ? '/dev/null' : `b/${path}`}\n`;
  return head + hunks.map((hunk) => printHunk(hunk, { old, next })).join('');
}

function splitLines(text: string | null): string[] {
  return text === null || text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Edits whose context overlaps are shown together. */
function joinHunks(edits: readonly LineEdit[]): LineEdit[][] {
  const hunks: LineEdit[][] = [];
  for (const edit of edits) {
    const last = hunks.at(-1)?.at(-1);
    if (last && edit.oldStart - last.oldEnd <= 2 * CONTEXT) hunks.at(-1)!.push(edit);
    else hunks.push([edit]);
  }
  return hunks;
}

function printHunk(
  edits: readonly LineEdit[],
  { old, next }: { old: readonly string[]; next: readonly string[] },
): string {
  const [first, last] = [edits[0]!, edits.at(-1)!];
  const lead = Math.min(CONTEXT, first.oldStart);
  const trail = Math.min(CONTEXT, old.length - last.oldEnd);
  const lines: string[] = [];
  let at = first.oldStart - lead;
  for (const edit of edits) {
    lines.push(...old.slice(at, edit.oldStart).map((line) => ` ${line}`));
    lines.push(...old.slice(edit.oldStart, edit.oldEnd).map((line) => `-${line}`));
    lines.push(...next.slice(edit.newStart, edit.newEnd).map((line) => `+${line}`));
    at = edit.oldEnd;
  }
  lines.push(...old.slice(at, at + trail).map((line) => ` ${line}`));
  const range = (start: number, count: number) => `${count === 0 ? start : start + 1},${count}`;
  const oldCount = last.oldEnd + trail - (first.oldStart - lead);
  const newCount = last.newEnd + trail - (first.newStart - lead);
  return (
    `@@ -${range(first.oldStart - lead, oldCount)} +${range(first.newStart - lead, newCount)} @@\n` +
    `${lines.join('\n')}\n`
  );
}
