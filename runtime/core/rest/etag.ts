import { createHash } from 'node:crypto';
import type { JsonText } from '../store/large-text.ts';

/**
 * A strong validator of an answer's bytes. RFC 9110 §8.8.3
 *
 * @example etagOf('{"id":"1"}') // '"k3…"'
 */
export function etagOf(text: JsonText): string {
  const hash = createHash('sha256');
  for (const piece of typeof text === 'string' ? [text] : text.pieces) hash.update(piece);
  return `"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Whether a header lists the tag, or is `*`. `weak`: ignores `W/`, as `If-None-Match` does. */
export function hasTag(header: string, tag: string, weak = false): boolean {
  if (header.trim() === '*') return true;
  const tags = [...header.matchAll(/(?:W\/)?"[^"]*"/g)].map(([found]) =>
    weak ? found.replace(/^W\//, '') : found,
  );
  return tags.includes(tag);
}
