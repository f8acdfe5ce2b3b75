import { createServer } from '../../runtime/core/index.ts';

/** A server of the tests: its settings are those of the environment. */
const SCHEMA = `
  type Note { id: ID! text: String! tag: Tag! }
  type Tag { id: ID! name: String! notes: [Note!]! }
  type Query { note(id: ID!): Note notes(limit: Int): [Note!]! tags: [Tag!]! tag(id: ID!): Tag }
  type Mutation {
    createTag(name: String!): Tag
    createNote(text: String!, tagId: ID!): Note
    own(name: String!): String
    loose(name: String!): String
  }
  type Subscription { noteCreated: Note! }`;

const MANIFEST = `name: failing
api: { rest: true }
`;

const write = async (name: string, ctx: any) => {
  await ctx.data.tag.create({ data: { name } });
  return name;
};

await createServer({
  resolvers: {
    Mutation: {
      own: (_: unknown, { name }: any, ctx: any) => write(name, ctx),
      loose: {
        transaction: false,
        resolve: (_: unknown, { name }: any, ctx: any) => write(name, ctx),
      },
    },
  },
} as any)
  .schema(SCHEMA, MANIFEST)
  .serve('127.0.0.1:0');
