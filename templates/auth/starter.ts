import { EDITOR_LINE, REST, yamlText } from '../starter/manifest-lines.ts';

/** A template with sign-in, roles, the company's id in the token, rate limits and OAuth. */
export const company = {
  about: 'people of companies who sign in: roles, OAuth, a token that carries the company',
  schema: `"""
What people work for. It belongs to the person who made it, and only the roles below may read or change it besides.
"""
type Company
  @auth(allow: [OWNER], owner: "owner")
  @auth(allow: [ROLE], roles: ["Owner", "Administrator"], on: [READ, UPDATE, DELETE]) {
  id: ID!
  name: String!
  owner: User!
  employees: [User!]!
  projects: [Project!]!
}

"""
Somebody who signs in. Everybody signed in reads the name, each person alone reads their e-mail and changes their row.
Password and sessions stand elsewhere, where no query reaches them.
"""
type User {
  id: ID!
  name: String!
  email: String! @unique
  company: Company
}

type Project
  @auth(allow: [OWNER], owner: "owner")
  @auth(allow: [ROLE], roles: ["Owner", "Administrator"], on: [READ, UPDATE, DELETE]) {
  id: ID!
  title: String!
  done: Boolean! @default(value: false)
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
`,
  manifest: (name: string) => `${EDITOR_LINE}name: ${yamlText(name)}
${REST}console: {}
auth:
  roles: { list: [Owner, Administrator, Member, Viewer], default: Member, first: Owner }
  rate_limits: { login-ip: 60/1m }
  oauth:
    providers:
      google: { preset: google }
      github: { preset: github }
      facebook: { preset: facebook }
`,
  files: {
    'src/extend.ts': `import type * as types from './generated/types.ts';

/** What a token carries about its user, and the login response shows: asked once for each sign-in. */
export const extend: types.Extend = async (userId, { db }) => {
  const user = await db.selectFrom('users').select('companyId').where('id', '=', userId).executeTakeFirst();
  return { user_id: userId, company_id: user?.companyId ?? null };
};
`,
    'src/auth-events.ts': `import type * as types from './generated/types.ts';

/** What happens beside the log and the webhooks, once an event is committed; \`'*'\` hears them all. What is thrown here reaches no request. */
export const listeners: types.Listeners = {
  'auth.locked': (event) => console.warn(\`user \${String(event.user_id)} is locked until \${String(event.data['until'])}, after wrong passwords from \${event.ip}\`),
};
`,
    'src/resolvers/Mutation.ts': `import { failure } from '@twofold/runtime';
import type * as types from '../generated/types.ts';

export const resolvers = {
  /** The company that the signed-in user works for, one of their own; \`extend\` puts it into the next token. */
  async joinCompany(_parent, { companyId }, ctx) {
    if (!ctx.user) throw failure.unauthenticated();
    const company = await ctx.db.selectFrom('companies').select('id').where('id', '=', companyId).where('ownerId', '=', ctx.user.id).executeTakeFirst();
    if (!company) throw failure.notFound('Company not found');
    await ctx.db.updateTable('users').set({ companyId: companyId }).where('id', '=', ctx.user.id).execute();
    const user = await ctx.loaders.user.load(ctx.user.id);
    if (!user) throw failure.notFound('User not found');
    return user;
  },
} satisfies types.MutationOverrides;
`,
  },
  query: '{ companies { name projects { title done } } }',
  caller: 'user',
} as const;
