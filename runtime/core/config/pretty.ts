import { type Destination, LEVELS } from './log.ts';

/** The fields of a line that have a position of their own in the output. */
interface Line {
  readonly time: number;
  readonly level: number;
  readonly msg?: string;
  readonly stack?: string;
  readonly err?: { readonly stack?: string; readonly message?: string; readonly cause?: unknown };
  readonly [field: string]: unknown;
}

/**
 * Prints lines for people: `12:03:11.412 warn  the message  key=value`, and below it the stack of
 * an error with those of its causes.
 */
export function prettyLines(write: (text: string) => void): Destination {
  return { write: (line) => write(prettyLine(JSON.parse(line) as Line)) };
}

function prettyLine({ time, level, msg = '', stack, err, ...fields }: Line): string {
  const name = Object.entries(LEVELS).find(([, number]) => number === level)?.[0] ?? '';
  const details = Object.entries(fields).map(
    ([key, value]) => `  ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = `${timeOf(time)} ${name.padEnd(5)} ${msg}${details.join('')}`;
  return `${[head, stack, ...stacksOf(err)].filter((text) => text !== undefined).join('\n')}\n`;
}

/** The local time of day, with milliseconds. */
function timeOf(time: number): string {
  const date = new Date(time);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

function stacksOf(error: Line['err'], deepest = 5): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const own = error.stack ?? error.message ?? '';
  const causes = deepest === 0 ? [] : stacksOf(error.cause as Line['err'], deepest - 1);
  return [own, ...causes.map((text) => `caused by: ${text}`)];
}
