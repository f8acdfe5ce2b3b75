import { randomUUID } from 'node:crypto';

/** PostgreSQL takes at most 8000 bytes in a notification, head and all. */
const LONGEST = 7500;

/**
 * A text as notifications carry it: as it is, or in numbered parts when it is too long for one. No two of them are equal,
 * because PostgreSQL tells equal ones of a transaction once.
 *
 * @example partsOf('{"a":1}') // ['{"a":1}']
 */
export function partsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  if (bytes.length <= LONGEST) return [text];
  const id = randomUUID();
  // Base64 makes four bytes of three, and no part of it ends in the middle of a character.
  const encoded = bytes.toString('base64');
  const count = Math.ceil(encoded.length / LONGEST);
  return Array.from(
    { length: count },
    (_, index) =>
      `${id} ${index} ${count} ${encoded.slice(index * LONGEST, (index + 1) * LONGEST)}`,
  );
}

/** Puts texts together again. */
export interface Assembly {
  /** @returns the text when this is the last part of one. */
  add(payload: string): string | undefined;
}

const PART = /^([0-9a-f-]{36}) (\d+) (\d+) ([\w+/=]*)$/;

/** Parts of one text follow each other: what is left of another is dropped, so that nothing gathers. */
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
