import type { Logger } from './log.ts';
import type { Settings } from './settings.ts';

/** The tables of sign-in. Their values may be a hash, a token or an address. */
const SECRET = /\bauth_/;

/**
 * Logs each statement with its time, with `LOG_LEVEL=debug`. With `trace` also its values, but
 * never in production and never those of auth tables. Undefined at other levels.
 */
export function statementNote(
  settings: Settings,
  log: Logger,
): ((sql: string, parameters: readonly unknown[], ms: number) => void) | undefined {
  const level = settings.text('LOG_LEVEL', 'info');
  if (level !== 'debug' && level !== 'trace') return undefined;
  const withValues = level === 'trace' && !settings.production;
  return (sql, parameters, milliseconds) => {
    const ms = Math.round(milliseconds * 100) / 100;
    log.debug({ ms, ...(withValues && !SECRET.test(sql) && { values: parameters }) }, sql);
  };
}
