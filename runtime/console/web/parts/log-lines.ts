import { type Signal, signal } from '@preact/signals';
import { withoutAnsi } from './ansi.ts';

/** Severities, the least first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** One line of a log, of any source. */
export interface LogLine {
  readonly id: string;
  /** May have ANSI colours, carriage returns and several lines, as a stack. */
  readonly text: string;
  /** RFC 3339; null where the source gives none. */
  readonly time?: string | null;
  readonly level?: LogLevel | null;
  /** A text that is searched too, and not shown in its row: the id of the request. */
  readonly also?: string;
  /** Shown when the line is opened. */
  readonly details?: unknown;
}

/** A filter for the lines of a log. */
export interface LogFilter {
  /** Only lines that contain this text are shown. Upper and lower case are equal. */
  readonly search: string;
  readonly level: LogLevel | null;
}

/**
 * The lines of a log that a page keeps, oldest first. `version` changes with every new line, so
 * that the page draws again.
 */
export interface LogLines {
  readonly version: Signal<number>;
  /** How many lines are kept. */
  readonly count: Signal<number>;
  /** How many lines are missing: dropped by the server, or by this page to stay small. */
  readonly skipped: Signal<number>;
  append(lines: readonly LogLine[]): void;
  /** Adds older lines above. */
  prepend(lines: readonly LogLine[]): void;
  /** Notes that lines are missing; null when their number is not known. */
  skip(lines: number | null): void;
  clear(): void;
  /** The lines that match, kept up to date at the cost of new lines only. */
  matching(filter: LogFilter): readonly LogLine[];
  /** All kept lines, the oldest first. */
  all(): readonly LogLine[];
  /**
   * The number of the first matching line. Only differences count: it grows by the matching lines
   * that were dropped at the top, and falls by those that were added there, so that a view keeps
   * its place.
   */
  begins(): number;
}

const KEPT = 100_000;
/**
 * The oldest lines are dropped only when there are this many too many, because moving all lines is
 * slow.
 */
const SLACK = 5_000;

/**
 * Keeps the last 100,000 lines of a log for a `LogView`.
 *
 * @example
 * const lines = createLogLines();
 * lines.append([{ id: '1', text: 'listening on :8080', level: 'info', time: '2026-11-23T08:00:00Z' }]);
 */
export function createLogLines(most = KEPT): LogLines {
  let lines: LogLine[] = [];
  // The matching lines. While every line matches, this is the array of all lines itself.
  let shown = lines;
  let filter: LogFilter = { search: '', level: null };
  let accepts = acceptor(filter);
  let begins = 0;
  const [version, count, skipped] = [signal(0), signal(0), signal(0)];
  const changed = () => {
    count.value = lines.length;
    version.value += 1;
  };
  const again = () => (shown = accepts ? lines.filter(accepts) : lines);
  const trim = () => {
    const over = lines.length - most;
    if (over < Math.min(SLACK, most)) return;
    skipped.value += over;
    lines = lines.slice(over);
    begins += shown.length;
    again();
    begins -= shown.length;
  };
  return {
    ...{ version, count, skipped },
    append: (more) => {
      for (const line of more) {
        lines.push(line);
        if (accepts?.(line)) shown.push(line);
      }
      trim();
      changed();
    },
    prepend: (older) => {
      lines = [...older, ...lines];
      begins += shown.length;
      again();
      begins -= shown.length;
      changed();
    },
    skip: (missing) => {
      skipped.value += missing ?? 0;
      changed();
    },
    clear: () => {
      lines = [];
      skipped.value = 0;
      again();
      changed();
    },
    matching: (next) => {
      if (next.search !== filter.search || next.level !== filter.level) {
        filter = next;
        accepts = acceptor(filter);
        again();
      }
      return shown;
    },
    all: () => lines,
    begins: () => begins,
  };
}

/** Undefined accepts every line. */
function acceptor({ search, level }: LogFilter): ((line: LogLine) => boolean) | undefined {
  const least = level === null ? 0 : LOG_LEVELS.indexOf(level);
  if (search === '' && least === 0) return undefined;
  const wanted = new RegExp(RegExp.escape(search), 'iu');
  return (line) =>
    severe(line, least) && (wanted.test(withoutAnsi(line.text)) || wanted.test(line.also ?? ''));
}

/** A line without a level is shown at every level. */
const severe = ({ level }: LogLine, least: number): boolean =>
  level === null || level === undefined || LOG_LEVELS.indexOf(level) >= least;
