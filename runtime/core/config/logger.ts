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

/**
 * The server's log: one JSON document a line on standard output, or plain lines on a terminal.
 * `LOG_LEVEL` sets how much. `destination` is for tests.
 */
export function createLogger(settings: Settings, destination?: Destination): Logger {
  const level = settings.text('LOG_LEVEL', 'info');
  if (!isLevel(level)) settings.problem(`LOG_LEVEL must be one of ${NAMES.join(', ')}`);
  const onTerminal = process.stdout.isTTY && !settings.production;
  return createLog(
    { level: isLevel(level) ? level : 'info', secret: SECRET },
    destination ?? (onTerminal ? terminal() : standardOutput()),
  );
}

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

/** Prints `12:03:11 warn the message  key=value` on a terminal. */
function terminal(): Destination {
  return {
    write: (line) => {
      const { time, level, msg, ...rest } = JSON.parse(line) as {
        time: number;
        level: number;
        msg?: string;
      };
      const { stack, ...fields } = rest as { stack?: string };
      const details = Object.entries(fields).map(
        ([key, value]) => `  ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      );
      const name = Object.entries(LEVELS).find(([, number]) => number === level)?.[0];
      process.stdout.write(
        `${new Date(time).toTimeString().slice(0, 8)} ${name} ${msg ?? ''}${details.join('')}\n${stack ? `${stack}\n` : ''}`,
      );
    },
  };
}
