import type { LogLine } from './engine.ts';

/** How far a reader has come in one container's output: the time of the last line, and how many of that time it has had. */
export interface LogPosition {
  readonly time: string;
  readonly seen: number;
}

/** A line, and how far a reader has come that has had it. */
export interface PlacedLine extends LogLine {
  readonly position: LogPosition;
}

/**
 * The lines that a reader at `position` has not had, each with the position after it. `since` has whole seconds on
 * Podman and repeats lines; lines of the same time are told apart by counting.
 *
 * @example
 * linesAfter(logs, { time: '2026-01-01T00:00:05Z', seen: 2 }) // skips what is before :05, and two lines of :05
 */
export async function* linesAfter(batches: AsyncIterable<readonly LogLine[]>, position: LogPosition | undefined): AsyncGenerator<PlacedLine[]> {
  let time = '';
  let seen = 0;
  for await (const batch of batches) {
    const placed: PlacedLine[] = [];
    for (const { stream, time: at, text } of batch) {
      seen = at === time ? seen + 1 : 1;
      time = at;
      if (!position || isAfter(time, seen, position)) placed.push({ stream, time, text, position: { time, seen } });
    }
    if (placed.length > 0) yield placed;
  }
}

function isAfter(time: string, seen: number, position: LogPosition): boolean {
  const order = compareTimes(time, position.time);
  return order > 0 || (order === 0 && seen > position.seen);
}

/** Compares RFC 3339 times, with any number of digits after the second. Both engines print them in one zone each. */
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
