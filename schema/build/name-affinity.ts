import { singularize, snakeCase } from '../names.ts';
import type { End } from './relation-ends.ts';

/** Shorter beginnings than this say nothing: `post` and `position`. */
const COMMON = 4;

/**
 * How much the names of two ends speak for one relation: the longest beginning that two of their
 * words share, the words of the types left out. A list that has no word but its type's goes with
 * the first end that is left.
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

/** Words of the two ends of a tree. */
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
