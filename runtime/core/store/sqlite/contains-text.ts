import type { DatabaseSync } from 'node:sqlite';
import type { ReadText } from '../bounds.ts';

/** The SQL function `twofold_contains(text, part)`: whether a text has a part. */
export const CONTAINS_TEXT = 'twofold_contains';

/** The largest product of two lengths for which comparing at each position is fast. */
const SMALL_PRODUCT = 1_000_000;

export function addContains(database: DatabaseSync, read: ReadText): void {
  database.function(CONTAINS_TEXT, { deterministic: true }, (text, part) => {
    if (text === null || part === null) return null;
    read(String(text).length + String(part).length);
    return Number(containsText(String(text), String(part)));
  });
}

/**
 * Whether `text` has `part`, in a time that grows with the sum of their lengths.
 *
 * @example containsText('Looms', 'oom') // true
 */
export function containsText(text: string, part: string): boolean {
  if (text.length * part.length <= SMALL_PRODUCT) return text.includes(part);
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== letter) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === letter) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/**
 * For each beginning of `part` the length of the longest shorter beginning that it ends with: the
 * table of Knuth, Morris and Pratt.
 */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    const letter = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== letter) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === letter) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
