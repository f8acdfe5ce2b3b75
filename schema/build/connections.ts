import { getNamedType, isInterfaceType, isObjectType, isUnionType } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType } from 'graphql';
import type { Connection } from '../model.ts';
import type { Facts } from './facts.ts';

/** A Relay connection as the schema declares it. */
export interface ConnectionFact {
  readonly connection: Connection;
  /** What its edges hold. */
  readonly node: GraphQLNamedType;
  /** Fields that no rule can fill; when there are any, the list is yours to write. */
  readonly extra: readonly string[];
}

const OWN_FIELDS = new Set(['edges', 'nodes', 'pageInfo', 'totalCount']);

/**
 * The parts of a connection type; nothing for any other type.
 *
 * @example
 * connectionOf('PostConnection', facts)?.connection // { type: 'PostConnection', edge: 'PostEdge', totalCount: 'totalCount' }
 */
export function connectionOf(name: string, facts: Facts): ConnectionFact | undefined {
  const type = facts.types.get(name);
  if (type?.role !== 'connection') return undefined;
  const fields = type.type.getFields();
  const edge = fields['edges'] && getNamedType(fields['edges'].type);
  const node = isObjectType(edge) ? edge.getFields()['node'] : undefined;
  if (!isObjectType(edge) || !node) return undefined;
  const named = getNamedType(node.type);
  if (!isObjectType(named) && !isInterfaceType(named) && !isUnionType(named)) return undefined;
  return {
    connection: {
      type: name,
      edge: edge.name,
      ...(fields['nodes'] && { nodes: 'nodes' }),
      ...(fields['totalCount'] && { totalCount: 'totalCount' }),
    },
    node: named,
    extra: [...extraFields(type.type, OWN_FIELDS), ...extraFields(edge, new Set(['node', 'cursor']))],
  };
}

function extraFields(type: GraphQLObjectType, known: ReadonlySet<string>): string[] {
  return Object.keys(type.getFields()).filter((name) => !known.has(name)).map((name) => `${type.name}.${name}`);
}
