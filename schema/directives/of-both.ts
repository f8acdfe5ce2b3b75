import type { ConstDirectiveNode, ConstValueNode } from 'graphql';
import type { Allow, Verb } from '../model.ts';
import { type Arguments, compact, text, texts } from './arguments.ts';

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

/** The old name in `@renamed`. */
export const renamed = (args: Arguments) => text(args, 'from');
