import type { Extend } from '@twofold/auth';
import { createAuth } from '../../runtime/auth/create-auth.ts';
import type { Resolvers } from '../../runtime/core/plugin.ts';
import type { Kernel } from '../../runtime/core/module.ts';
import { createServer, type Running } from '../../runtime/core/index.ts';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { caller, GOOD, markVerified, type Answer, type TestServer } from './server.ts';

/** A whole server with organizations, for the tests of their routes and of the rule word TENANT. */
export const databases = ['SQLite', ...(postgresUrl ? ['PostgreSQL'] : [])] as const;

export const SDL = `
  type Company { id: ID! name: String! members: [User!]! @list(default: 5, max: 5) projects(limit: Int): [Project!]! }
  type User { id: ID! name: String! email: String! companies: [Company!]! @list(default: 5, max: 5) }
  type Project @auth(allow: [TENANT], on: [READ, CREATE, UPDATE]) @auth(allow: [TENANT], roles: ["Owner"], on: [DELETE]) {
    id: ID! title: String! company: Company! tasks: [Task!]!
  }
  type Task @auth(allow: [TENANT], tenant: "project.company") { id: ID! text: String! project: Project! }
  input Words { eq: String contains: String }
  input CompanyFilter { name: Words }
  input ProjectFilter { title: Words company: CompanyFilter tasks: TaskMany }
  input TaskFilter { text: Words project: ProjectFilter }
  input TaskMany { some: TaskFilter none: TaskFilter }
  input Link { id: ID! }
  input NewProject { title: String! companyId: ID tasks: NewTasks }
  input NewTasks { create: [NewTask!] connect: [Link!] }
  input NewTask { text: String! }
  type Query {
    company(id: ID!): Company companies: [Company!]!
    project(id: ID!): Project projects(limit: Int, offset: Int, where: ProjectFilter, title: String): [Project!]!
    task(id: ID!): Task tasks(where: TaskFilter): [Task!]!
    users: [User!]! user(id: ID!): User
  }
  type Mutation {
    createCompany(name: String!): Company! updateCompany(id: ID!, name: String): Company deleteCompany(id: ID!): Boolean!
    createProject(input: NewProject!): Project! updateProject(id: ID!, title: String, companyId: ID): Project deleteProject(id: ID!): Boolean!
    createTask(text: String!, projectId: ID!): Task! updateTask(id: ID!, text: String, projectId: ID): Task deleteTask(id: ID!): Boolean!
  }
  type Subscription { projectChanged: Project! projectDeleted(id: ID): Project! }
`;
export const MANIFEST = `name: firm
api: { rest: true }
auth: { organizations: { type: Company } }
`;

const ENV = {
  JWT_SECRET: 's'.repeat(43),
  API_KEY: 'k'.repeat(43),
  LOG_LEVEL: 'info',
  RATE_LIMIT_ENABLED: 'false',
};

export interface Firm {
  readonly running: Running;
  readonly kernel: Kernel;
  readonly url: string;
  readonly call: TestServer['call'];
  /** Lines of the log, with the mails in them. */
  readonly lines: string[];
  ask(query: string, person?: Person, headers?: Record<string, string>): Promise<any>;
  /** Registers a user. */
  person(name: string, more?: Record<string, unknown>): Promise<Person>;
  /** The token of the last mail to an address. */
  mailed(email: string): Promise<string>;
  /** Verifies an address by the link of its mail. */
  verify(email: string): Promise<Answer>;
  close(): Promise<void>;
}

export interface Person {
  readonly id: number | string;
  readonly email: string;
  readonly headers: Record<string, string>;
}

export async function startFirm(
  database: string,
  options: {
    readonly sdl?: string;
    readonly manifest?: string;
    readonly env?: Record<string, string>;
    readonly extend?: Extend;
    readonly resolvers?: Resolvers;
  } = {},
): Promise<Firm> {
  const made = database === 'PostgreSQL' ? await createDatabase() : null;
  const lines: string[] = [];
  let kept: Kernel | undefined;
  const server = createServer()
    .with({
      name: 'auth',
      create: (kernel) => {
        kept = kernel;
        return createAuth({
          kernel,
          model: kernel.project.auth,
          host: false,
          bcryptCost: 4,
          ...(options.extend && { extend: options.extend }),
        });
      },
    })
    .plugin({ name: 'functions', resolvers: options.resolvers ?? {} })
    .schema(options.sdl ?? SDL, options.manifest ?? MANIFEST);
  const running = await server.start('127.0.0.1:0', {
    env: { ...ENV, ...options.env, DATABASE_URL: made?.url ?? ':memory:' },
    logTo: { write: (line: string) => void lines.push(line) },
  });
  const url = running.url;
  const call = caller(url);
  const mailed: Firm['mailed'] = async (email) => {
    for (let tries = 0; tries < 100; tries += 1) {
      const mail = lines
        .map((line) => JSON.parse(line).mail)
        .findLast((each) => each?.to.toLowerCase() === email.toLowerCase());
      const token = /token=([\w-]+)/.exec(mail?.text ?? '')?.[1];
      if (token) return token;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`no mail to ${email}`);
  };
  return {
    running,
    kernel: kept!,
    url,
    call,
    lines,
    mailed,
    ask: async (query, person, headers = {}) =>
      (await call('POST', '/graphql', { query }, { ...person?.headers, ...headers })).body,
    person: async (name, more = {}) => {
      const email = `${name}@x.test`;
      const { body, status } = await call('POST', '/api/auth/register', {
        email,
        name,
        password: GOOD,
        ...more,
      });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return { id: body.id, email, headers: { Authorization: `Bearer ${body.accessToken}` } };
    },
    verify: async (email) =>
      call('POST', '/api/auth/verify-email', { token: await mailed(email), password: GOOD }),
    close: async () => {
      await running.close();
      await made?.drop();
    },
  };
}

/** A user with a verified address and an organization of their own. */
export async function founder(firm: Firm, name: string, company = `${name}s firm`) {
  const person = await firm.person(name);
  await markVerified(firm, person);
  const { body } = await firm.call(
    'POST',
    '/api/auth/organizations',
    { name: company },
    person.headers,
  );
  return { ...person, company: body.id as number | string };
}

/** Invites somebody, who joins. */
export async function joins(
  firm: Firm,
  by: Person & { readonly company: number | string },
  who: Person,
  role = 'Member',
): Promise<Answer> {
  await firm.verify(who.email);
  await firm.call(
    'POST',
    `/api/auth/organizations/${by.company}/invitations`,
    { email: who.email, role },
    by.headers,
  );
  return firm.call(
    'POST',
    '/api/auth/invitations/accept',
    { token: await firm.mailed(who.email) },
    who.headers,
  );
}
