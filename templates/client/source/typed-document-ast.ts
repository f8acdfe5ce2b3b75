import type { TypedDocumentNode } from '@graphql-typed-document-node/core';

/** A document with the types of its variables and its data, as caches take it. */
export type TypedDocument<Data, Variables> = TypedDocumentNode<Data, Variables> & {
  readonly __meta__: { readonly hash: string };
};

export function document<Data, Variables>(
  hash: string,
  ...definitions: readonly string[]
): TypedDocument<Data, Variables> {
  return {
    kind: 'Document',
    definitions: definitions.map((definition): unknown => JSON.parse(definition)),
    __meta__: { hash },
  } as unknown as TypedDocument<Data, Variables>;
}

interface Name {
  readonly value: string;
}

/** The parts of a node that a text is made of; which of them it has depends on its kind. */
interface Node {
  readonly kind: string;
  readonly operation: string;
  readonly name: Name;
  readonly alias?: Name;
  readonly type: Node;
  readonly typeCondition?: { readonly name: Name };
  readonly variable: Node;
  readonly defaultValue?: Node;
  readonly value: unknown;
  readonly selectionSet?: Node;
  readonly selections?: readonly Node[];
  readonly variableDefinitions?: readonly Node[];
  readonly directives?: readonly Node[];
  readonly arguments?: readonly Node[];
  readonly values?: readonly Node[];
  readonly fields?: readonly Node[];
}

export const hashIn = ({ __meta__ }: { readonly __meta__: { readonly hash: string } }): string =>
  __meta__.hash;

export const nameOf = (document: unknown): string =>
  (document as { definitions: readonly Node[] }).definitions[0]?.name.value ?? '';

/** The text of a document. */
export const textOf = (document: unknown): string =>
  all((document as { definitions: readonly Node[] }).definitions, '\n');

const all = (nodes: readonly Node[] = [], between = ' ', open = '', close = ''): string =>
  nodes.length > 0 ? open + nodes.map(print).join(between) + close : '';

const rest = ({ directives, selectionSet }: Node): string =>
  all(directives) + (selectionSet ? print(selectionSet) : '');

const print = (node: Node): string => PRINTED[node.kind]?.(node) ?? String(node.value);

const named = ({ name, value }: Node): string => name.value + ': ' + print(value as Node);

/** The text of a node of each kind; others are their value. */
const PRINTED: { readonly [kind: string]: (node: Node) => string } = {
  OperationDefinition: (node) =>
    `${node.operation} ${node.name.value}${all(node.variableDefinitions, ', ', '(', ')')}${rest(node)}`,
  FragmentDefinition: (node) =>
    `fragment ${node.name.value} on ${node.typeCondition?.name.value}${rest(node)}`,
  SelectionSet: ({ selections }) => `{${all(selections)}}`,
  Field: (node) =>
    (node.alias ? node.alias.value + ': ' : '') +
    node.name.value +
    all(node.arguments, ', ', '(', ')') +
    rest(node),
  FragmentSpread: (node) => '...' + node.name.value + rest(node),
  InlineFragment: (node) =>
    '... ' + (node.typeCondition ? 'on ' + node.typeCondition.name.value : '') + rest(node),
  VariableDefinition: (node) =>
    print(node.variable) +
    ': ' +
    print(node.type) +
    (node.defaultValue ? ' = ' + print(node.defaultValue) : '') +
    rest(node),
  Variable: ({ name }) => '$' + name.value,
  NamedType: ({ name }) => name.value,
  ListType: ({ type }) => `[${print(type)}]`,
  NonNullType: ({ type }) => print(type) + '!',
  Directive: (node) => ` @${node.name.value}${all(node.arguments, ', ', '(', ')')}`,
  Argument: named,
  ObjectField: named,
  ListValue: ({ values }) => `[${all(values, ', ')}]`,
  ObjectValue: ({ fields }) => `{${all(fields, ', ')}}`,
  StringValue: ({ value }) => JSON.stringify(value),
  NullValue: () => 'null',
};
