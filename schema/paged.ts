import type { ListOptions, Paging } from './model.ts';

/**
 * A list that can be paged whatever the schema says: it has the names of the arguments that the
 * schema leaves out, and they are marked as added.
 *
 * @example paged(list).paging // { limit: 'limit', offset: 'offset', added: ['limit', 'offset'], … }
 */
export function paged<T extends ListOptions>(list: T): T {
  const { paging, connection } = list;
  const isSized = [paging.limit, paging.first, paging.last].some((name) => name !== undefined);
  const goesOn = [paging.offset, ...(connection ? [paging.after, paging.before] : [])].some(
    (name) => name !== undefined,
  );
  // Only edges have cursors.
  const next = connection?.edge === undefined ? 'offset' : 'after';
  const size = connection ? 'first' : 'limit';
  const added = [...(isSized ? [] : [size]), ...(goesOn ? [] : [next])];
  if (added.length === 0) return list;
  const names = Object.fromEntries(added.map((name) => [name, name]));
  return { ...list, paging: { ...paging, ...names, added } };
}

/** The argument with which a function of the user's own gives one page; undefined if it has none. */
export function ownSize({ limit, first, added = [] }: Paging): string | undefined {
  const size = limit ?? first;
  return size === undefined || added.includes(size) ? undefined : size;
}
