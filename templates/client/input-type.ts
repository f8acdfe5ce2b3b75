import {
  getNamedType,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLList,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type TypeNode,
} from 'graphql';
import type { FrontEnd } from './operation.ts';
import { docComment } from './doc-comment.ts';
import { typeName } from './type-name.ts';

type Given = Pick<FrontEnd, 'schema' | 'scalars'>;

/** The type of an operation's variables. */
export function variablesType(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Given,
): string {
  if (variableDefinitions.length === 0) return '{ [key: string]: never }';
  const lines = variableDefinitions.map(({ variable, type, defaultValue }) => {
    const real = inputTypeOf(type, given);
    const optional = !isNonNullType(real) || defaultValue !== undefined;
    return `  ${variable.name.value}${optional ? '?' : ''}: ${variableType(real, given)};\n`;
  });
  return `{\n${lines.join('')}}`;
}

const inputTypeOf = (type: TypeNode, { schema }: Given) =>
  typeFromAST(schema, type as never) as GraphQLInputType;

/** The type of a variable. A list also takes a single value. */
function variableType(type: GraphQLInputType, given: Given): string {
  const bare = isNonNullType(type) ? type.ofType : type;
  const printed = isListType(bare)
    ? `${withoutNull(bare, given)} | ${withoutNull(itemOf(bare), given)}`
    : withoutNull(bare, given);
  return isNonNullType(type) ? printed : `${printed} | null | undefined`;
}

const itemOf = ({ ofType }: GraphQLList<GraphQLInputType>) =>
  isNonNullType(ofType) ? ofType.ofType : ofType;

function inputType(type: GraphQLInputType, given: Given): string {
  return isNonNullType(type)
    ? withoutNull(type.ofType, given)
    : `${withoutNull(type, given)} | null | undefined`;
}

function withoutNull(type: GraphQLInputType, given: Given): string {
  if (isListType(type)) return `Array<${inputType(type.ofType, given)}>`;
  const { name } = getNamedType(type);
  return isEnumType(type) || isInputObjectType(type)
    ? typeName(name)
    : (given.scalars[name]?.input ?? 'unknown');
}

/** `export type Kind = 'A' | 'B'`. */
export function enumType(type: GraphQLEnumType): string {
  const values = type.getValues().map(({ name }) => `'${name}'`);
  const short = ` ${values.join(' | ')}`;
  const union = short.length < 80 ? short : values.map((value) => `\n  | ${value}`).join('');
  return `${docComment(type.description)}export type ${typeName(type.name)} =${union};\n`;
}

/** An input, or for `@oneOf` a union of its fields. */
export function inputObjectType(type: GraphQLInputObjectType, given: Given): string {
  const fields = Object.values(type.getFields());
  const body = type.isOneOf ? oneOf(fields, given) : ` {\n${fields.map(lineOf(given)).join('')}}`;
  return `${docComment(type.description)}export type ${typeName(type.name)} =${body};\n`;
}

const lineOf =
  (given: Given) =>
  ({ name, type, defaultValue, default: given_, description }: GraphQLInputField): string => {
    const hasDefault = (given_ ?? defaultValue) !== undefined;
    const optional = !isNonNullType(type) || hasDefault;
    return `${docComment(description, '  ')}  ${name}${optional ? '?' : ''}: ${inputType(type, given)};\n`;
  };

function oneOf(fields: readonly GraphQLInputField[], given: Given): string {
  return fields
    .map(({ name, type }) => {
      const members = fields.map((each) =>
        each.name === name ? `${name}: ${withoutNull(type, given)}` : `${each.name}?: never`,
      );
      return `\n  | { ${members.join('; ')} }`;
    })
    .join('');
}
