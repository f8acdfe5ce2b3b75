// Generated from schema.graphql and manifest.yaml. Do not edit: `npm run generate` writes it again.

/** The SDL that the server serves. */
export const sdl = /* GraphQL */ `
"""
What people work for. It belongs to the person who made it, and only the roles below may read or change it besides.
"""
type Company
   {
  id: ID!
  name: String!
  owner: User!
  employees(limit: Int, offset: Int): [User!]!
  projects(limit: Int, offset: Int): [Project!]!
}

"""
Somebody who signs in. Everybody signed in reads the name, each person alone reads their e-mail and changes their row.
Password and sessions stand elsewhere, where no query reaches them.
"""
type User {
  id: ID!
  name: String!
  email: String!
  company: Company
}

type Project
   {
  id: ID!
  title: String!
  done: Boolean!
  company: Company!
  owner: User!
  createdAt: DateTime!
}

scalar DateTime

input CreateProjectInput {
  title: String!
  companyId: ID!
}

type Query {
  company(id: ID!): Company
  companies(limit: Int, offset: Int): [Company!]!
  project(id: ID!): Project
  projects(done: Boolean, limit: Int, offset: Int): [Project!]!
  user(id: ID!): User
  users(limit: Int, offset: Int): [User!]!
}

type Mutation {
  createCompany(name: String!): Company!
  createProject(input: CreateProjectInput!): Project!
  updateProject(id: ID!, title: String, done: Boolean): Project
  deleteProject(id: ID!): Boolean!
  joinCompany(companyId: ID!): User!
}
`;
