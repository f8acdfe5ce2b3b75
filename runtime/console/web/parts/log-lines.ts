import { signal } from '@preact/signals';
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

const KEPT = 100_000;
/**
 * The oldest lines are dropped only when there are this many too many, because moving all lines is
 * slow.
 */
const SLACK = 5_000;

/**
 * The last 100,000 lines of a log, oldest first, for a `LogView`.
 *
 * @example
 * const lines = new LogLines();
 * lines.append([{ id: '1', text: 'listening on :8080', level: 'info', time: '2026-11-23T08:00:00Z' }]);
 */
export class LogLines {
  /** Changes with every new line, so that the page draws again. */
  readonly version = signal(0);
  /** How many lines are kept. */
  readonly count = signal(0);
  /** How many lines are missing: dropped by the server, or by this page to stay small. */
  readonly skipped = signal(0);
  #lines: LogLine[] = [];
  /** The matching lines. While every line matches, this is the array of all lines itself. */
  #shown = this.#lines;
  #filter: LogFilter = { search: '', level: null };
  #accepts = acceptor(this.#filter);
  #begins = 0;

  append(more: readonly LogLine[]): void {
    for (const line of more) {
      this.#lines.push(line);
      if (this.#accepts?.(line)) this.#shown.push(line);
    }
    const over = this.#lines.length - KEPT;
    if (over >= SLACK) {
      this.skipped.value += over;
      this.#replace(this.#lines.slice(over));
    }
    this.#changed();
  }

  /** Adds older lines above. */
  prepend(older: readonly LogLine[]): void {
    this.#replace([...older, ...this.#lines]);
    this.#changed();
  }

  /** Notes that lines are missing; null when their number is not known. */
  skip(missing: number | null): void {
    this.skipped.value += missing ?? 0;
    this.#changed();
  }

  clear(): void {
    this.#lines = [];
    this.skipped.value = 0;
    this.#search();
    this.#changed();
  }

  /** The lines that match, kept up to date at the cost of new lines only. */
  matching(next: LogFilter): readonly LogLine[] {
    if (next.search !== this.#filter.search || next.level !== this.#filter.level) {
      this.#filter = next;
      this.#accepts = acceptor(next);
      this.#search();
    }
    return this.#shown;
  }

  /** All kept lines, the oldest first. */
  all(): readonly LogLine[] {
    return this.#lines;
  }

  /**
   * The number of the first matching line. Only differences count: it grows by the matching lines
   * that were dropped at the top, and falls by those that were added there, so that a view keeps
   * its place.
   */
  begins(): number {
    return this.#begins;
  }

  /** Replaces the lines by others with the same end. */
  #replace(lines: LogLine[]): void {
    this.#lines = lines;
    this.#begins += this.#shown.length;
    this.#search();
    this.#begins -= this.#shown.length;
  }

  #search(): void {
    this.#shown = this.#accepts ? this.#lines.filter(this.#accepts) : this.#lines;
  }

  #changed(): void {
    this.count.value = this.#lines.length;
    this.version.value += 1;
  }
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
