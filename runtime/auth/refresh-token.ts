import type { Keys } from './keys.ts';
import { mac, sameText } from './keys.ts';

/** What a refresh token says of itself before its session is read. */
export interface RefreshClaim {
  readonly sid: string;
  readonly generation: number;
  readonly mac: string;
}

/** The generation of a new session. Number 0 is never handed out. */
export const FIRST_GENERATION = 1;

/** One way to write each number: with leading zeros one token would have many texts. */
const SHAPE = /^rt1\.([A-Za-z0-9_-]{22})\.([1-9]\d{0,8})\.([A-Za-z0-9_-]{43})$/;

/**
 * A refresh token is a number that its session counts up, under a MAC:
 * `rt1.<sid>.<generation>.<mac>`. Nothing of it is stored, so a copy of the database opens no
 * session, and the same successor can be given twice within the grace time.
 */
export function makeRefreshToken(
  keys: Keys,
  sid: string,
  generation: number,
  salt: string,
): string {
  return `rt1.${sid}.${generation}.${mac(keys.derived('refresh'), message(sid, generation, salt))}`;
}

/** The parts of a refresh token, unchecked; null when it has another shape. */
export function readRefreshToken(text: string): RefreshClaim | null {
  const match = SHAPE.exec(text);
  return match && { sid: match[1]!, generation: Number(match[2]), mac: match[3]! };
}

/** Whether we made this token, now or under an earlier secret. */
export function isGenuine(keys: Keys, claim: RefreshClaim, salt: string): boolean {
  return keys
    .derivedAll('refresh')
    .some((key) => sameText(claim.mac, mac(key, message(claim.sid, claim.generation, salt))));
}

function message(sid: string, generation: number, salt: string): string {
  return `rt1|${sid}|${generation}|${salt}`;
}
