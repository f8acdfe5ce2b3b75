const PATCH = '#patch';

/**
 * The input type or the mutation that a write shape was made from.
 *
 * @example shapeOwner('TagInput#patch:Tag') // 'TagInput'
 */
export function shapeOwner(id: string): string {
  return id.slice(0, id.lastIndexOf(':')).replace(PATCH, '');
}

/** The shape id of an input that also contains the key of the row. */
export const patchOf = (input: string) => `${input}${PATCH}`;
