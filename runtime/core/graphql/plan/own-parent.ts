import type { Connection, Returns } from '@twofold/schema';
import type { ConnectionPart, EdgePart, Selection } from '../../data/plan.ts';

/**
 * The beginning of keys for values that a function of the project gets in its parent, beside the
 * members that the caller selects. No field begins with this character.
 */
const MARK = '$.';

export const ownKey = (name: string): string => `${MARK}${name}`;

/** The name of a member of the parent; undefined for a key of the answer. */
export const ownName = (key: string): string | undefined =>
  key.startsWith(MARK) ? key.slice(MARK.length) : undefined;

/** The whole row, and nothing of the answer. */
export const rowOf = (entity: string): Selection => ({ entity, fields: [], row: true });

/** The members of an edge. */
export const edgeParent = (entity: string): EdgePart[] => [
  { kind: 'node', key: ownKey('node'), selection: rowOf(entity) },
  { kind: 'cursor', key: ownKey('cursor') },
];

const PAGE_INFO = ['hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'] as const;

/** The members of a connection, as its type declares them. */
export function connectionParent(
  entity: string,
  { edge, nodes, lists = [], totalCount }: Connection,
): ConnectionPart[] {
  const parts: ConnectionPart[] = [nodes ?? [], lists].flat().map((name) => ({
    kind: 'nodes',
    key: ownKey(name),
    selection: rowOf(entity),
  }));
  const pageInfo = PAGE_INFO.map((name) => ({ key: name, name }));
  if (edge !== undefined) {
    parts.push({ kind: 'edges', key: ownKey('edges'), type: edge, fields: edgeParent(entity) });
    parts.push({ kind: 'pageInfo', key: ownKey('pageInfo'), fields: pageInfo });
  }
  if (totalCount !== undefined) parts.push({ kind: 'totalCount', key: ownKey(totalCount) });
  return parts;
}

/** A member of a payload that needs no row. */
export type PlainMember = {
  readonly kind: 'id' | 'ok' | 'count' | 'clientMutationId' | 'empty';
  readonly key: string;
};

/** The members of a payload that need no row. */
export function plainMembers(returns: Extract<Returns, { kind: 'payload' }>): PlainMember[] {
  const { empty = [] } = returns;
  const named = (['id', 'ok', 'count', 'clientMutationId'] as const).flatMap((kind) => {
    const name = returns[kind];
    return name === undefined ? [] : [{ kind, key: ownKey(name) }];
  });
  return [...named, ...empty.map((name) => ({ kind: 'empty' as const, key: ownKey(name) }))];
}
