import { diffLines, type LineEdit } from './diff-lines.ts';

/** The result of a three-way merge. Conflicts have git's markers around them. */
export interface Merged {
  readonly text: string;
  readonly conflicts: number;
}

interface Side {
  readonly lines: readonly string[];
  readonly edits: readonly LineEdit[];
}

/**
 * Merges two changes of one text, line by line, as `git merge-file` does: a change of one side is
 * taken, equal changes of both are taken once, and the rest is a conflict. The line ends are those
 * of `mine`.
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
    const [a, b] = [regionText(left, region, origin), regionText(right, region, origin)];
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

/** A range of the base text that one or both sides changed. */
interface Region {
  readonly start: number;
  readonly end: number;
  readonly both: boolean;
  readonly fromRight: boolean;
}

/** Edits of both sides in order; adjacent edits form one region. */
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

/** The text of one side for a region. */
function regionText(
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
