import type { Connection, Entity, ListOptions, Paging } from './model.ts';
import { snakeCase } from './names.ts';

/** What the arguments of a list and its types do, where all of them have the names of `api.crud`. */
export interface ImpliedList {
  readonly where: { readonly arg: string; readonly shape: string };
  readonly orderBy: { readonly arg: string; readonly shape: string };
  readonly page: Omit<Paging, 'added' | 'default' | 'max'>;
  readonly distinct?: { readonly arg: string };
  readonly connection?: Connection;
}

/**
 * The arguments and types that `api.crud` writes for a list of an entity. A project does not list
 * them: its server makes them from the name.
 *
 * @example impliedList('Post', 'connection').where // { arg: 'where', shape: 'PostFilter' }
 */
export function impliedList(entity: string, form: 'list' | 'connection'): ImpliedList {
  const chosen = {
    where: { arg: 'where', shape: `${entity}Filter` },
    orderBy: { arg: 'orderBy', shape: `${entity}Order` },
  };
  if (form === 'list')
    return {
      ...chosen,
      page: { limit: 'limit', offset: 'offset' },
      distinct: { arg: 'distinct' },
    };
  return {
    ...chosen,
    page: { first: 'first', after: 'after', last: 'last', before: 'before' },
    connection: {
      type: `${entity}Connection`,
      edge: `${entity}Edge`,
      nodes: 'nodes',
      totalCount: 'totalCount',
      aggregate: 'aggregate',
    },
  };
}

/** @example enumName('createdAt') // 'CREATED_AT' */
export const enumName = (field: string): string => snakeCase(field).toUpperCase();

/**
 * The column of a value of `distinct`: as the list says, or that of the field with its name.
 *
 * @example distinctColumn({ arg: 'distinct' }, post, 'CREATED_AT') // 'created_at'
 */
export function distinctColumn(
  { by }: NonNullable<ListOptions['distinct']>,
  { fields }: Entity,
  value: string,
): string | undefined {
  if (by) return Object.hasOwn(by, value) ? by[value] : undefined;
  const source = fields.find(({ name }) => enumName(name) === value)?.source;
  return source?.kind === 'column' || (source?.kind === 'one' && source.key === 'own')
    ? source.column
    : undefined;
}

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
