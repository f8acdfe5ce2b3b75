import type { ConstDirectiveNode, ConstValueNode } from 'graphql';
import type { Allow, Verb } from '../model.ts';
import { type Arguments, compact, flag, text, texts } from './arguments.ts';

/** Directives for types and fields. */
export const sharedDirectives = `"""
Who may. Several on one type or field are alternatives. A rule about rows becomes a condition on every way to the row.

    type Note @auth(allow: [OWNER], owner: "author") { id: ID! author: User! }
"""
directive @auth(
  allow: [TwofoldAllow!]!
  "Names of roles, when ROLE is allowed; of roles in an organization, when TENANT is."
  roles: [String!]
  "The field that holds the owner, or a path as in project.members.user, when OWNER is allowed."
  owner: String
  "The field that leads to the organization, or a path as in project.company, when TENANT is allowed."
  tenant: String
  "What the row must be like as well: a filter over fields and relations. CALLER is the id of the signed-in user, and { claim: … } names a value of their token."
  where: TwofoldValue
  on: [TwofoldVerb!] = [READ, CREATE, UPDATE, DELETE]
) repeatable on OBJECT | FIELD_DEFINITION

"""
The column behind a field, when its name or its type does not follow from the field's. On an enum: the type of PostgreSQL. On a value of an enum: how it is stored.

    unitPrice: Decimal! @column(name: "UnitPrice", type: "numeric(10,2)")
"""
directive @column(
  "Its name, in any spelling."
  name: String
  "PostgreSQL's type, as it stands there. SQLite keeps the ordinary type of the scalar."
  type: String
  "true: the database fills it, and no input sets it."
  readOnly: Boolean = false
) on FIELD_DEFINITION | ENUM | ENUM_VALUE

"""
The name of before, so that rows and code move along.

    type Article @renamed(from: "Post") { id: ID! }
"""
directive @renamed(from: String!) on OBJECT | FIELD_DEFINITION | ENUM_VALUE
`;

export interface AuthUse {
  readonly allow: readonly Allow[];
  readonly roles: readonly string[];
  readonly owner?: string;
  readonly tenant?: string;
  readonly where?: ConstValueNode;
  readonly on: readonly Verb[];
  readonly node: ConstDirectiveNode;
}

/** The values of one `@auth`. */
export function auth(args: Arguments, node: ConstDirectiveNode): AuthUse {
  return {
    allow: (texts(args, 'allow') ?? []) as Allow[],
    roles: texts(args, 'roles') ?? [],
    ...compact({
      owner: text(args, 'owner'),
      tenant: text(args, 'tenant'),
      where: node.arguments?.find(({ name }) => name.value === 'where')?.value,
    }),
    on: (texts(args, 'on') ?? ['READ', 'CREATE', 'UPDATE', 'DELETE']) as Verb[],
    node,
  };
}

/** The values of `@column`. */
export const column = (args: Arguments, node: ConstDirectiveNode) => ({
  ...compact({ name: text(args, 'name'), type: text(args, 'type') }),
  readOnly: flag(args, 'readOnly') ?? false,
  node,
});

/** The old name in `@renamed`. */
export const renamed = (args: Arguments) => text(args, 'from');
