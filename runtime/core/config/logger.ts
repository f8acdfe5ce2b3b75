import { pino, type DestinationStream, type Logger } from 'pino';
import type { Settings } from './settings.ts';

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Keys whose values never reach the log, at the top and one level down. */
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
 * The server's log: one JSON document a line on standard output, or plain lines on a terminal. `LOG_LEVEL` sets how much.
 * `destination` is for tests.
 */
export function createLogger(settings: Settings, destination?: DestinationStream): Logger {
  const level = settings.text('LOG_LEVEL', 'info');
  if (!LEVELS.includes(level)) settings.problem(`LOG_LEVEL must be one of ${LEVELS.join(', ')}`);
  const redact = { paths: SECRET.flatMap((key) => [key, `*.${key}`]), censor: '[secret]' };
  const options = { level: LEVELS.includes(level) ? level : 'info', redact, base: null };
  return pino(
    options,
    destination ??
      (process.stdout.isTTY && !settings.production
        ? terminal()
        : pino.destination({ dest: 1, sync: false })),
  );
}

/** `12:03:11 warn the message  key=value`, for a person who watches. */
function terminal(): DestinationStream {
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
      process.stdout.write(
        `${new Date(time).toTimeString().slice(0, 8)} ${pino.levels.labels[level]} ${msg ?? ''}${details.join('')}\n${stack ? `${stack}\n` : ''}`,
      );
    },
  };
}
