import { createMemory } from '@twofold/schema';
import { Kind, type TypeNode } from 'graphql';
import { propertyName, str } from '../../literal.ts';
import type { Definition, Definitions, Member } from './definitions.ts';

/** The TypeScript type of each scalar: one type, or a pair for input and output. */
export type ScalarTypes = Readonly<
  Record<string, string | { readonly input: string; readonly output: string }>
>;

const BUILTIN: ScalarTypes = {
  ID: 'string',
  String: 'string',
  Boolean: 'boolean',
  Int: 'number',
  Float: 'number',
};

/**
 * One TypeScript type for each type of the schema, and one for the arguments of each field with
 * arguments.
 */
export function printValueTypes(definitions: Definitions, scalars: ScalarTypes): string[] {
  const own = definitions.types.filter(({ kind }) => kind === 'scalar');
  const scalarNames = new Set([...Object.keys(BUILTIN), ...own.map(({ name }) => name)]);
  const leaf = (side: 'input' | 'output') => (type: string) =>
    scalarNames.has(definitions.names(type))
      ? `ScalarTypes['${definitions.names(type)}']['${side}']`
      : definitions.names(type);
  const sides = { input: leaf('input'), output: leaf('output') };
  const given = own.map(({ name }) => name).join(' ');
  return [
    `export type Maybe<T> = T | null;\nexport type InputMaybe<T> = T | null | undefined;\n${printScalars(own, scalars)}`,
    ...definitions.types.flatMap((definition) =>
      printed(definition, [given], () => printDefinition(definition, sides)),
    ),
  ];
}

const printed = createMemory<Definition, readonly string[]>();

type Leaf = (type: string) => string;

interface Sides {
  readonly input: Leaf;
  readonly output: Leaf;
}

function printScalars(own: readonly Definition[], scalars: ScalarTypes): string {
  const line = (name: string, type: ScalarTypes[string]) => {
    const { input, output } = typeof type === 'string' ? { input: type, output: type } : type;
    return `  ${propertyName(name)}: { input: ${input}; output: ${output}; }`;
  };
  const builtin = Object.entries(BUILTIN).map(([name, type]) => line(name, scalars[name] ?? type));
  const named = own.map(
    ({ name, comment }) => `${above(comment, '  ')}${line(name, scalars[name] ?? 'unknown')}`,
  );
  return `/** All built-in and custom scalars, mapped to their actual values */\nexport type ScalarTypes = {\n${[...builtin, ...named].join('\n')}\n};`;
}

function printDefinition(definition: Definition, sides: Sides): string[] {
  const { kind, name, comment, types, values } = definition;
  const start = `${above(comment)}export type ${name} =`;
  switch (kind) {
    case 'object':
    case 'interface':
      return [
        `${start} ${kind === 'object' ? types.map((each) => `${each} & `).join('') : ''}${printFields(definition.fields, sides.output)}`,
        ...printArguments(definition, sides.input),
      ];
    case 'union':
      return [`${start} ${types.join(' | ')};`];
    case 'enum':
      return [
        `${start}\n${values.map((value) => `${above(value.comment, '  ')}  | ${str(value.name)}`).join('\n')};`,
      ];
    case 'input':
      return [
        definition.oneOf
          ? `${start}\n${printOneOf(definition.fields, sides.input)};`
          : `${start} ${printInputs(definition.fields, sides.input)}`,
      ];
    case 'scalar':
      return [];
  }
}

function printFields(fields: readonly Member[], leaf: Leaf): string {
  return members(
    fields.map(
      ({ name, type, comment }) =>
        `${above(comment, '  ')}  ${propertyName(name)}${isRequired(type) ? '' : '?'}: ${printType(type, leaf, 'Maybe')};`,
    ),
  );
}

function printInputs(fields: readonly Member[], leaf: Leaf): string {
  return members(
    fields.map(
      ({ name, type, comment, hasDefault }) =>
        `${above(comment, '  ')}  ${propertyName(name)}${isRequired(type) && !hasDefault ? '' : '?'}: ${printType(type, leaf, 'InputMaybe')};`,
    ),
  );
}

function printArguments({ name, comment, fields }: Definition, leaf: Leaf): string[] {
  return fields
    .filter(({ args }) => args.length > 0)
    .map(
      (field) =>
        `${above(comment)}export type ${name}${field.name}Args = ${printInputs(field.args, leaf)}`,
    );
}

/** `@oneOf`: exactly one of the fields is given. */
function printOneOf(fields: readonly Member[], leaf: Leaf): string {
  const given = ({ name, type }: Member) =>
    `${propertyName(name)}: ${printBare(type, leaf, 'InputMaybe')};`;
  return fields
    .map(
      (field) =>
        `${above(field.comment, '  ')}  | { ${fields.map((each) => (each === field ? given(each) : `${propertyName(each.name)}?: never;`)).join(' ')} }`,
    )
    .join('\n');
}

function members(lines: readonly string[]): string {
  return `{\n${lines.join('\n')}\n};`;
}

/** A comment on the line above a declaration. */
function above(comment: string, indent = ''): string {
  return comment === ''
    ? ''
    : `${indent}${indent === '' ? comment : comment.replaceAll('\n', `\n${indent}`)}\n`;
}

export function isRequired(type: TypeNode): boolean {
  return type.kind === Kind.NON_NULL_TYPE;
}

/** A GraphQL type in TypeScript: `[Post!]` is `Maybe<Array<Post>>`. */
export function printType(type: TypeNode, leaf: Leaf, maybe: 'Maybe' | 'InputMaybe'): string {
  return type.kind === Kind.NON_NULL_TYPE
    ? printBare(type, leaf, maybe)
    : `${maybe}<${printBare(type, leaf, maybe)}>`;
}

/** The type without the outer `Maybe`. */
function printBare(type: TypeNode, leaf: Leaf, maybe: 'Maybe' | 'InputMaybe'): string {
  if (type.kind === Kind.NON_NULL_TYPE) return printBare(type.type, leaf, maybe);
  return type.kind === Kind.LIST_TYPE
    ? `Array<${printType(type.type, leaf, maybe)}>`
    : leaf(type.name.value);
}
