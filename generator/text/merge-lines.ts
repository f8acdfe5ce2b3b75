import { diffLines, type LineEdit } from './diff-lines.ts';

/** A merge of two texts that come from one. With conflicts the text has git's markers around them. */
export interface Merged {
  readonly text: string;
  readonly conflicts: number;
}

interface Side {
  readonly lines: readonly string[];
  readonly edits: readonly LineEdit[];
}

/**
 * Merges two changes of one text, line by line, as `git merge-file` does: what one side changed is taken, what both
 * changed alike is taken once, and the rest is a conflict. Line ends are those of `mine`.
 */
export function mergeLines(base: string, mine: string, theirs: string): Merged {
  const end = mine.includes('\r\n') ? '\r\n' : '\n';
  const [origin, ours, others] = [split(base), split(mine), split(theirs)];
  const left: Side = { lines: ours, edits: diffLines(origin, ours) };
  const right: Side = { lines: others, edits: diffLines(origin, others) };
  const out: string[] = [];
  let conflicts = 0;
  let at = 0;
  for (const region of regions(left.edits, right.edits)) {
    out.push(...origin.slice(at, region.start));
    const [a, b] = [applied(left, region, origin), applied(right, region, origin)];
    if (!region.both || sameLines(a, b)) out.push(...(region.fromRight && !region.both ? b : a));
    else {
      conflicts++;
      out.push('<<<<<<< yours', ...a, '=======', ...b, '>>>>>>> generated');
    }
    at = region.end;
  }
  out.push(...origin.slice(at));
  return { text: out.join(end), conflicts };
}

function split(text: string): string[] {
  return text.split(/\r?\n/);
}

/** A stretch of the origin that one side, or both, changed. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly both: boolean;
  readonly fromRight: boolean;
}

/** Edits of both sides in order; those that touch each other are one region. */
function regions(left: readonly LineEdit[], right: readonly LineEdit[]): Region[] {
  const all = [
    ...left.map((edit) => ({ edit, fromRight: false })),
    ...right.map((edit) => ({ edit, fromRight: true })),
  ];
  all.sort((a, b) => a.edit.oldStart - b.edit.oldStart || a.edit.oldEnd - b.edit.oldEnd);
  const found: Region[] = [];
  for (const { edit, fromRight } of all) {
    const last = found.at(-1);
    if (last && edit.oldStart <= last.end && (last.fromRight !== fromRight || last.both)) {
      found[found.length - 1] = {
        start: last.start,
        end: Math.max(last.end, edit.oldEnd),
        both: true,
        fromRight,
      };
    } else found.push({ start: edit.oldStart, end: edit.oldEnd, both: false, fromRight });
  }
  return found;
}

/** What a side made of a region. */
function applied(
  { lines, edits }: Side,
  { start, end }: Region,
  origin: readonly string[],
): string[] {
  const inside = edits.filter((edit) => edit.oldStart >= start && edit.oldEnd <= end);
  const out: string[] = [];
  let at = start;
  for (const edit of inside) {
    out.push(...origin.slice(at, edit.oldStart), ...lines.slice(edit.newStart, edit.newEnd));
    at = edit.oldEnd;
  }
  out.push(...origin.slice(at, end));
  return out;
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, at) => line === b[at]);
}
