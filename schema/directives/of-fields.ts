import type { Constraint, OnDelete } from '../model.ts';
import {
  type Arguments,
  type Carrier,
  compact,
  figure,
  isBare,
  text,
  texts,
  Uses,
} from './arguments.ts';
import { tally } from './tallies.ts';
import { auth, column, renamed } from './of-both.ts';
import { search } from './search.ts';

/** Directives for fields only. `read`, below, returns their values. */
export const fieldDirectives = `"""
No column: a function in src/resolvers/<Type>.ts answers this field. On an argument or a field of an input: for hooks alone.

    fullName: String! @computed
"""
directive @computed on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION

"""
Says which two fields are the ends of one relation, or where its key is kept. Needed only where the schema can be read in two ways.

    posts: [Post!]! @relation(inverse: "author")
"""
directive @relation(
  "Name of the field of the other type that is the other end."
  inverse: String
  "The column with the key: of this table for a single object, of the other table for a list."
  column: String
  "The columns of a key of several, in the order of the other key. With table: those of the join table, this side's first."
  columns: [String!]
  "Fields of the other type, when the key leads to another unique one than its primary key."
  references: [String!]
  "The join table of two lists."
  table: String
  "The schema of the join table on PostgreSQL."
  schema: String
  "What happens to this row when the row it points at is removed."
  onDelete: TwofoldOnDelete
) on FIELD_DEFINITION

"""
No two rows have the same value.

    email: String! @unique
"""
directive @unique on FIELD_DEFINITION

"""
The value of a field that a create does not set. It makes the field optional in a create.

    status: Status! @default(value: DRAFT)
    author: User! @default(expr: CALLER)
"""
directive @default(value: TwofoldValue, expr: TwofoldExpression) on FIELD_DEFINITION

"""
The time of the last change, kept by the server. Not needed for a field called updatedAt.

    touched: DateTime! @updatedAt
"""
directive @updatedAt on FIELD_DEFINITION

"""
The number of the row's version, kept by the server: 1 for a new row, one more with every update. In the input of an update it is the version that the caller has read.

    revision: Int! @version
"""
directive @version on FIELD_DEFINITION

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
  "The fewest items of a list."
  minItems: Int
  "The most items of a list."
  maxItems: Int
) on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION

"""
How a list behaves when its arguments do not say.

    posts: [Post!]! @list(orderBy: ["createdAt DESC"], default: 20, max: 50)
    publishedPosts: [Post!]! @list(where: { published: true })
"""
directive @list(
  "What every row of the list is like. The caller's own filter cannot widen it."
  where: TwofoldValue
  "The field of this type whose rows they are, where it has several lists of the same type."
  relation: String
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
  "For GET: the fields that the arguments are compared with, in their order, when their names differ. For UPSERT: the fields of the input that are the key."
  by: [String!]
  "For mutations: the type whose row is written, when neither the field's name nor its type says it."
  of: String
) on FIELD_DEFINITION
`;

export type FieldDirectives = ReturnType<typeof read>;

/** The values of the directives on a field. */
export function readFieldDirectives(carriers: readonly Carrier[]): FieldDirectives {
  return isBare(carriers) ? NONE : read(new Uses(carriers));
}

function read(uses: Uses) {
  return {
    computed: uses.has('computed'),
    ...uses.one('relation', (args, node) => ({
      ...compact({
        inverse: text(args, 'inverse'),
        column: text(args, 'column'),
        columns: texts(args, 'columns'),
        references: texts(args, 'references'),
        schema: text(args, 'schema'),
        table: text(args, 'table'),
        onDelete: onDelete(args),
      }),
      node,
    })),
    unique: uses.has('unique'),
    ...uses.one('default', (args, node) => ({
      ...compact({ value: args.get('value'), expr: text(args, 'expr') }),
      node,
    })),
    updatedAt: uses.has('updatedAt'),
    version: uses.has('version'),
    ...uses.one('constraint', constraint),
    auth: uses.all('auth', auth),
    ...uses.one('list', (args, node) => ({
      ...compact({
        where: node.arguments?.find(({ name }) => name.value === 'where')?.value,
        relation: text(args, 'relation'),
        filter: texts(args, 'filter'),
        orderBy: texts(args, 'orderBy'),
        default: figure(args, 'default'),
        max: figure(args, 'max'),
      }),
      node,
    })),
    ...uses.one('resolve', (args, node) => ({
      as: text(args, 'as') ?? 'CUSTOM',
      ...compact({ by: texts(args, 'by'), of: text(args, 'of') }),
      node,
    })),
    ...uses.one('count', tally),
    ...uses.one('exists', tally),
    ...uses.one('search', search),
    ...uses.one('column', column),
    ...uses.one('renamed', renamed),
  };
}

/** The shared result for fields without directives, which are the most frequent. */
const NONE: FieldDirectives = {
  computed: false,
  unique: false,
  updatedAt: false,
  version: false,
  auth: [],
};

function constraint(args: Arguments): Constraint {
  return compact({
    min: figure(args, 'min'),
    max: figure(args, 'max'),
    minLength: figure(args, 'minLength'),
    maxLength: figure(args, 'maxLength'),
    pattern: text(args, 'pattern'),
    format: text(args, 'format'),
    minItems: figure(args, 'minItems'),
    maxItems: figure(args, 'maxItems'),
  });
}

function onDelete(args: Arguments): OnDelete | undefined {
  const word = text(args, 'onDelete')?.toLowerCase().replace('_', ' ');
  return word === 'cascade' || word === 'restrict' || word === 'set null' ? word : undefined;
}
