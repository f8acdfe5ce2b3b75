import type { ListOptions } from '@twofold/schema';
import { type GraphQLSchema, isObjectType, type SelectionNode } from 'graphql';
import { fieldNode } from './operations.ts';

/**
 * The selection on a connection that the user's own resolver answers: its rows, and their total
 * number if it has one.
 *
 * @example connectionSelection(schema, connection, [fieldNode('id')]) // total: totalCount edges { node { id } }
 */
export function connectionSelection(
  schema: GraphQLSchema,
  { type, nodes, totalCount }: NonNullable<ListOptions['connection']>,
  rows: readonly SelectionNode[],
): SelectionNode[] {
  const connection = schema.getType(type);
  const edges = isObjectType(connection) && 'edges' in connection.getFields();
  const inside =
    nodes !== undefined
      ? fieldNode(nodes, { as: 'nodes', below: rows })
      : edges
        ? fieldNode('edges', { below: [fieldNode('node', { below: rows })] })
        : fieldNode('__typename');
  return [...(totalCount === undefined ? [] : [fieldNode(totalCount, { as: 'total' })]), inside];
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
 * @example takeRows({ 'rest rows posts': { edges: [{ node: { id: '1' } }] } }, ROWS) // { posts: [{ id: '1' }] }
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
