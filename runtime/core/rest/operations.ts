import {
  type FieldNode,
  type GraphQLInputType,
  Kind,
  type NameNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  parseType,
  type SelectionNode,
  type VariableNode,
} from 'graphql';
import type { PreparedOperation } from '../graphql/document-cache.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';

/**
 * Keeps our operations by a text that says what they ask for, so that plans and statements are made
 * once for each form of request.
 */
export type Operations = (key: string, make: () => PreparedOperation) => PreparedOperation;

/**
 * A client that varies `fields` makes many operations. Their plans weigh more than their keys, so
 * only the number is limited.
 */
const MAX_OPERATIONS = 500;

export function createOperations(entries = MAX_OPERATIONS): Operations {
  const kept = createBoundedCache<PreparedOperation>({ entries, bytes: Infinity });
  return (key, make) => {
    const known = kept.get(key);
    if (known) return known;
    const made = make();
    kept.set(key, made, key.length);
    return made;
  };
}

const nameNode = (value: string): NameNode => ({ kind: Kind.NAME, value });
const variableNode = (name: string): VariableNode => ({
  kind: Kind.VARIABLE,
  name: nameNode(name),
});

interface Asked {
  /** Its name in the answer. */
  readonly as?: string;
  /** The names of its arguments. The value of each is the variable of the same name. */
  readonly args?: readonly string[];
  readonly below?: readonly SelectionNode[] | undefined;
}

/** @example fieldNode('totalCount', { as: 'total' }) // total: totalCount */
export function fieldNode(name: string, { as, args = [], below }: Asked = {}): FieldNode {
  return {
    kind: Kind.FIELD,
    name: nameNode(name),
    ...(as !== undefined && { alias: nameNode(as) }),
    arguments: args.map((each) => ({
      kind: Kind.ARGUMENT,
      name: nameNode(each),
      value: variableNode(each),
    })),
    ...(below && { selectionSet: { kind: Kind.SELECTION_SET, selections: below } }),
  };
}

/** @example onType('Post', [fieldNode('title')]) // ... on Post { title } */
export const onType = (type: string, selections: readonly SelectionNode[]): SelectionNode => ({
  kind: Kind.INLINE_FRAGMENT,
  typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(type) },
  selectionSet: { kind: Kind.SELECTION_SET, selections },
});

/** The variables of an operation, when they are read by their types. */
type Declared = readonly { readonly name: string; readonly type: GraphQLInputType }[];

/** An operation with one root field. It is not validated, because we made it. */
export function prepareOperation(
  root: FieldNode,
  kind: 'query' | 'mutation' = 'query',
  declared: Declared = [],
): PreparedOperation {
  const node: OperationDefinitionNode = {
    kind: Kind.OPERATION_DEFINITION,
    operation: kind === 'query' ? OperationTypeNode.QUERY : OperationTypeNode.MUTATION,
    variableDefinitions: declared.map(({ name, type }) => ({
      kind: Kind.VARIABLE_DEFINITION,
      variable: variableNode(name),
      type: parseType(String(type)),
    })),
    selectionSet: { kind: Kind.SELECTION_SET, selections: [root] },
  };
  const document = { kind: Kind.DOCUMENT, definitions: [node] } as const;
  return { document, node, fragments: new Map(), conditions: [], plans: new Map() };
}
