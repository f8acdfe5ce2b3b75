import { sharedDirectives } from './of-both.ts';
import { fieldDirectives } from './of-fields.ts';
import { typeDirectives } from './of-types.ts';

/**
 * What the arguments of directives may be. The enums carry our name so that a type of yours may be
 * called `Verb`.
 */
const ARGUMENT_TYPES = `"What happens to a row when the row it points at is removed."
enum TwofoldOnDelete {
  CASCADE
  RESTRICT
  SET_NULL
}

"A value that the server makes."
enum TwofoldExpression {
  NOW
  UUID
  AUTOINCREMENT
}

enum TwofoldAllow {
  PUBLIC
  USER
  OWNER
  ROLE
  API_KEY
}

enum TwofoldVerb {
  READ
  CREATE
  UPDATE
  DELETE
}

enum TwofoldAction {
  GET
  LIST
  CREATE
  UPDATE
  DELETE
  CUSTOM
}

"A string, a number, true, false, null or a value of an enum."
scalar TwofoldValue
`;

/**
 * The twelve directives, as SDL. An emitted project gets this text as a file so that editors
 * complete and check them; it is not part of the schema that is served.
 *
 * @example
 * import { directivesSdl } from '@twofold/schema';
 */
export const directivesSdl = [
  typeDirectives,
  fieldDirectives,
  sharedDirectives,
  ARGUMENT_TYPES,
].join('\n');
