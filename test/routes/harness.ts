import type { AddressInfo } from 'node:net';
import { createDatabase } from '../engines/available.ts';
import { createServer } from '../../runtime/core/server.ts';
import type { Plugin } from '../../runtime/core/plugin.ts';

export const SCHEMA = `
  enum Kind { NEWS STORY }
  input LoginBody { email: String! password: String! remember: Boolean = false }
  input Wrapped { user: LoginBody! tags: [String!] }
  input Page { limit: Int = 20 offset: Int = 0 kinds: [Kind!] draft: Boolean }
  input NewArticle { slug: String! title: String! }
  input Signup { email: String! @constraint(format: "email") tags: [String!] @constraint(maxItems: 2, maxLength: 5) age: Int @constraint(min: 18) self: Signup }
  type Article { id: ID! slug: String! @unique title: String! }
  type Query { articles: [Article!]! article(id: ID!): Article }
  type Mutation { createArticle(input: NewArticle!): Article! }
`;

export interface RouteServer {
  readonly url: string;
  readonly port: number;
  /** Lines of the log. */
  readonly lines: string[];
  /** One request; \`body\` is sent as it is, or as JSON when it is an object. */
  ask(request: string, options?: Asked): Promise<{ status: number; headers: Headers; body: any }>;
  close(): Promise<void>;
}

export interface Asked {
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

const running: { close(): Promise<unknown> }[] = [];

/** Closes every server that a test has started. */
export async function closeAll(): Promise<void> {
  for (const each of running.splice(0).toReversed()) await each.close();
}

/** A server with these own routes. */
export async function serveRoutes(
  routes: Plugin['routes'],
  {
    manifest,
    database,
    env = {},
    ...plugin
  }: Partial<Plugin> & {
    readonly manifest?: string;
    readonly database?: 'sqlite' | 'postgres';
    readonly env?: Record<string, string>;
  } = {},
): Promise<RouteServer> {
  const made = database === 'postgres' ? await createDatabase() : undefined;
  if (made) running.push({ close: made.drop });
  const lines: string[] = [];
  const started = await createServer()
    .schema(SCHEMA, `name: test\n${manifest ?? ''}`)
    .plugin({ name: 'test', ...plugin, ...(routes && { routes }) })
    .start('127.0.0.1:0', {
      env: { DATABASE_URL: made?.url ?? ':memory:', ...env },
      logTo: { write: (line) => void lines.push(line) },
    });
  running.push(started);
  const url = started.url;
  return {
    url,
    port: Number(new URL(url).port) satisfies AddressInfo['port'],
    lines,
    ask: (request, options = {}) => ask(url, request, options),
    close: () => started.close(),
  };
}

async function ask(url: string, request: string, { body, type, headers = {} }: Asked) {
  const [method = 'GET', path = '/'] = request.split(' ');
  const isJson = body !== undefined && type === undefined && !(body instanceof FormData);
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(isJson && { 'content-type': 'application/json' }),
      ...(type !== undefined && { 'content-type': type }),
      ...headers,
    },
    ...(body !== undefined && {
      body: (isJson && typeof body !== 'string' ? JSON.stringify(body) : body) as string,
    }),
  });
  const text = await answer.text();
  const isAnswerJson = answer.headers.get('content-type')?.includes('json') === true;
  return {
    status: answer.status,
    headers: answer.headers,
    body: isAnswerJson ? JSON.parse(text) : text,
  };
}
