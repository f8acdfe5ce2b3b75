import { EDITOR_LINE, yamlText } from '../starter/manifest-lines.ts';

/** A hosting server for container apps on this machine's Docker or Podman. */
export const hosting = {
  about: 'container apps on this machine’s Docker or Podman, and a list of who owns which',
  schema: `"""The team that an app belongs to."""
type Team {
  id: ID!
  name: String! @unique
  apps: [HostedApp!]!
}

"""A hosted app. The hosting API identifies it by its name."""
type HostedApp {
  id: ID!
  name: String! @unique
  team: Team
}

type Query {
  team(id: ID!): Team
  teams: [Team!]!
  hostedApps: [HostedApp!]!
}

type Mutation {
  createTeam(name: String!): Team!
  createHostedApp(name: String!, teamId: ID): HostedApp!
  deleteHostedApp(id: ID!): Boolean!
}
`,
  manifest: (name: string) => `${EDITOR_LINE}name: ${yamlText(name)}
# Tables are for who holds a credential: the host token, or a key.
api: { rest: true, access: user }
console: {}
hosting:
  engine: { kind: auto }
  domain: apps.localhost
`,
  files: {},
  query: '{ teams { name apps { name } } }',
  caller: 'host',
} as const;
