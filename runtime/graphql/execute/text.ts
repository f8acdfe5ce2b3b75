import { GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLString, type GraphQLType } from 'graphql';
import type { Text } from './field.ts';

/** Values that a scalar of the specification writes as they are. */
export type Leaf = 'text' | 'integer' | 'number' | 'truth';

export function leafOf(type: GraphQLType): Leaf | undefined {
  if (type === GraphQLString || type === GraphQLID) return 'text';
  if (type === GraphQLInt) return 'integer';
  if (type === GraphQLFloat) return 'number';
  return type === GraphQLBoolean ? 'truth' : undefined;
}

/** JSON of such a value; undefined for one that the scalar has to look at. */
export function leafText(leaf: Leaf, value: unknown): string | undefined {
  if (typeof value === 'string') return leaf === 'text' ? quote(value) : undefined;
  if (typeof value === 'number') return leaf === 'integer' ? ((value | 0) === value ? String(value) : undefined) : leaf === 'number' && Number.isFinite(value) ? String(value) : undefined;
  return typeof value === 'boolean' && leaf === 'truth' ? String(value) : undefined;
}

/** What JSON writes in another way: quotes, backslashes, control characters, halves of surrogate pairs. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** A text in JSON. Most have nothing to escape, and are found to be so faster than they are written. */
export const quote = (text: string): string => (ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`);

/** Texts in their order: what is there is written at once, promises are waited for together. */
export class Writer {
  #text: string;
  #waiting: (string | Promise<Text>)[] | undefined;

  constructor(start: string) {
    this.#text = start;
  }

  add(before: string, value: Text | Promise<Text>): void {
    if (value instanceof Promise) {
      (this.#waiting ??= []).push(this.#text + before, value);
      this.#text = '';
    } else this.#text += before + (value ?? 'null');
  }

  /** What still runs has nobody left to tell. */
  abandon(): void {
    this.#waiting?.forEach((part) => void (part instanceof Promise && part.catch(() => {})));
  }

  end(after: string): string | Promise<string> {
    const rest = this.#text + after;
    return this.#waiting ? Promise.all(this.#waiting).then((parts) => parts.map((part) => part ?? 'null').join('') + rest) : rest;
  }
}
