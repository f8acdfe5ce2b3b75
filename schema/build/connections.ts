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
  const edge = edgeOf(type.type);
  const node = edge ? edge.getFields()['node'] : fields['nodes'];
  if (!node || (fields['edges'] && !edge)) return undefined;
  const named = getNamedType(node.type);
  if (!isObjectType(named) && !isInterfaceType(named) && !isUnionType(named)) return undefined;
  return {
    connection: {
      type: name,
      ...(edge && { edge: edge.name }),
      ...(fields['nodes'] && { nodes: 'nodes' }),
      ...(fields['totalCount'] && { totalCount: 'totalCount' }),
    },
    node: named,
    extra: [
      ...extraFields(type.type, OWN_FIELDS),
      ...(edge ? extraFields(edge, new Set(['node', 'cursor'])) : []),
    ],
  };
}

function edgeOf(connection: GraphQLObjectType): GraphQLObjectType | undefined {
  const { edges } = connection.getFields();
  const edge = edges && getNamedType(edges.type);
  return isObjectType(edge) ? edge : undefined;
}

function extraFields(type: GraphQLObjectType, known: ReadonlySet<string>): string[] {
  return Object.keys(type.getFields())
    .filter((name) => !known.has(name))
    .map((name) => `${type.name}.${name}`);
}
