import { isTypeDefinitionNode, Kind, parse } from 'graphql';
import type {
  DefinitionNode,
  FieldDefinitionNode,
  ObjectTypeDefinitionNode,
  ObjectTypeExtensionNode,
} from 'graphql';
import { lineEndOf } from './pieces.ts';

/**
 * A definition of `src/generated/crud.graphql` as it stands in the user's schema: `PostFilter`,
 * `Query.posts`, or `crud` for all of them. Null if nothing of that name is written.
 *
 * @example ejectedSdl(crudSdl, 'Query.post') // 'extend type Query {\n  post(id: ID!): Post\n}'
 */
export function ejectedSdl(crudSdl: string, name: string): string | null {
  if (name === 'crud') return crudSdl.replace(/^(?:#.*\n)+\n/, '').trimEnd();
  for (const definition of parse(crudSdl).definitions) {
    if (typeNames(definition).includes(name)) return textOf(crudSdl, definition);
    const field = fieldsOf(definition).find(([coordinate]) => coordinate === name);
    if (field && isFieldHolder(definition)) return extending(definition, textOf(crudSdl, field[1]));
  }
  return null;
}

/** A schema with a definition at its end, with the line ends that it uses. */
export function withDefinition(schema: string, definition: string): string {
  const end = lineEndOf(schema);
  const gap = schema === '' ? '' : schema.endsWith('\n') ? end : end + end;
  return `${schema}${gap}${definition.replaceAll('\n', end)}${end}`;
}

/** The names that `eject` knows, for "did you mean". */
export const ejectableNames = (crudSdl: string): string[] =>
  parse(crudSdl).definitions.flatMap((definition) => [
    ...typeNames(definition),
    ...fieldsOf(definition).map(([coordinate]) => coordinate),
  ]);

/** The first mutation of a schema comes with the definition of its type. */
const MUTATION = 'Mutation';

function typeNames(definition: DefinitionNode): string[] {
  const name = isTypeDefinitionNode(definition) ? definition.name.value : MUTATION;
  return name === MUTATION ? [] : [name];
}

type FieldHolder = ObjectTypeDefinitionNode | ObjectTypeExtensionNode;

/** Types are moved as a whole, and fields of types that the schema has one by one. */
function isFieldHolder(definition: DefinitionNode): definition is FieldHolder {
  if (definition.kind === Kind.OBJECT_TYPE_EXTENSION) return true;
  return definition.kind === Kind.OBJECT_TYPE_DEFINITION && definition.name.value === MUTATION;
}

function fieldsOf(definition: DefinitionNode): (readonly [string, FieldDefinitionNode])[] {
  if (!isFieldHolder(definition)) return [];
  const { name, fields = [] } = definition;
  return fields.map((field) => [`${name.value}.${field.name.value}`, field]);
}

function extending({ kind, name }: FieldHolder, field: string): string {
  const keyword = kind === Kind.OBJECT_TYPE_DEFINITION ? 'type' : 'extend type';
  return `${keyword} ${name.value} {\n  ${field}\n}`;
}

const textOf = (text: string, { loc }: Pick<DefinitionNode | FieldDefinitionNode, 'loc'>): string =>
  text.slice(loc!.start, loc!.end);
