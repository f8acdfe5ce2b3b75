import type { ConstDirectiveNode } from 'graphql';
import {
  compact,
  flag,
  isBare,
  text,
  texts,
  Uses,
  type Carrier,
  type Arguments,
} from './arguments.ts';
import { crud } from './crud.ts';
import { auth, renamed } from './of-both.ts';
import { search } from './search.ts';

/** Directives for types only. `read`, below, returns their values. */
export const typeDirectives = `"""
Says what the signature of a type cannot: where its rows are kept, or that they are not kept at all.

    type Person @entity(plural: "people", table: "staff") { id: ID! }
"""
directive @entity(
  "Name of the table. Made from the plural when absent: BlogPost → blog_posts."
  table: String
  "The plural in list fields and REST paths, when English is irregular."
  plural: String
  "false: a plain object, never a table of its own."
  persist: Boolean = true
  "true: the table keeps created_at and updated_at even if no field shows them. false: fields of these names are ordinary."
  timestamps: Boolean
  "true: a removed row is marked in deleted_at and no longer seen."
  softDelete: Boolean = false
) on OBJECT

"""
The table or view behind a type, when its name does not follow from the type's, or others made it.

    type Track @table(name: "Track", schema: "music") { id: ID! }
    type Region @table(name: "region", key: ["country", "code"]) { id: ID! country: String! code: String! }
"""
directive @table(
  "Its name, in any spelling. Made from the plural when absent."
  name: String
  "Its schema on PostgreSQL. That of the connection when absent."
  schema: String
  "The fields that are the primary key, in the key's order, when it is not the field id alone."
  key: [String!]
  "true: rows are only read. Without key they have no identity: a list with limit and offset only."
  view: Boolean = false
) on OBJECT

"""
An index over several fields, in this order.

    type Post @index(fields: ["author", "createdAt"]) { id: ID! }
"""
directive @index(fields: [String!]!, unique: Boolean = false) repeatable on OBJECT
`;

/** `@entity` and its companions on a type. */
export type TypeDirectives = ReturnType<typeof read>;

/**
 * The values of the directives on a type.
 *
 * @example
 * readTypeDirectives([node]).entity?.plural // 'people'
 */
export function readTypeDirectives(carriers: readonly Carrier[]): TypeDirectives {
  return isBare(carriers) ? NONE : read(new Uses(carriers));
}

function read(uses: Uses) {
  return {
    ...uses.one('entity', (args, node) => ({
      ...compact({
        table: text(args, 'table'),
        plural: text(args, 'plural'),
        timestamps: flag(args, 'timestamps'),
      }),
      persist: flag(args, 'persist') ?? true,
      softDelete: flag(args, 'softDelete') ?? false,
      node,
    })),
    ...uses.one('table', (args, node) => ({
      ...compact({
        name: text(args, 'name'),
        schema: text(args, 'schema'),
        key: texts(args, 'key'),
      }),
      view: flag(args, 'view') ?? false,
      node,
    })),
    indexes: uses.all('index', (args, node) => ({
      fields: texts(args, 'fields') ?? [],
      unique: flag(args, 'unique') ?? false,
      node,
    })),
    errors: uses.all('error', error),
    auth: uses.all('auth', auth),
    ...uses.one('crud', crud),
    ...uses.one('search', search),
    ...uses.one('renamed', renamed),
  };
}

/** The shared result for types without directives, which are the most frequent. */
const NONE: TypeDirectives = { indexes: [], errors: [], auth: [] };

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

const error = (args: Arguments, node: ConstDirectiveNode) => ({
  code: text(args, 'code') ?? '',
  ...compact({ field: text(args, 'field') }),
  node,
});
