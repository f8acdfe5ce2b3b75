import { randomUUID } from 'node:crypto';

/** PostgreSQL takes at most 8000 bytes in a notification, including our header. */
const MAX_PAYLOAD_BYTES = 7500;

/**
 * Splits a text into payloads of notifications: the text itself, or numbered parts when it is too
 * long for one. No two payloads are equal, because PostgreSQL delivers equal notifications of one
 * transaction only once.
 *
 * @example partsOf('{"a":1}') // ['{"a":1}']
 */
export function partsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_PAYLOAD_BYTES) return [text];
  const id = randomUUID();
  // Base64 turns three bytes into four, and splitting it never cuts a character in two.
  const encoded = bytes.toString('base64');
  const count = Math.ceil(encoded.length / MAX_PAYLOAD_BYTES);
  return Array.from(
    { length: count },
    (_, index) =>
      `${id} ${index} ${count} ${encoded.slice(index * MAX_PAYLOAD_BYTES, (index + 1) * MAX_PAYLOAD_BYTES)}`,
  );
}

/** Joins the parts of long texts. */
export interface Assembly {
  /** @returns the whole text when `payload` is its last part. */
  add(payload: string): string | undefined;
}

const PART = /^([0-9a-f-]{36}) (\d+) (\d+) ([\w+/=]*)$/;

/**
 * The parts of one text arrive in sequence. An incomplete text is dropped when another begins, so
 * that memory does not grow.
 */
export function createAssembly(): Assembly {
  let id = '';
  let parts: string[] = [];
  return {
    add: (payload) => {
      const found = PART.exec(payload);
      if (!found) return payload;
      const [, from = '', index, count, encoded = ''] = found;
      if (from !== id) [id, parts] = [from, []];
      if (Number(index) !== parts.length) return undefined;
      parts.push(encoded);
      return parts.length === Number(count)
        ? Buffer.from(parts.splice(0).join(''), 'base64').toString()
        : undefined;
    },
  };
}
