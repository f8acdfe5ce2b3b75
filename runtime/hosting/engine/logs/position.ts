import type { LogLine, LogPosition, PlacedLine } from '../engine.ts';

/**
 * Counts lines as they come, so that each says where a reader is that has had it, and leaves out
 * what a reader at `after` has had: lines of one time are distinguished by counting. Once a line is
 * after it, so is every later one, whatever the machine's clock has done meanwhile.
 *
 * @example
 * const place = createPlacer({ time: '2026-01-01T00:00:05Z', seen: 2 });
 * place(lines); // without what is before :05, and two lines of :05
 */
export function createPlacer(after?: LogPosition): (lines: readonly LogLine[]) => PlacedLine[] {
  let isHad = after && createIsHad(after);
  let time = '';
  let seen = 0;
  return (lines) => {
    const placed: PlacedLine[] = [];
    for (const { stream, time: at, text } of lines) {
      seen = at === time ? seen + 1 : 1;
      time = at;
      if (isHad?.(at, seen)) continue;
      isHad = undefined;
      placed.push({ stream, time, text, seen });
    }
    return placed;
  };
}

/** As `createPlacer`, of a stream of lines. */
export async function* linesAfter(
  batches: AsyncIterable<readonly LogLine[]>,
  after: LogPosition | undefined,
): AsyncGenerator<PlacedLine[]> {
  const place = createPlacer(after);
  for await (const batch of batches) {
    const placed = place(batch);
    if (placed.length > 0) yield placed;
  }
}

/**
 * Whether a reader at a position has had a line. An engine's stream may have whole seconds where
 * its file has nanoseconds: a position of the one holds for the other, and a line may come twice
 * then, but none is left out.
 */
function createIsHad({
  time: last,
  seen: had,
}: LogPosition): (time: string, seen: number) => boolean {
  const whole = toSecond(last);
  let second = '';
  let inSecond = 0;
  return (time, seen) => {
    if (hasFraction(time) === hasFraction(last))
      return isWithin(compareTimes(time, last), seen, had);
    const order = compareTimes(toSecond(time), whole);
    if (hasFraction(last)) return order < 0;
    inSecond = toSecond(time) === second ? inSecond + 1 : 1;
    second = toSecond(time);
    return isWithin(order, inSecond, had);
  };
}

const isWithin = (order: number, seen: number, had: number) =>
  order < 0 || (order === 0 && seen <= had);
const hasFraction = (time: string) => time.charCodeAt(19) === 46;
const toSecond = (time: string) => time.replace(/\.\d+/, '');

/** Compares RFC 3339 times, with any number of digits after the second. */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  // As engines print them nearly always: then their text is in their order.
  if (a.length === b.length && a.endsWith('Z') && b.endsWith('Z')) return a < b ? -1 : 1;
  const [left, right] = [Date.parse(a), Date.parse(b)];
  if (Math.floor(left / 1000) !== Math.floor(right / 1000)) return left - right;
  return fraction(a) < fraction(b) ? -1 : fraction(a) > fraction(b) ? 1 : 0;
}

const fraction = (time: string) => (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(9, '0');

/** The whole second of a line's time: what engines take as `since`. */
export const second = (time: string): number => Math.floor(Date.parse(time) / 1000);
