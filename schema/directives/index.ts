import { tallyDirectives } from './tallies.ts';
import { errorDirectives, typeDirectives } from './of-types.ts';
import { crudDirective } from './crud.ts';
import { sharedDirectives } from './of-both.ts';
import { fieldDirectives } from './of-fields.ts';
import { searchDirectives, searchTypes } from './search.ts';

/**
 * The types of directive arguments. Their names have a prefix, so that users can define a type
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
  CALLER
  DATABASE
}

enum TwofoldAllow {
  PUBLIC
  USER
  OWNER
  ROLE
  TENANT
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
  UPSERT
  CREATE_MANY
  UPDATE_MANY
  DELETE_MANY
  CUSTOM
}

"A string, a number, true, false, null or a value of an enum."
scalar TwofoldValue
`;

/**
 * The directives as SDL. An emitted project has this text as a file, so that editors
 * complete and check them; it is not part of the served schema.
 *
 * @example
 * import { directivesSdl } from '@twofold/schema';
 */
export const directivesSdl = [
  typeDirectives,
  crudDirective,
  fieldDirectives,
  tallyDirectives,
  errorDirectives,
  searchDirectives,
  sharedDirectives,
  ARGUMENT_TYPES,
  searchTypes,
].join('\n');
