const PATCH = '#patch';

/** The input type, or the mutation, that a write shape was made from. @example shapeOwner('TagInput#patch:Tag') // 'TagInput' */
export function shapeOwner(id: string): string {
  return id.slice(0, id.lastIndexOf(':')).replace(PATCH, '');
}

/** The id of the shape that an input has where it says which row beside what it writes. */
export const patchOf = (input: string) => `${input}${PATCH}`;
