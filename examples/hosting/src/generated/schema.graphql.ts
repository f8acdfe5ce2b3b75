// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

/** The SDL that the server serves. */
export const sdl = /* GraphQL */ `
"""The team that an app belongs to."""
type Team {
  id: ID!
  name: String!
  apps(limit: Int, offset: Int): [HostedApp!]!
}

"""A hosted app. The hosting API identifies it by its name."""
type HostedApp {
  id: ID!
  name: String!
  team: Team
}

type Query {
  team(id: ID!): Team
  teams(limit: Int, offset: Int): [Team!]!
  hostedApps(limit: Int, offset: Int): [HostedApp!]!
}

type Mutation {
  createTeam(name: String!): Team!
  createHostedApp(name: String!, teamId: ID): HostedApp!
  deleteHostedApp(id: ID!): Boolean!
}
`;
