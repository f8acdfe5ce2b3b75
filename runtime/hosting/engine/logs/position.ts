import type { LogLine, LogPosition, PlacedLine } from '../engine.ts';

/**
 * Adds a position to each line, and omits the lines up to the position `after`. Lines with the same
 * time are distinguished by counting them. After the first line behind `after`, all further lines
 * are returned, even if the machine's clock was set back meanwhile.
 *
 * @example
 * const place = createPlacer({ time: '2026-01-01T00:00:05Z', seen: 2 });
 * place(lines); // without what is before :05, and two lines of :05
 */
export function createPlacer(after?: LogPosition): (lines: readonly LogLine[]) => PlacedLine[] {
  let isHad = after && createHasSeen(after);
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

/** Does the same as `createPlacer` for a stream of lines. */
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
 * Checks whether a reader at this position has already had a line. Positions from a file have
 * nanoseconds, and positions from Podman's stream may have whole seconds. They can be mixed: a line
 * may then be repeated, but none is omitted.
 */
function createHasSeen({
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

/** Compares RFC 3339 times with any number of digits after the second. */
export function compareTimes(a: string, b: string): number {
  if (a === b) return 0;
  // The usual case: in this format, the order of the texts is the order of the times.
  if (a.length === b.length && a.endsWith('Z') && b.endsWith('Z')) return a < b ? -1 : 1;
  const [left, right] = [Date.parse(a), Date.parse(b)];
  if (Math.floor(left / 1000) !== Math.floor(right / 1000)) return left - right;
  return fraction(a) < fraction(b) ? -1 : fraction(a) > fraction(b) ? 1 : 0;
}

const fraction = (time: string) => (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(9, '0');

/** The time in whole Unix seconds, as engines accept it in `since`. */
export const toUnixSecond = (time: string): number => Math.floor(Date.parse(time) / 1000);
