import { createHash } from 'node:crypto';

/**
 * A strong validator of an answer's bytes. RFC 9110 §8.8.3
 *
 * @example etagOf('{"id":"1"}') // '"k3…"'
 */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

/** Whether a header lists the tag, or is `*`. `weak`: ignores `W/`, as `If-None-Match` does. */
export function hasTag(header: string, tag: string, weak = false): boolean {
  if (header.trim() === '*') return true;
  const tags = [...header.matchAll(/(?:W\/)?"[^"]*"/g)].map(([found]) =>
    weak ? found.replace(/^W\//, '') : found,
  );
  return tags.includes(tag);
}
