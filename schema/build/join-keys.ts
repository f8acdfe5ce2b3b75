import { first } from '../present.ts';
import type { JoinKey } from '../model.ts';

/** One side of a join table. */
interface Side {
  /** The columns of the entity's key. */
  readonly parts: readonly string[];
  /** The name of its column when the key has one: `post_id`. */
  readonly column: string;
}

/**
 * The columns of a join table: those that `@relation(columns:)` names, this side's first, else
 * names made from the types.
 *
 * @example joinKeys(post, tag, undefined) // ['post_id', 'tag_id']
 */
export function joinKeys(
  own: Side,
  other: Side,
  written: readonly string[] | undefined,
): readonly [JoinKey, JoinKey] {
  const count = own.parts.length + other.parts.length;
  if (written?.length !== count) return [derived(own), derived(other)];
  const size = own.parts.length;
  return [oneOrSeveral(written.slice(0, size)), oneOrSeveral(written.slice(size))];
}

const derived = ({ parts, column }: Side): JoinKey =>
  parts.length === 1 ? column : parts.map((part) => `${column.replace(/_id$/, '')}_${part}`);

const oneOrSeveral = (names: readonly string[]): JoinKey =>
  names.length === 1 ? first(names) : names;
