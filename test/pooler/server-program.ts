import { createServer } from '../../runtime/core/index.ts';

/** A server of the tests: its settings are those of the environment. */
const SCHEMA = `
  type Note { id: ID! text: String! tag: Tag! }
  type Tag { id: ID! name: String! @unique notes: [Note!]! }
  type Query { note(id: ID!): Note notes(limit: Int): [Note!]! tags: [Tag!]! }
  type Mutation { createTag(name: String!): Tag createNote(text: String!, tagId: ID!): Note deleteNote(id: ID!): Note }
  type Subscription { noteCreated: Note! }`;

await createServer().schema(SCHEMA, 'name: pooled\n').serve('127.0.0.1:0');
