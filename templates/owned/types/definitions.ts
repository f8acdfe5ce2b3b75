import { createMemory } from '@twofold/schema';
import {
  Kind,
  print,
  valueFromASTUntyped,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type InputValueDefinitionNode,
  type FieldDefinitionNode,
  type NamedTypeNode,
  type StringValueNode,
  type TypeNode,
} from 'graphql';
import { doc } from '../../literal.ts';
import { inNaturalOrder } from '../../natural-order.ts';
import type { TypeNames } from '../type-names.ts';

/** A field, an argument or a field of an input. */
export interface Member {
  readonly name: string;
  readonly type: TypeNode;
  readonly comment: string;
  readonly args: readonly Member[];
  /** The default of an argument or of a field of an input, as the SDL writes it. */
  readonly default: string | undefined;
}

/**
 * One type of the schema with its extensions, prepared for TypeScript: everything sorted by name.
 */
export interface Definition {
  readonly kind: 'object' | 'interface' | 'union' | 'enum' | 'input' | 'scalar';
  readonly name: string;
  readonly comment: string;
  readonly fields: readonly Member[];
  /** For an object or interface, the interfaces that it implements; for a union, its members. */
  readonly types: readonly string[];
  readonly values: readonly { readonly name: string; readonly comment: string }[];
  readonly oneOf: boolean;
}

/** The types of a schema. */
export interface Definitions {
  readonly types: readonly Definition[];
  /** The TypeScript name of a type. */
  readonly names: TypeNames;
}

const KINDS: { readonly [kind: string]: Definition['kind'] } = {
  [Kind.OBJECT_TYPE_DEFINITION]: 'object',
  [Kind.INTERFACE_TYPE_DEFINITION]: 'interface',
  [Kind.UNION_TYPE_DEFINITION]: 'union',
  [Kind.ENUM_TYPE_DEFINITION]: 'enum',
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: 'input',
  [Kind.SCALAR_TYPE_DEFINITION]: 'scalar',
};

/** Properties of a definition and its extensions. */
interface DefinitionParts {
  readonly name: { readonly value: string };
  readonly description?: StringValueNode | undefined;
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
  readonly fields?: readonly (FieldDefinitionNode | InputValueDefinitionNode)[] | undefined;
  readonly interfaces?: readonly NamedTypeNode[] | undefined;
  readonly types?: readonly NamedTypeNode[] | undefined;
  readonly values?:
    | readonly {
        readonly name: { readonly value: string };
        readonly description?: StringValueNode | undefined;
      }[]
    | undefined;
}

/** Reads the types of a valid schema from its nodes, without building a GraphQLSchema. */
export function readDefinitions({ definitions }: DocumentNode, names: TypeNames): Definitions {
  const extensions = Map.groupBy(
    definitions.filter(({ kind }) => kind.endsWith('TypeExtension')),
    (node) => (node as unknown as DefinitionParts).name.value,
  );
  const types = definitions.flatMap((node) => {
    const kind = KINDS[node.kind];
    if (!kind) return [];
    const more = extensions.get((node as unknown as DefinitionParts).name.value);
    // A type without extensions is cached by its node: a later run with the same node finds the
    // result again.
    const read = more
      ? readDefinition(kind, [node, ...more] as unknown as DefinitionParts[], names)
      : readCache(node, [names], () =>
          readDefinition(kind, [node as unknown as DefinitionParts], names),
        );
    return [read];
  });
  return { types: inNaturalOrder(types, ({ name }) => name), names };
}

const readCache = createMemory<DefinitionNode, Definition>();

function readDefinition(
  kind: Definition['kind'],
  parts: readonly DefinitionParts[],
  names: TypeNames,
): Definition {
  const [own] = parts as readonly [DefinitionParts];
  const named = parts.flatMap(({ interfaces, types }) => [...(interfaces ?? []), ...(types ?? [])]);
  const values = parts
    .flatMap((part) => part.values ?? [])
    .map(({ name, description }) => ({ name: name.value, comment: commentOf({ description }) }));
  return {
    kind,
    name: names(own.name.value),
    comment: commentOf({ description: own.description }),
    fields: readMembers(parts.flatMap(({ fields }) => fields ?? [])),
    types: inNaturalOrder(
      named.map(({ name }) => names(name.value)),
      (name) => name,
    ),
    values: inNaturalOrder(values, ({ name }) => name),
    oneOf: own.directives?.some(({ name }) => name.value === 'oneOf') ?? false,
  };
}

function readMembers(nodes: readonly (FieldDefinitionNode | InputValueDefinitionNode)[]): Member[] {
  const members = nodes.map((node) => ({
    name: node.name.value,
    type: node.type,
    comment: commentOf(node),
    args: 'arguments' in node && node.arguments?.length ? readMembers(node.arguments) : NONE,
    default: 'defaultValue' in node && node.defaultValue ? print(node.defaultValue) : undefined,
  }));
  return inNaturalOrder(members, ({ name }) => name);
}

const NONE: readonly Member[] = [];

function commentOf({
  description,
  directives,
}: Pick<DefinitionParts, 'description' | 'directives'>): string {
  const deprecated = directives?.find(({ name }) => name.value === 'deprecated');
  return doc(
    [description?.value ?? '', ...(deprecated ? [`@deprecated ${reasonOf(deprecated)}`] : [])]
      .filter((line) => line.trim() !== '')
      .join('\n'),
  );
}

function reasonOf({ arguments: given }: ConstDirectiveNode): string {
  const reason = given?.find(({ name }) => name.value === 'reason');
  return reason ? String(valueFromASTUntyped(reason.value)) : 'Field no longer supported';
}

/** The named type of a wrapped one: `Post` of `[Post!]!`. */
export function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

/** A reference as the SDL writes it, with the default of an argument: `[Post!]!`, `Int = 10`. */
export const refOf = ({ type, default: given }: Member, names: TypeNames): string =>
  given === undefined ? textOf(type, names) : `${textOf(type, names)} = ${given}`;

function textOf(type: TypeNode, names: TypeNames): string {
  if (type.kind === Kind.NON_NULL_TYPE) return `${textOf(type.type, names)}!`;
  return type.kind === Kind.LIST_TYPE ? `[${textOf(type.type, names)}]` : names(type.name.value);
}

export const isRequired = ({ type }: Member): boolean => type.kind === Kind.NON_NULL_TYPE;

/** A comment on the line above a declaration. */
export function above(comment: string, indent = ''): string {
  return comment === '' ? '' : `${indent}${comment.replaceAll('\n', `\n${indent}`)}\n`;
}
