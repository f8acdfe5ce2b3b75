/** Lines `start … end` (end excluded) of the old text are replaced by lines of the new one. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/**
 * The edits between two lists of lines, by Myers' shortest edit script. Texts with little in common
 * are replaced as a whole, because the search takes time with the square of the edits.
 */
export function diffLines(old: readonly string[], next: readonly string[]): LineEdit[] {
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head++;
  let tail = 0;
  while (
    tail < old.length - head &&
    tail < next.length - head &&
    old[old.length - 1 - tail] === next[next.length - 1 - tail]
  )
    tail++;
  const [a, b] = [old.slice(head, old.length - tail), next.slice(head, next.length - tail)];
  if (a.length === 0 && b.length === 0) return [];
  const matches = a.length === 0 || b.length === 0 ? [] : findMatches(a, b);
  return editsBetween(matches, a.length, b.length).map((edit) => ({
    oldStart: edit.oldStart + head,
    oldEnd: edit.oldEnd + head,
    newStart: edit.newStart + head,
    newEnd: edit.newEnd + head,
  }));
}

const MOST_EDITS = 2_000;

/** Pairs of equal lines, in order. */
function findMatches(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const trace: Int32Array[] = [];
  const most = Math.min(a.length + b.length, MOST_EDITS);
  let reach = new Int32Array(2 * most + 3);
  const at = (diagonal: number) => diagonal + most + 1;
  for (let edits = 0; edits <= most; edits++) {
    trace.push(reach.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down =
        diagonal === -edits ||
        (diagonal !== edits && reach[at(diagonal - 1)]! < reach[at(diagonal + 1)]!);
      let x = down ? reach[at(diagonal + 1)]! : reach[at(diagonal - 1)]! + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      reach[at(diagonal)] = x;
      if (x >= a.length && x - diagonal >= b.length)
        return walkBack(trace, { x: a.length, y: b.length, at });
    }
  }
  return [];
}

function walkBack(
  trace: readonly Int32Array[],
  end: { x: number; y: number; at: (diagonal: number) => number },
): (readonly [number, number])[] {
  const matches: (readonly [number, number])[] = [];
  let { x, y } = end;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reach = trace[edits]!;
    const diagonal = x - y;
    const down =
      diagonal === -edits ||
      (diagonal !== edits && reach[end.at(diagonal - 1)]! < reach[end.at(diagonal + 1)]!);
    const before = down ? diagonal + 1 : diagonal - 1;
    const startX = edits === 0 ? 0 : reach[end.at(before)]!;
    const startY = edits === 0 ? 0 : startX - before;
    const until = edits === 0 || down ? startX : startX + 1;
    while (x > until && y > 0) matches.push([--x, --y]);
    [x, y] = [startX, startY];
  }
  return matches.toReversed();
}

function editsBetween(
  matches: readonly (readonly [number, number])[],
  oldLength: number,
  newLength: number,
): LineEdit[] {
  const edits: LineEdit[] = [];
  let [old, next] = [0, 0];
  for (const [x, y] of [...matches, [oldLength, newLength] as const]) {
    if (x > old || y > next) edits.push({ oldStart: old, oldEnd: x, newStart: next, newEnd: y });
    [old, next] = [x + 1, y + 1];
  }
  return edits;
}
