import type { ListOptions } from '@twofold/schema';
import { type GraphQLSchema, isObjectType } from 'graphql';

/**
 * The selection on a connection that the user's own resolver answers: its rows, and their total
 * number if it has one.
 *
 * @example connectionSelection(schema, connection, '{ id }') // '{ total: totalCount edges { node { id } } }'
 */
export function connectionSelection(
  schema: GraphQLSchema,
  { type, nodes, totalCount }: NonNullable<ListOptions['connection']>,
  rows: string,
): string {
  const connection = schema.getType(type);
  const edges = isObjectType(connection) && 'edges' in connection.getFields();
  const inside =
    nodes !== undefined
      ? `nodes: ${nodes} ${rows}`
      : edges
        ? `edges { node ${rows} }`
        : '__typename';
  return `{ ${totalCount === undefined ? '' : `total: ${totalCount}`} ${inside} }`;
}

/** The rows of such an answer, or of a list. Null items, which Relay allows, are dropped. */
export function rowsOf(value: any): unknown[] {
  const rows: unknown[] = Array.isArray(value)
    ? value
    : (value?.nodes ?? value?.edges?.map((edge: { node?: unknown } | null) => edge?.node) ?? []);
  return rows.filter((row) => row !== null && row !== undefined);
}

/**
 * Replaces the connections inside an object by lists, as REST shows them, under their own names.
 *
 * @param prefix prefix of the names of these members.
 * @example takeRows({ rest_rows_posts: { edges: [{ node: { id: '1' } }] } }, 'rest_rows_') // { posts: [{ id: '1' }] }
 */
export function takeRows(value: unknown, prefix: string): unknown {
  if (Array.isArray(value)) return value.map((item) => takeRows(item, prefix));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) =>
      name.startsWith(prefix)
        ? [name.slice(prefix.length), takeRows(rowsOf(inner), prefix)]
        : [name, takeRows(inner, prefix)],
    ),
  );
}
