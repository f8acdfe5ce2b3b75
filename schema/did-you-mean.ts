/**
 * A sentence with the known word that is nearest to a mistyped one; undefined when none is near.
 *
 * @example
 * didYouMean('autor', ['author', 'title']) // 'Did you mean "author"?'
 */
export function didYouMean(word: string, known: Iterable<string>): string | undefined {
  const best = nearest(word, known);
  return best === undefined ? undefined : `Did you mean "${best}"?`;
}

/** The nearest of the known words, if it differs in no more than a third of its letters. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length * 0.4));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance =
      candidate.toLowerCase() === word.toLowerCase()
        ? 0
        : editDistance(word, candidate, bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Damerau-Levenshtein distance on lower case, one row at a time; stops at `limit`. */
function editDistance(left: string, right: string, limit: number): number {
  const [a, b] = [left.toLowerCase(), right.toLowerCase()];
  let [before, above] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) row[j] = cell(a, b, i, j, row, above, before);
    if (Math.min(...row) >= limit) return limit;
    [before, above] = [above, row];
  }
  return above[b.length] ?? limit;
}

function cell(
  a: string,
  b: string,
  i: number,
  j: number,
  row: number[],
  above: number[],
  before: number[],
): number {
  const same = a[i - 1] === b[j - 1] ? 0 : 1;
  const best = Math.min((row[j - 1] ?? 0) + 1, (above[j] ?? 0) + 1, (above[j - 1] ?? 0) + same);
  const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return swapped ? Math.min(best, (before[j - 2] ?? 0) + 1) : best;
}
