import { createMemory } from '@twofold/schema';
import {
  type DefinitionNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { docComment } from './doc-comment.ts';
import { enumType, inputObjectType, variablesType } from './input-type.ts';
import { type Fragment, fragmentNamed, type FrontEnd, type Operation } from './operation.ts';
import { fragmentType, selectionType } from './selection-type.ts';
import { typeName } from './type-name.ts';

/** `documents.ts`: the types of all documents, and a constant for each. */
export function documentsFile(given: FrontEnd): string {
  const { format, send, ending, operations, fragments } = given;
  const types = usedTypes(given);
  const isEmpty = operations.length + fragments.length === 0;
  return [
    isEmpty ? 'export {};\n' : `import { document } from './typed-document${ending}';\n`,
    ...types.filter(isEnumType).map((type) => `\n${enumType(type)}`),
    ...types.filter(isInputObjectType).map((type) => `\n${inputObjectType(type, given)}`),
    ...fragments.map((fragment) => printFragment(fragment, given)),
    ...(send === 'hash-only' && format === 'string'
      ? []
      : fragments.map((each) => fragmentText(each, format))),
    ...fragments.map((fragment) => fragmentConstant(fragment, given)),
    ...operations.map((operation) => operationText(operation, given)),
  ].join('');
}

/** What is printed of a definition depends on its node and on those of the fragments that it uses. */
const known = createMemory<DefinitionNode, string>();

function operationText(operation: Operation, given: FrontEnd): string {
  const { schema, format, send } = given;
  const used = operation.fragments.map(({ name }) => fragmentNamed(given, name)?.node);
  return known(operation.node, [schema, format, send, JSON.stringify(given.scalars), ...used], () =>
    printOperation(operation, given),
  );
}

/** Enums and inputs that the documents name, and those that these need, by name. */
function usedTypes({ schema, operations, fragments }: FrontEnd): GraphQLNamedType[] {
  const used = new Set<GraphQLNamedType>();
  const use = (type: GraphQLNamedType) => {
    if (used.has(type) || !(isEnumType(type) || isInputObjectType(type))) return;
    used.add(type);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) use(getNamedType(field.type));
  };
  for (const { node } of [...operations, ...fragments]) namedTypes(node, schema).forEach(use);
  return [...used].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const knownTypes = createMemory<DefinitionNode, readonly GraphQLNamedType[]>();

/** The enums that a definition selects, and the types of its variables. */
function namedTypes(node: DefinitionNode, schema: GraphQLSchema): readonly GraphQLNamedType[] {
  return knownTypes(node, [schema], () => {
    const named = new Set<GraphQLNamedType | null | undefined>();
    const typeInfo = new TypeInfo(schema);
    const visitor = {
      Field: () => {
        const type = getNamedType(typeInfo.getType());
        if (isEnumType(type)) named.add(type);
      },
      VariableDefinition: () => void named.add(getNamedType(typeInfo.getInputType())),
    };
    visit(node, visitWithTypeInfo(typeInfo, visitor));
    return [...named].filter((type) => type != null);
  });
}

function printFragment({ node, description, uses }: Fragment, given: FrontEnd): string {
  const { schema, scalars } = given;
  const used = uses.map((name) => fragmentNamed(given, name)?.node);
  return known(node, [schema, JSON.stringify(scalars), ...used], () => {
    const on = schema.getType(node.typeCondition.name.value);
    const type = isCompositeType(on) ? fragmentType(on, [node.selectionSet], given) : 'never';
    return `\n${docComment(description)}export type ${typeName(node.name.value)}Fragment = ${type};\n`;
  });
}

/** The constant with a fragment's text; documents share it. */
function fragmentText({ name, node }: Fragment, format: FrontEnd['format']): string {
  const text =
    format === 'ast' ? `'${astOf(node)}'` : template(print({ ...node, description: undefined }));
  return `\nconst ${textName(name)} = ${text};\n`;
}

const textName = (fragment: string) => `${typeName(fragment)}FragmentText`;

function fragmentConstant({ name, uses }: Fragment, { format, send }: FrontEnd): string {
  const parts = [name, ...uses.filter((each) => each !== name)].map(textName);
  const type = typeName(name);
  const given =
    format === 'ast'
      ? ["''", ...parts]
      : [`'${name}'`, "''", ...(send === 'hash-only' ? [] : parts)];
  return `\nexport const ${type}FragmentDoc = /* @__PURE__ */ document<${type}Fragment, never>(${given.join(', ')});\n`;
}

function printOperation(operation: Operation, given: FrontEnd): string {
  const { name, kind, node, description } = operation;
  const type = `${typeName(name)}${typeName(kind)}`;
  const root = given.schema.getRootType(kind)!;
  const comment = docComment(description);
  return `
export type ${type}Variables = ${variablesType(node, given)};

export type ${type} = ${selectionType(root, [node.selectionSet], given)};

${comment}export const ${typeName(name)}Document = /* @__PURE__ */ document<${type}, ${type}Variables>(
${argumentsOf(operation, given)
  .map((each) => `  ${each},\n`)
  .join('')});
`;
}

function argumentsOf(operation: Operation, { format, send }: FrontEnd): string[] {
  const { name, hash, node, fragments } = operation;
  const shared = fragments.map((fragment) => textName(fragment.name));
  if (format === 'ast') return [`'${hash}'`, `'${astOf(node)}'`, ...shared];
  const named = [`'${name}'`, `'${hash}'`];
  if (send === 'hash-only') return named;
  return [...named, template(print(withoutDescriptions(node))), ...shared];
}

const withoutDescriptions = (node: Operation['node']): Operation['node'] => ({
  ...node,
  description: undefined,
  ...(node.variableDefinitions && {
    variableDefinitions: node.variableDefinitions.map((each) => ({
      ...each,
      description: undefined,
    })),
  }),
});

/** A text of several lines as a template literal. */
const template = (text: string) =>
  `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``;

/** A syntax tree as JSON inside quotes, without positions and empty members. */
function astOf(node: DefinitionNode): string {
  const json = JSON.stringify(node, (key, value: unknown) =>
    key === 'loc' || key === 'description' || (Array.isArray(value) && value.length === 0)
      ? undefined
      : value,
  );
  return json
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
}
