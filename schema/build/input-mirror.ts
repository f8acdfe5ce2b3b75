import { getNamedType, isListType, isNonNullType, isObjectType } from 'graphql';
import type { GraphQLObjectType, GraphQLOutputType } from 'graphql';
import type { Facts, FieldFact } from './facts.ts';

/**
 * Makes input types with the same fields as stored objects, because GraphQL does not allow object
 * types as inputs.
 */
export interface InputMirror {
  /** The type of a field as an input, without the last `!`. Undefined if there is no such input. */
  typeText(field: FieldFact): string | undefined;
  /** The definitions of the input types that were used. */
  inputs(): string[];
}

/**
 * A mirror for one schema; each input type is made once.
 *
 * @example
 * createInputMirror(facts).typeText(address) // 'AddressInput', and `inputs()` has its definition
 */
export function createInputMirror(facts: Facts): InputMirror {
  const made = new Map<string, string>();
  const mirrored = (type: GraphQLObjectType): string => {
    const name = `${type.name}Input`;
    // The name is registered before its fields are read, because an object may contain objects of
    // its own type.
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
