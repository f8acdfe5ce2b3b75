import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { isOwnTable } from '@twofold/schema';
import {
  buildClientSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  printSchema,
} from 'graphql';

/** A request, and what a server answered. */
export interface Exchange {
  readonly asked: string;
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

const DEEP =
  'query Deep { __schema { types { fields { type { ofType { ofType { ofType { name } } } } } } } }';

/** Everything that is asked of a server: reads only, so that a second server can be asked the same. */
export async function recordReads(url: string, token: string): Promise<Exchange[]> {
  const schema = await schemaOf(url, token);
  const reads = fieldsOf(schema, 'Query');
  const asked = [
    ...reads.map((text) => graphqlRequest(text, token)),
    ...reads.map((text) => graphqlRequest(text, '')),
    graphqlRequest(DEEP, token),
    graphqlRequest('{ doesNotExist }', token),
    ...['/api/health', '/api/users', '/api/posts?limit=2', '/nothing'].map((path) => ({
      path,
      init: {},
    })),
  ];
  const exchanges: Exchange[] = [];
  for (const { path, init } of asked) exchanges.push(await exchange(url, path, init));
  return exchanges;
}

/** What `/api/openapi.json` promises. */
export interface Described {
  /** Method and path of every route; a release may add some of its own. */
  readonly routes: readonly string[];
  /** The operations of the project's own types, with the schemas that they name. */
  readonly own: Readonly<Record<string, unknown>>;
}

/** The tags of routes that every server has, whatever its schema. */
const OF_THE_SERVER = ['system', 'auth', 'hosting', 'models', 'console', 'data'];

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { tags?: readonly string[] }>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

export async function describedRoutes(url: string): Promise<Described> {
  const answer = await fetch(`${url}/api/openapi.json`);
  if (!answer.ok) return { routes: [], own: {} };
  const { paths, components } = (await answer.json()) as OpenApi;
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method} ${path}`,
      operation,
    })),
  );
  const own: Record<string, unknown> = {};
  for (const { route, operation } of all)
    if (!operation.tags?.some((tag) => OF_THE_SERVER.includes(tag))) own[route] = operation;
  for (let size = -1; size < Object.keys(own).length;) {
    size = Object.keys(own).length;
    for (const [, name = ''] of JSON.stringify(own).matchAll(/#\/components\/schemas\/(\w+)/g))
      own[name] = components?.schemas?.[name];
  }
  return { routes: all.map(({ route }) => route).sort(), own };
}

/** Registers a user where the project has sign-in. @returns the access token, or an empty text. */
export async function signUp(url: string): Promise<string> {
  const response = await fetch(`${url}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      email: 'ann@example.com',
      password: 'correct horse battery staple',
      name: 'Ann',
    }),
  });
  const { accessToken = '' } = (await response.json()) as { accessToken?: string };
  return accessToken;
}

/** Creates rows by every mutation that needs only texts and numbers. */
export async function fill(url: string, token: string): Promise<number> {
  const schema = await schemaOf(url, token);
  let done = 0;
  for (let round = 0; round < 3; round++)
    for (const text of fieldsOf(schema, 'Mutation', round)) {
      const { body } = await exchange(url, ...callOf(graphqlRequest(text, token)));
      if (!body.includes('"errors"')) done++;
    }
  return done;
}

const callOf = ({ path, init }: ReturnType<typeof graphqlRequest>) => [path, init] as const;

const graphqlRequest = (query: string, token: string) => ({
  path: '/graphql',
  init: {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token ? { authorization: `Bearer ${token}` } : { 'x-api-key': 'k'.repeat(43) }),
    },
    body: JSON.stringify({ query }),
  },
});

async function exchange(url: string, path: string, init: RequestInit): Promise<Exchange> {
  const response = await fetch(url + path, init);
  const body = await response.text();
  return {
    asked: `${path} ${String(init.body ?? '')}`,
    status: response.status,
    type: response.headers.get('content-type'),
    body: withoutTimes(body),
  };
}

const withoutTimes = (body: string) =>
  body.replace(/"(uptime\w*|requestId|version|timestamp)":"?[\w.:-]+"?/g, '"$1":0');

async function schemaOf(url: string, token: string) {
  const answer = await fetch(`${url}/graphql`, graphqlRequest(getIntrospectionQuery(), token).init);
  const { data } = (await answer.json()) as { data: IntrospectionQuery };
  return buildClientSchema(data);
}

/** The schema that a server has, as `printSchema` prints it. */
export const printedSchema = async (url: string, token: string): Promise<string> =>
  printSchema(await schemaOf(url, token));

type Schema = Awaited<ReturnType<typeof schemaOf>>;

/** An operation for each root field whose arguments can be made up. */
function fieldsOf(schema: Schema, root: 'Query' | 'Mutation', round = 0): string[] {
  const type = root === 'Query' ? schema.getQueryType() : schema.getMutationType();
  const isCreate = (name: string) => root === 'Query' || /^create/.test(name);
  return Object.values(type?.getFields() ?? {})
    .filter(({ name }) => isCreate(name))
    .flatMap((field) => {
      const args = field.args
        .filter(({ type: of }) => root === 'Mutation' || String(of).endsWith('!'))
        .map((arg) => `${arg.name}: ${valueOf(schema, String(arg.type), round)}`);
      const list = args.length > 0 ? `(${args.join(', ')})` : '';
      const word = root === 'Query' ? 'query' : 'mutation';
      return [`${word} { ${field.name}${list}${selectionOf(schema, String(field.type), 2)} }`];
    });
}

const plain = (type: string) => type.replaceAll(/[[\]!]/g, '');

function valueOf(schema: Schema, type: string, round: number): string {
  if (type.startsWith('[')) return `[${valueOf(schema, plain(type), round)}]`;
  const name = plain(type);
  const scalars: Record<string, string> = {
    ID: '1',
    Int: String(round),
    Float: `${round}.5`,
    Boolean: 'true',
    String: `"text${round}@example.com"`,
    DateTime: '"2026-01-02T03:04:05.000Z"',
  };
  const of = schema.getType(name);
  if (scalars[name]) return scalars[name];
  if (of && 'getValues' in of) return String(of.getValues()[0]?.name);
  if (!of || !('getFields' in of)) return 'null';
  const members = Object.values(of.getFields()) as { name: string; type: unknown }[];
  const given = members.filter(
    ({ type: member }) => String(member).endsWith('!') || scalars[plain(String(member))],
  );
  return `{ ${given.map((each) => `${each.name}: ${valueOf(schema, String(each.type), round)}`).join(', ')} }`;
}

/** The scalar fields of a type and of what it refers to. */
function selectionOf(schema: Schema, type: string, depth: number): string {
  const of = schema.getType(plain(type));
  if (!of || !('getFields' in of)) return '';
  const fields = Object.values(of.getFields()) as {
    name: string;
    type: unknown;
    args?: readonly { type: unknown }[];
  }[];
  const inner = fields
    .filter(({ args = [] }) => args.every(({ type: arg }) => !String(arg).endsWith('!')))
    .flatMap((field) => {
      const target = schema.getType(plain(String(field.type)));
      const isLeaf = !target || !('getFields' in target);
      if (isLeaf) return [field.name];
      return depth > 0
        ? [`${field.name}${selectionOf(schema, String(field.type), depth - 1)}`]
        : [];
    })
    .filter((text) => !/\{ *\}/.test(text));
  return ` { __typename ${inner.join(' ')} }`;
}

/** The rows of every table of the project's own. */
export function rowsOf(root: string): Record<string, unknown[]> {
  const database = new DatabaseSync(join(root, 'data/app.db'), { readOnly: true });
  try {
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' order by name")
      .all() as { name: string }[];
    return Object.fromEntries(
      tables
        .filter(({ name }) => !isOwnTable(name) && !/^sqlite_|^twofold_/.test(name))
        .map(({ name }) => [name, database.prepare(`select * from "${name}"`).all()]),
    );
  } finally {
    database.close();
  }
}
