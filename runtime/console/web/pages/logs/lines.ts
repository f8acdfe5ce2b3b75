import type { LogLevel, LogLine } from '../../parts/log-lines.ts';

/** A line of `GET /api/system/logs`. */
export interface LogEntry {
  readonly id: string;
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
  readonly request_id: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * A line of the server: its message, then its fields, then the stack of an error, which is seen when
 * the line is opened.
 */
export function serverLine({ id, time, level, message, request_id, fields }: LogEntry): LogLine {
  const end = message.indexOf('\n');
  const [first, rest] = end < 0 ? [message, ''] : [message.slice(0, end), message.slice(end)];
  const { err, stack, ...others } = fields;
  const pairs = Object.entries(others).map(([name, value]) => `  ${name}=${shown(value)}`);
  const stacks = [stack, ...stacksOf(err)].map((text) => `\n${String(text)}`).slice(stack ? 0 : 1);
  return {
    ...{ id, time, level },
    text: `${first}${pairs.join('')}${rest}${stacks.join('')}`,
    also: request_id ?? '',
    details: request_id === null ? others : { request_id, ...others },
  };
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

interface LoggedError {
  readonly stack?: string;
  readonly message?: string;
  readonly cause?: unknown;
}

/** The stack of an error, then those of its causes. */
function stacksOf(error: unknown, deepest = 5): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { stack, message = '', cause } = error as LoggedError;
  const causes = deepest === 0 ? [] : stacksOf(cause, deepest - 1);
  return [stack ?? message, ...causes.map((text) => `caused by: ${text}`)];
}

let made = 0;

/** A line of an app: `2026-11-23T08:00:00.000000000Z the text`. */
export function appLine(data: string): LogLine {
  const space = data.indexOf(' ');
  const time = space < 0 ? '' : data.slice(0, space);
  const isTime = /^\d{4}-\d\d-\d\dT/.test(time);
  return {
    id: `app-${(made += 1)}`,
    time: isTime ? time : null,
    text: isTime ? data.slice(space + 1) : data,
  };
}
