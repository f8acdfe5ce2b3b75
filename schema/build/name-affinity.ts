import { singularize, snakeCase } from '../names.ts';
import type { End } from './relation-ends.ts';

/**
 * The smallest number of letters that a common prefix needs: `post` and `position` share only
 * three.
 */
const COMMON = 4;

/**
 * How strongly the names of two ends suggest one relation: the length of the longest prefix that
 * two of their words share, ignoring the words of the types. A list with only the word of its type
 * is paired with the first end that is left.
 *
 * @example
 * affinity(editedPosts, editor) // 4, by "edit"
 */
export function affinity(list: End, other: End): number {
  const types = [list.field.owner, other.field.owner].flatMap(wordsOf);
  const rest = (end: End) => wordsOf(end.field.name).filter((word) => !types.includes(word));
  const shared = rest(list).flatMap((word) =>
    rest(other).map((each) =>
      OPPOSITES.get(word) === each ? word.length : commonStart(word, each),
    ),
  );
  return Math.max(0, ...shared.filter((length) => length >= COMMON));
}

/** Names of the two ends of a tree. */
const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ['child', 'parent'],
  ['children', 'parent'],
  ['reply', 'parent'],
  ['descendant', 'ancestor'],
]);

function wordsOf(name: string): string[] {
  return snakeCase(name).split('_').filter(Boolean).map(singularize);
}

function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
