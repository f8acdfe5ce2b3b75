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
