import sonicBoom from 'sonic-boom';
import { createLog, type Destination, LEVELS, type Logger, type LogOptions } from './log.ts';
import type { Settings } from './settings.ts';

const NAMES: readonly string[] = [...Object.keys(LEVELS), 'silent'];

/** Keys whose values never reach the log, at the top level and one level below. */
const SECRET = [
  'password',
  'new_password',
  'current_password',
  'token',
  'accessToken',
  'refreshToken',
  'secret',
  'authorization',
  'cookie',
  'code',
  'api_key',
  'apiKey',
];

/** The format of log lines: `json` for programs, `pretty` for people. */
export type LogFormat = 'json' | 'pretty';

/** Options of a logger that are not settings. */
export interface LoggerOptions {
  /** Where lines go, for tests. */
  readonly destination?: Destination | undefined;
  /** See `LogOptions`. */
  readonly around?: LogOptions['around'];
  /** Called with every line as JSON, whatever the format of the output. */
  readonly note?: ((line: string) => void) | undefined;
}

/** The server's log, in the format of `logFormat`. `LOG_LEVEL` says which lines are written. */
export function createLogger(
  settings: Settings,
  { destination, around, note }: LoggerOptions = {},
): Logger {
  const level = settings.text('LOG_LEVEL', 'info');
  if (!isLevel(level)) settings.problem(`LOG_LEVEL must be one of ${NAMES.join(', ')}`);
  const output = destination ?? standardOutput();
  const formatted =
    logFormat(settings, destination !== undefined) === 'pretty'
      ? { ...output, ...prettyLines((text) => output.write(text)) }
      : output;
  return createLog(
    { level: isLevel(level) ? level : 'info', secret: SECRET, ...(around && { around }) },
    note ? noted(formatted, note) : formatted,
  );
}

const noted = (output: Destination, note: (line: string) => void): Destination => ({
  write: (line) => {
    note(line);
    return output.write(line);
  },
  ...(output.flushSync && { flushSync: () => output.flushSync!() }),
});

/**
 * `LOG_FORMAT`. When it is absent: lines for people on a terminal and under `generator dev`, but
 * never in production; else one JSON document a line.
 *
 * @param given whether the output is another one than the standard output.
 */
export function logFormat(settings: Settings, given = false): LogFormat {
  const format = settings.text('LOG_FORMAT');
  if (format === 'json' || format === 'pretty') return format;
  if (format !== undefined) settings.problem('LOG_FORMAT must be json or pretty');
  const watched = process.stdout.isTTY || settings.text(DEV) !== undefined;
  return watched && !settings.production && !given ? 'pretty' : 'json';
}

/** `generator dev` sets it. */
const DEV = 'TWOFOLD_DEV';

const isLevel = (text: string): text is LogOptions['level'] => NAMES.includes(text);

/** Writes asynchronously, so that a slow reader of the log does not delay requests. */
function standardOutput(): Destination {
  const stream = new sonicBoom.SonicBoom({ fd: 1, sync: false });
  let gone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of the log has exited: the server goes on without a log.
    if (error.code !== 'EPIPE') throw error;
    gone = true;
  });
  const destination: Destination = {
    write: (line) => gone || stream.write(line),
    flushSync: () => {
      if (!gone) stream.flushSync();
    },
  };
  process.on('exit', () => destination.flushSync?.());
  return destination;
}

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
function prettyLines(write: (text: string) => void): Destination {
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
