import type { Asker } from '../bounds.ts';
import { DatabaseLost, isNotYet, type LostOutcome, READ_ONLY } from '../unreachable.ts';
import type { Presence } from './presence.ts';

/** How often, because a statement may be what ends its connection. */
const MOST_LOST = 3;

/** Runs again what a lost connection has ended before it changed anything. */
export async function reached<T>(run: () => Promise<T>, asker?: Asker): Promise<T> {
  for (let lost = 0; ; lost += 1) {
    try {
      return await run();
    } catch (error) {
      const again = error instanceof DatabaseLost && error.again && lost < MOST_LOST;
      if (!again || asker?.cancelled) throw error;
    }
  }
}

/**
 * The error of a statement, which may be that of its connection.
 *
 * @param outcome what is known of the write when its connection was lost in the middle.
 */
export async function lossOf(
  presence: Presence,
  error: unknown,
  outcome: LostOutcome | undefined,
): Promise<unknown> {
  if (error instanceof DatabaseLost)
    return error.outcome || !outcome ? error : new DatabaseLost('none', error.cause, error.again);
  if ((error as { readonly code?: string }).code === READ_ONLY)
    return (await presence.refused()) ? new DatabaseLost(outcome && 'none', error, true) : error;
  if (!isNotYet(error)) return error;
  presence.suspect();
  return new DatabaseLost(outcome, error, outcome !== 'unknown');
}

const SELECT = /^\s*(?:select|with)\b/i;
const WRITES = /\b(?:insert|update|delete|merge|for\s+(?:no\s+key\s+)?(?:update|share))\b/i;
/** The first thing that is read, and whether it is a function, which may write. */
const SOURCE = /\bfrom\s+([\w."]+)\s*(\()?/i;

/** Whether a statement only reads, so that it may be done twice. */
export function isRead(text: string): boolean {
  if (!SELECT.test(text) || WRITES.test(text)) return false;
  const source = SOURCE.exec(text);
  return source !== null && source[2] === undefined;
}
