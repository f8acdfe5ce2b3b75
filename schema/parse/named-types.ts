import { Kind, type DefinitionNode, type NamedTypeNode, type TypeNode } from 'graphql';
import { remembered } from '../remembered.ts';

/** The properties of a node that name types, or contain nodes that do. */
interface TypeNameHolder {
  readonly type?: TypeNode | undefined;
  readonly interfaces?: readonly NamedTypeNode[] | undefined;
  readonly types?: readonly NamedTypeNode[] | undefined;
  readonly fields?: readonly TypeNameHolder[] | undefined;
  readonly arguments?: readonly TypeNameHolder[] | undefined;
  readonly operationTypes?: readonly TypeNameHolder[] | undefined;
}

/** Every use of a type name in a definition, in the order of the text. */
export const namedTypes = remembered((definition: DefinitionNode): readonly NamedTypeNode[] => {
  const found: NamedTypeNode[] = [];
  collect(definition as TypeNameHolder, found);
  return found;
});

/** The types that a definition names, each once. */
export const typesNamed = remembered((definition: DefinitionNode): readonly string[] => [
  ...new Set(namedTypes(definition).map(({ name }) => name.value)),
]);

function collect(
  { type, interfaces, types, fields, arguments: args, operationTypes }: TypeNameHolder,
  found: NamedTypeNode[],
): void {
  if (interfaces) found.push(...interfaces);
  if (types) found.push(...types);
  if (args) for (const arg of args) collect(arg, found);
  if (type) found.push(bottomOf(type));
  if (fields) for (const field of fields) collect(field, found);
  if (operationTypes) for (const operation of operationTypes) collect(operation, found);
}

/** The named type of a wrapped one: `Post` of `[Post!]!`. */
function bottomOf(type: TypeNode): NamedTypeNode {
  return type.kind === Kind.NAMED_TYPE ? type : bottomOf(type.type);
}
