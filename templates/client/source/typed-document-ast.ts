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

/** The parts of a node that a text is made of. */
interface Node {
  readonly kind: string;
  readonly [part: string]: any;
}

export const hashIn = ({ __meta__ }: { readonly __meta__: { readonly hash: string } }): string =>
  __meta__.hash;

export const nameOf = (document: unknown): string =>
  (document as { definitions: readonly Node[] }).definitions[0]!['name'].value;

/** The text of a document. */
export const textOf = (document: unknown): string =>
  all((document as { definitions: readonly Node[] }).definitions, '\n');

const all = (nodes: readonly Node[] = [], between = ' ', open = '', close = ''): string =>
  nodes.length > 0 ? open + nodes.map(print).join(between) + close : '';

function print(node: Node): string {
  const { kind, name, alias, value, type, typeCondition, selectionSet } = node;
  const rest = () => all(node['directives']) + (selectionSet ? print(selectionSet) : '');
  switch (kind) {
    case 'OperationDefinition': {
      const variables = all(node['variableDefinitions'], ', ', '(', ')');
      return node['operation'] + ' ' + name.value + variables + rest();
    }
    case 'FragmentDefinition':
      return 'fragment ' + name.value + ' on ' + typeCondition.name.value + rest();
    case 'SelectionSet':
      return '{' + all(node['selections']) + '}';
    case 'Field': {
      const given = all(node['arguments'], ', ', '(', ')');
      return (alias ? alias.value + ': ' : '') + name.value + given + rest();
    }
    case 'FragmentSpread':
      return '...' + name.value + rest();
    case 'InlineFragment':
      return '... ' + (typeCondition ? 'on ' + typeCondition.name.value : '') + rest();
    case 'VariableDefinition': {
      const preset = node['defaultValue'] ? ' = ' + print(node['defaultValue']) : '';
      return print(node['variable']) + ': ' + print(type) + preset + rest();
    }
    case 'Variable':
      return '$' + name.value;
    case 'NamedType':
      return name.value;
    case 'ListType':
      return '[' + print(type) + ']';
    case 'NonNullType':
      return print(type) + '!';
    case 'Directive':
      return ' @' + name.value + all(node['arguments'], ', ', '(', ')');
    case 'Argument':
    case 'ObjectField':
      return name.value + ': ' + print(value);
    case 'ListValue':
      return '[' + all(node['values'], ', ') + ']';
    case 'ObjectValue':
      return '{' + all(node['fields'], ', ') + '}';
    case 'StringValue':
      return JSON.stringify(value);
    case 'NullValue':
      return 'null';
    default:
      return String(value);
  }
}
