import { Kind, type TypeNode } from 'graphql';
import type { TypeNames } from '../type-names.ts';
import type { Member } from './definitions.ts';

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
