import { capabilityStarters, templates } from '../capabilities.ts';
import type { Starter } from '../capability.ts';
import { blog } from './blog.ts';
import { EDITOR_LINE, REST, yamlText } from './manifest-lines.ts';

/** One type of users: the smallest schema that can be filled and queried. */
const starter = {
  about: 'people who can be listed, read and changed',
  schema: `"""A person."""
type User {
  id: ID!
  name: String!
  email: String! @unique
}

input CreateUserInput {
  name: String!
  email: String!
}

input UpdateUserInput {
  name: String
  email: String
}

type Query {
  user(id: ID!): User
  users(limit: Int, offset: Int): [User!]!
}

type Mutation {
  createUser(input: CreateUserInput!): User!
  updateUser(id: ID!, input: UpdateUserInput!): User
  deleteUser(id: ID!): Boolean!
}
`,
  manifest: (name: string) => `${EDITOR_LINE}name: ${yamlText(name)}
${REST}console: {}

${templates.flatMap(({ hint = [] }) => hint).join('\n')}`,
  files: {},
  query: '{ users { id name email } }',
} as const;

export type { Starter } from '../capability.ts';

/** The starter projects of `init`, by name. */
export const starters = { starter, blog, ...capabilityStarters } as const satisfies Record<
  string,
  Starter
>;

export type StarterName = keyof typeof starters;
