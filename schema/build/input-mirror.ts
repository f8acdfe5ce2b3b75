import { getNamedType, isListType, isNonNullType, isObjectType } from 'graphql';
import type { GraphQLObjectType, GraphQLOutputType } from 'graphql';
import type { Facts, FieldFact } from './facts.ts';

/** Gives stored objects an input type of the same fields: GraphQL keeps the two apart. */
export interface InputMirror {
  /** The type of a field as an input, without the last `!`. Nothing when it cannot be one. */
  typeText(field: FieldFact): string | undefined;
  /** The input types that were needed. */
  inputs(): string[];
}

/**
 * A mirror for one schema; inputs are made once however often they are needed.
 *
 * @example
 * createInputMirror(facts).typeText(address) // 'AddressInput', and `inputs()` has its definition
 */
export function createInputMirror(facts: Facts): InputMirror {
  const made = new Map<string, string>();
  const mirrored = (type: GraphQLObjectType): string => {
    const name = `${type.name}Input`;
    // Known before its fields are: an object may hold others of its kind.
    if (made.has(name) || facts.schema.getType(name)) return name;
    made.set(name, '');
    const fields = Object.values(type.getFields()).map(
      (field) => `  ${field.name}: ${text(field.type)}`,
    );
    made.set(name, `input ${name} {\n${fields.join('\n')}\n}`);
    return name;
  };
  const text = (type: GraphQLOutputType): string => {
    if (isNonNullType(type)) return `${text(type.ofType)}!`;
    if (isListType(type)) return `[${text(type.ofType)}]`;
    return isObjectType(type) ? mirrored(type) : getNamedType(type).name;
  };
  return {
    typeText: (field) => text(field.field.type).replace(/!$/, ''),
    inputs: () => [...made.values()],
  };
}
