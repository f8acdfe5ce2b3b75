import { BEGINNING } from './entry.ts';

/** The last lines of a log. Each has a number, and numbers grow by one. */
export interface LineRing {
  add(line: string): void;
  /** The line with a number; undefined when it was dropped or does not exist yet. */
  at(number: number): string | undefined;
  /** The number of the oldest line that is kept. */
  first(): number;
  /** The number that the next line gets. */
  next(): number;
}

interface Limits {
  readonly lines: number;
  readonly bytes: number;
}

const KEPT: Limits = { lines: 50_000, bytes: 16 * 1024 * 1024 };
/**
 * Bytes above which a line is cut, so that one event is never larger than what a reader may cost.
 */
const LONGEST = 64 * 1024;

/**
 * Keeps the last 50,000 lines, or 16 MiB of them.
 *
 * @example
 * const ring = createLineRing();
 * ring.add('{"level":30,"time":1764000000000,"msg":"listening"}\n');
 * ring.at(ring.first());
 */
export function createLineRing(limits: Limits = KEPT): LineRing {
  let lines: string[] = [];
  // Lines before this index are dropped. The array is cut only from time to time, because that is
  // slow.
  let head = 0;
  let [number, bytes] = [0, 0];
  const drop = () => {
    bytes -= Buffer.byteLength(lines[head]!);
    lines[head] = '';
    head += 1;
    if (head < limits.lines / 4) return;
    lines = lines.slice(head);
    head = 0;
  };
  const first = () => number - (lines.length - head);
  return {
    add: (line) => {
      const kept = line.length > LONGEST ? cut(line) : line;
      lines.push(kept);
      number += 1;
      bytes += Buffer.byteLength(kept);
      while (lines.length - head > limits.lines || bytes > limits.bytes) drop();
    },
    at: (asked) => (asked < first() ? undefined : lines[head + asked - first()]),
    first,
    next: () => number,
  };
}

/** The beginning of the message of a line that is too long, as a line. */
function cut(line: string): string {
  const { requestId, msg } = JSON.parse(line) as Record<string, unknown>;
  const [beginning = '{"level":30,"time":0'] = BEGINNING.exec(line) ?? [];
  const rest = {
    ...(typeof requestId === 'string' && { requestId: requestId.slice(0, 100) }),
    ...(typeof msg === 'string' && { msg: msg.slice(0, LONGEST / 8) }),
    cut_characters: line.length,
  };
  return `${beginning},${JSON.stringify(rest).slice(1)}\n`;
}
