// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

/** The schema as it is served. */
export const sdl = /* GraphQL */ `
"""Who an app belongs to."""
type Team {
  id: ID!
  name: String!
  apps: [HostedApp!]!
}

"""A hosted app by its name, which is how the hosting API calls it."""
type HostedApp {
  id: ID!
  name: String!
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
`;
