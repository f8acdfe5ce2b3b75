import { getNamedType, getNullableType, isCompositeType, isListType, isObjectType } from 'graphql';
import type { GraphQLNamedType, GraphQLObjectType } from 'graphql';
import { aggregateName } from './aggregate-types.ts';
import type { Connection } from '../model.ts';
import type { Facts } from './facts.ts';

/** A Relay connection as the schema declares it. */
export interface ConnectionFact {
  readonly connection: Connection;
  /** The type of its nodes. */
  readonly node: GraphQLNamedType;
  /**
   * Members that cannot be inferred: the user writes a function for each, and the others are
   * served.
   */
  readonly extra: readonly { readonly type: GraphQLObjectType; readonly name: string }[];
}

/**
 * The parts of a connection type; undefined for any other type.
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
  if (!isCompositeType(named)) return undefined;
  const [nodes, ...lists] = nodeLists(type.type, named);
  const aggregate = aggregateMember(type.type, named, facts);
  return {
    connection: {
      type: name,
      ...(edge && { edge: edge.name }),
      ...(nodes !== undefined && { nodes }),
      ...(lists.length > 0 && { lists }),
      ...(fields['totalCount'] && { totalCount: 'totalCount' }),
      ...(aggregate !== undefined && { aggregate }),
    },
    node: named,
    extra: [
      ...extraFields(
        type.type,
        ['edges', 'pageInfo', 'totalCount', nodes, ...lists, aggregate].filter(isText),
      ),
      ...(edge ? extraFields(edge, ['node', 'cursor']) : []),
    ],
  };
}

const isText = (name: string | undefined): name is string => name !== undefined;

/** Fields of a connection that are lists of nodes, under any name: `nodes`, `films`. */
function nodeLists(connection: GraphQLObjectType, node: GraphQLNamedType): string[] {
  const lists = Object.values(connection.getFields()).filter(
    ({ type, args }) =>
      args.length === 0 && isListType(getNullableType(type)) && getNamedType(type) === node,
  );
  const names = lists.map(({ name }) => name);
  return names.toSorted((a, b) => Number(b === 'nodes') - Number(a === 'nodes'));
}

/** The field of a connection with numbers over its rows: `aggregate: PostAggregate!`. */
function aggregateMember(
  connection: GraphQLObjectType,
  node: GraphQLNamedType,
  facts: Facts,
): string | undefined {
  return Object.values(connection.getFields()).find(({ type, args }) => {
    const { name } = getNamedType(type);
    const isOne = args.length === 0 && !isListType(getNullableType(type));
    const of = facts.types.get(name)?.role === 'aggregate' ? aggregateName(name) : undefined;
    return isOne && of?.form === 'Aggregate' && of.entity === node.name;
  })?.name;
}

function edgeOf(connection: GraphQLObjectType): GraphQLObjectType | undefined {
  const { edges } = connection.getFields();
  const edge = edges && getNamedType(edges.type);
  return isObjectType(edge) ? edge : undefined;
}

function extraFields(type: GraphQLObjectType, known: readonly string[]): ConnectionFact['extra'] {
  return Object.keys(type.getFields())
    .filter((name) => !known.includes(name))
    .map((name) => ({ type, name }));
}
