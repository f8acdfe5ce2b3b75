import type { Kernel, Logger } from '@twofold/runtime/kernel';
import { Writable } from 'node:stream';
import { createServer, type Plugin, type Running } from '@twofold/runtime';
import type { Capability } from '@twofold/runtime/kernel';
import { type Project, readProject } from '@twofold/schema';
import type { ConsoleOwnPage } from '../../schema/console/manifest.ts';
import type { App } from '../../runtime/core/app.ts';
import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';

export const OPERATOR = 'the operator knows this';
export const GOOD = 'correct horse battery staple';

const SETTINGS = {
  DATABASE_URL: ':memory:',
  LOG_LEVEL: 'info',
  JWT_SECRET: 'a test secret that is long enough to be one',
  API_KEY: 'key-of-the-console-0123456789abcdef',
  SETUP_TOKEN: 'setup-of-the-console-0123456789abcdef',
  RATE_LIMIT_ENABLED: 'false',
};

export const SDL = `
  type User { id: ID! email: String! @unique }
  type Author @auth(allow: [PUBLIC]) { id: ID! name: String! posts: [Post!]! }
  enum State { DRAFT SHOWN }
  scalar JSON
  type Post @auth(allow: [PUBLIC]) { id: ID! title: String! @constraint(maxLength: 40) state: State! @default(value: DRAFT) pinned: Boolean meta: JSON secret: String @auth(allow: [ROLE], roles: ["Owner"]) author: Author }
  type Query { authors: [Author!]! author(id: ID!): Author posts(limit: Int, offset: Int): [Post!]! post(id: ID!): Post }
  type Mutation { createAuthor(name: String!): Author! createPost(title: String!, state: State, pinned: Boolean, meta: JSON, secret: String, authorId: ID): Post!
    updatePost(id: ID!, title: String, state: State, pinned: Boolean, meta: JSON, secret: String, authorId: ID): Post deletePost(id: ID!): Boolean! }
`;

export const MANIFEST = `
name: shop
api: { rest: true, access: public }
auth: { roles: { list: [Owner, Support, Member], first: Owner, default: Member } }
console: { roles: { Owner: ["*"], Support: ["data:read"] } }
`;

export interface ConsoleServer extends Running {
  /** What the server has logged. */
  readonly logs: readonly string[];
  /** The server's own log. */
  readonly log: Logger;
  readonly kernel: Kernel;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; body: any; text: string; headers: Headers }>;
}

export interface ConsoleOptions extends Pick<
  Plugin,
  'routes' | 'credentials' | 'resolvers' | 'entityHooks'
> {
  readonly sdl?: string;
  readonly manifest?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Besides auth and the console. */
  readonly capabilities?: readonly Capability[];
  readonly jobs?: App['jobs'];
  /** Pages of the project's own, as `generate` finds them below `src/console`. */
  readonly ownPages?: readonly ConsoleOwnPage[];
  /** The folder of the project; the current one when absent. */
  readonly root?: URL;
  /** Any free port when absent. */
  readonly address?: string;
  /** The clock of the server. */
  readonly now?: () => number;
}

/** A server with a console, users and an operator, over a database in memory. */
export async function startConsole({
  sdl = SDL,
  manifest = MANIFEST,
  env = {},
  capabilities = [],
  jobs = {},
  ownPages = [],
  root,
  address = '127.0.0.1:0',
  now = Date.now,
  ...plugin
}: ConsoleOptions = {}): Promise<ConsoleServer> {
  const { project, diagnostics } = readProject({
    schema: [{ file: 'schema.graphql', text: sdl }],
    manifest: { file: 'manifest.yaml', text: manifest },
  });
  if (!project) throw new Error(JSON.stringify(diagnostics));
  const logs: string[] = [];
  const logTo = new Writable({ write: (line, _, done) => (logs.push(String(line)), done()) });
  let kernel: Kernel | undefined;
  const hooks = { start: (given: Kernel) => void (kernel = given) };
  const running = await createServer({
    project: withPages(root ? asEmitted(project) : project, ownPages),
    jobs,
    capabilities: [auth(), ...capabilities, webConsole()],
    ...(root && { root }),
  })
    .plugin({ name: 'test', hooks, ...plugin })
    .start(address, { env: { ...SETTINGS, HOST_PASSWORD: OPERATOR, ...env }, logTo, now });
  return { ...running, logs, log: kernel!.log, kernel: kernel!, call: callTo(running.url) };
}

/** An emitted project has its manifest as a file in its folder. */
function asEmitted(project: Project): Project {
  if (!project.console) return project;
  const { manifest: _text, ...settings } = project.console;
  return { ...project, console: settings };
}

const withPages = (project: Project, list: readonly ConsoleOwnPage[]): Project =>
  project.console && list.length > 0
    ? { ...project, console: { ...project.console, ownPages: { folder: 'src/console', list } } }
    : project;

const callTo =
  (url: string): ConsoleServer['call'] =>
  async (method, path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /[/+]json/.test(response.headers.get('Content-Type') ?? '');
    return {
      status: response.status,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : text,
      headers: response.headers,
    };
  };
