import { type Level, LEVELS } from '../config/log.ts';

/** A line of the log as data. */
export interface LogEntry {
  /** Names the start of the server and the number of the line: `mfx3k2a1-42`. */
  readonly id: string;
  /** RFC 3339. */
  readonly time: string;
  readonly level: Level;
  readonly message: string;
  readonly request_id: string | null;
  /** All other fields of the line. */
  readonly fields: Readonly<Record<string, unknown>>;
}

const NAMES = new Map<unknown, Level>(
  Object.entries(LEVELS).map(([name, number]) => [number, name as Level]),
);

/**
 * The beginning of every line of the log. It is anchored, because a field of the project may also
 * have the name `level` or `time`.
 */
export const BEGINNING = /^\{"level":(\d+),"time":(\d+)/;

/** Reads a line, which is a JSON document. */
function readEntry(id: string, line: string): LogEntry {
  const { level: _level, time: _time, msg = '', requestId = null, ...fields } = JSON.parse(line);
  const [, level, time] = BEGINNING.exec(line) ?? [];
  return {
    id,
    time: new Date(Number(time ?? 0)).toISOString(),
    level: NAMES.get(Number(level)) ?? 'info',
    message: String(msg),
    request_id: requestId === null ? null : String(requestId),
    fields,
  };
}

/** A filter for lines of the log. */
export interface LogFilter {
  /** The least level. */
  readonly level?: Level;
  /** A text that the line has, in upper or lower case. */
  readonly q?: string;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly until?: number;
}

/** Tests lines as they were written, and parses only those that may match. */
export function createMatcher({ level = 'trace', q = '', since, until }: LogFilter) {
  const [least, wanted] = [LEVELS[level], q.toLowerCase()];
  // The text as it is escaped in JSON. Names of fields may contain it too, so a line that matches
  // is parsed and tested again.
  const written = JSON.stringify(q).slice(1, -1).toLowerCase();
  return (id: string, line: string): LogEntry | undefined => {
    if (levelOf(line) < least) return undefined;
    if (written !== '' && !line.toLowerCase().includes(written)) return undefined;
    const entry = readEntry(id, line);
    const time = Date.parse(entry.time);
    if ((since !== undefined && time < since) || (until !== undefined && time > until))
      return undefined;
    return wanted === '' || textOf(entry).includes(wanted) ? entry : undefined;
  };
}

/** A line begins with `{"level":30,`. */
const levelOf = (line: string): number => Number.parseInt(line.slice(9, 12), 10);

const textOf = ({ message, request_id: id, fields }: LogEntry): string =>
  [message, id ?? '', ...textsIn(fields)].join('\n').toLowerCase();

/** The values of fields, with their names: `status=500`. */
function* textsIn(fields: object): Generator<string> {
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'object' && value !== null) yield* textsIn(value);
    else yield `${name}=${value}`;
}
