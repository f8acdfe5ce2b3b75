import { type Keys, mac, sameText } from '../secrets/keys.ts';

/** The content of a refresh token, before its session is read. */
export interface RefreshClaim {
  readonly sid: string;
  readonly generation: number;
  readonly mac: string;
}

/** The generation of a new session. Generation 0 is never used. */
export const FIRST_GENERATION = 1;

/** Leading zeros are refused, because with them one token could be written in many ways. */
const TOKEN_FORMAT = /^rt1\.([A-Za-z0-9_-]{22})\.([1-9]\d{0,8})\.([A-Za-z0-9_-]{43})$/;

/**
 * A refresh token contains the generation of its session and a MAC: `rt1.<sid>.<generation>.<mac>`.
 * The token itself is not stored, so a copy of the database cannot be used to refresh a session,
 * and the same successor can be issued twice within the grace time.
 */
export function makeRefreshToken(
  keys: Keys,
  sid: string,
  generation: number,
  salt: string,
): string {
  return `rt1.${sid}.${generation}.${mac(keys.derived('refresh'), message(sid, generation, salt))}`;
}

/** Returns the parts of a refresh token without checking the MAC; null when the format is wrong. */
export function readRefreshToken(text: string): RefreshClaim | null {
  const match = TOKEN_FORMAT.exec(text);
  return match && { sid: match[1]!, generation: Number(match[2]), mac: match[3]! };
}

/** Whether this server made the token, with the current or an earlier secret. */
export function isGenuine(keys: Keys, claim: RefreshClaim, salt: string): boolean {
  return keys
    .derivedAll('refresh')
    .some((key) => sameText(claim.mac, mac(key, message(claim.sid, claim.generation, salt))));
}

function message(sid: string, generation: number, salt: string): string {
  return `rt1|${sid}|${generation}|${salt}`;
}
