import type { ConstDirectiveNode } from 'graphql';
import { type Arguments, compact, text } from './arguments.ts';

/** The directive for members of result unions. */
export const errorDirectives = `"""
The answer in place of an error: a mutation whose result this type belongs to returns it when it fails with this code. All is undone.

    type EmailTaken @error(code: "CONFLICT", field: "email") { message: String! }
    union CreateUserResult = User | EmailTaken
"""
directive @error(
  "The code of the error, as it would stand in extensions.code."
  code: String!
  "Only an error about this field or argument. Any error with the code when absent."
  field: String
) repeatable on OBJECT
`;

/** The values of one `@error`. */
export type ErrorUse = ReturnType<typeof error>;

export const error = (args: Arguments, node: ConstDirectiveNode) => ({
  code: text(args, 'code') ?? '',
  ...compact({ field: text(args, 'field') }),
  node,
});
