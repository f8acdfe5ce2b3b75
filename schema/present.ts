import type { Location } from 'graphql';

/** Something that the program made sure of is not there: a fault of ours, not of an input. */
export class MissingError extends Error {
  override readonly name = 'MissingError';
}

export function missing(what: string): never {
  throw new MissingError(`${what} is missing`);
}

/** A value that is there, because an earlier step made sure of it. */
export const present = <T>(value: T | undefined, what: string): T =>
  value === undefined ? missing(what) : value;

/** The value of a key that an earlier step has put into the map. */
export const lookUp = <K, V>(map: { get(key: K): V | undefined }, key: K): V =>
  present(map.get(key), `the entry ${String(key)}`);

export const first = <T>(list: ArrayLike<T>): T => present(list[0], 'the first of the list');

export const last = <T>(list: ArrayLike<T>): T =>
  present(list[list.length - 1], 'the last of the list');

/** The place of a node in its text: a parser gives each node one. */
export const locationOf = ({ loc }: { readonly loc?: Location | undefined }): Location =>
  present(loc, 'the place of the node');
