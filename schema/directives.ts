/**
 * The twelve directives, as SDL. An emitted project gets this text as a file so that editors complete and check them;
 * it is not part of the schema that is served. The enums carry our name so that a type of yours may be called `Verb`.
 *
 * @example
 * import { directivesSdl } from '@twofold/schema';
 */
export const directivesSdl = `"""
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
No column: a function in src/resolvers/<Type>.ts answers this field.

    fullName: String! @computed
"""
directive @computed on FIELD_DEFINITION

"""
Says which two fields are the ends of one relation, or where its key is kept. Needed only where the schema can be read in two ways.

    posts: [Post!]! @relation(inverse: "author")
"""
directive @relation(
  "Name of the field of the other type that is the other end."
  inverse: String
  "The column with the key: of this table for a single object, of the other table for a list."
  column: String
  "The join table of two lists."
  table: String
  "What happens to this row when the row it points at is removed."
  onDelete: TwofoldOnDelete
) on FIELD_DEFINITION

"""
No two rows have the same value.

    email: String! @unique
"""
directive @unique on FIELD_DEFINITION

"""
An index over several fields, in this order.

    type Post @index(fields: ["author", "createdAt"]) { id: ID! }
"""
directive @index(fields: [String!]!, unique: Boolean = false) repeatable on OBJECT

"""
The value of a field that nobody gave. It makes the field optional when a row is created.

    status: Status! @default(value: DRAFT)
"""
directive @default(value: TwofoldValue, expr: TwofoldExpression) on FIELD_DEFINITION

"""
The time of the last change, kept by the server. Not needed for a field called updatedAt.

    touched: DateTime! @updatedAt
"""
directive @updatedAt on FIELD_DEFINITION

"""
What a value has to be. Checked before a resolver runs, and by the database where it can.

    title: String! @constraint(minLength: 1, maxLength: 200)
"""
directive @constraint(
  min: Float
  max: Float
  minLength: Int
  maxLength: Int
  "A regular expression."
  pattern: String
  "email, url, uuid, date, date-time, time, ipv4, ipv6, hostname, slug"
  format: String
) on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION

"""
Who may. Several on one type or field are alternatives. A rule about rows becomes a condition on every way to the row.

    type Note @auth(allow: [OWNER], owner: "author") { id: ID! author: User! }
"""
directive @auth(
  allow: [TwofoldAllow!]!
  "Names of roles, when ROLE is allowed."
  roles: [String!]
  "The field that holds the owner, when OWNER is allowed."
  owner: String
  on: [TwofoldVerb!] = [READ, CREATE, UPDATE, DELETE]
) repeatable on OBJECT | FIELD_DEFINITION

"""
How a list behaves when its arguments do not say.

    posts: [Post!]! @list(orderBy: ["createdAt DESC"], default: 20, max: 50)
"""
directive @list(
  "The only fields that a caller may filter by. All of them when absent."
  filter: [String!]
  "The order when the caller asks for none: field names, each with ASC or DESC behind it if need be."
  orderBy: [String!]
  "Rows when the caller names no number."
  default: Int
  "The most rows a caller may ask for."
  max: Int
) on FIELD_DEFINITION

"""
What a field of Query or Mutation does, where its signature leaves it open. CUSTOM: you write it.

    feed: [Post!]! @resolve(as: LIST)
"""
directive @resolve(
  as: TwofoldAction!
  "For GET: the fields that the arguments are compared with, in their order, when their names differ."
  by: [String!]
  "For CREATE, UPDATE and DELETE: the type whose row is written, when neither the field's name nor its type says it."
  of: String
) on FIELD_DEFINITION

"""
The name of before, so that rows and code move along.

    type Article @renamed(from: "Post") { id: ID! }
"""
directive @renamed(from: String!) on OBJECT | FIELD_DEFINITION | ENUM_VALUE

"What happens to a row when the row it points at is removed."
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
