import { setImmediate as turn } from 'node:timers/promises';
import { createMatcher, type LogEntry, type LogFilter } from './entry.ts';
import type { LineRing } from './line-ring.ts';

/** A page of lines, the newest first. */
export interface LogPageQuery extends LogFilter {
  readonly limit: number;
  /** The id of the last line of the page before. */
  readonly cursor?: string;
}

export interface LogPage {
  readonly lines: readonly LogEntry[];
  readonly next_cursor: string | null;
}

/** The lines after a position, oldest first. */
export interface LogBatchQuery extends LogFilter {
  /** The id of a line. With null, the batch begins with the last `limit` lines. */
  readonly after: string | null;
  readonly limit: number;
}

export interface LogBatch {
  readonly lines: readonly LogEntry[];
  /** Where to go on. */
  readonly after: string;
  /** How many lines were dropped before they could be read; null after a restart of the server. */
  readonly dropped: number | null;
}

/** Lines that are looked at before other work of the process gets a turn. */
const TURN = 2000;
/** A batch is one event of a stream, so it has at most these lines and bytes. */
const BATCH_LINES = 1000;
const BATCH_BYTES = 1024 * 1024;

/** Reads the lines of a ring. `boot` names this start of the server in the ids of lines. */
export interface LogReader {
  page(query: LogPageQuery): Promise<LogPage>;
  batch(query: LogBatchQuery): Promise<LogBatch>;
}

export function createLogReader(ring: LineRing, boot: string): LogReader {
  const idOf = (number: number) => `${boot}-${number}`;
  /** The number of a line of this start; null for an id of another one. */
  const numberOf = (id: string): number | null => {
    const [of, digits = ''] = id.split('-');
    return of === boot && /^-?\d{1,15}$/.test(id.slice(boot.length + 1))
      ? Number(digits || -1)
      : null;
  };

  /**
   * The last lines before a number, newest first. One line more than `limit` shows that there are
   * others.
   */
  async function lastBefore(end: number, limit: number, filter: LogFilter): Promise<LogEntry[]> {
    const match = createMatcher(filter);
    const found: LogEntry[] = [];
    for (let number = end - 1; number >= ring.first() && found.length < limit; number -= 1) {
      if ((end - number) % TURN === 0) await turn();
      const line = ring.at(number);
      const entry = line === undefined ? undefined : match(idOf(number), line);
      if (entry) found.push(entry);
    }
    return found;
  }

  async function page({ limit, cursor, ...filter }: LogPageQuery): Promise<LogPage> {
    const end = cursor === undefined ? ring.next() : numberOf(cursor);
    if (end === null) return { lines: [], next_cursor: null };
    const found = await lastBefore(Math.min(end, ring.next()), limit + 1, filter);
    const lines = found.slice(0, limit);
    return { lines, next_cursor: found.length > limit ? lines.at(-1)!.id : null };
  }

  async function batch({ after, limit, ...filter }: LogBatchQuery): Promise<LogBatch> {
    if (after === null) {
      const end = ring.next();
      const lines = (await lastBefore(end, limit, filter)).toReversed();
      return { lines, after: idOf(end - 1), dropped: 0 };
    }
    const last = numberOf(after);
    const isOurs = last !== null && last < ring.next();
    const from = isOurs ? Math.max(last + 1, ring.first()) : ring.first();
    const dropped = isOurs ? from - (last + 1) : null;
    return { ...linesFrom(from, filter), dropped };
  }

  function linesFrom(from: number, filter: LogFilter): Pick<LogBatch, 'lines' | 'after'> {
    const match = createMatcher(filter);
    const lines: LogEntry[] = [];
    let [number, bytes] = [from, 0];
    for (; number < Math.min(ring.next(), from + TURN); number += 1) {
      if (lines.length >= BATCH_LINES || bytes > BATCH_BYTES) break;
      const line = ring.at(number)!;
      const entry = match(idOf(number), line);
      if (!entry) continue;
      lines.push(entry);
      bytes += line.length;
    }
    return { lines, after: idOf(number - 1) };
  }

  return { page, batch };
}
