import { buildSchema } from 'graphql';
import { clientSource } from '../../generator/documents/front-end.ts';
import { readOperations } from '../../generator/documents/operations.ts';
import { createAuth } from '../../runtime/auth/create-auth.ts';
import { createServer, type Running } from '../../runtime/core/index.ts';
import { clientFiles } from '../../templates/client/index.ts';
import type { FrontEnd } from '../../templates/client/operation.ts';

export const SDL = `
  type User { id: ID! name: String! email: String! }
  type Post { id: ID! title: String! }
  type Query { posts(limit: Int): [Post!]! post(id: ID!): Post }
  type Mutation { createPost(title: String!): Post! }
  type Subscription { postCreated: Post! }
`;
export const PASSWORD = 'correct horse battery staple';

const DOCUMENTS = `
  query Posts($limit: Int) { posts(limit: $limit) { ...Card } }
  query Post($id: ID!) { post(id: $id) { ...Card } }
  mutation Add($title: String!) { createPost(title: $title) { ...Card } }
  subscription Added { postCreated { ...Card } }
  fragment Card on Post { id title }
`;

const sourceOf = (text: string) => ({
  file: 'a.graphql',
  text,
  line: 1,
  column: 1,
  inCode: false,
  isStatic: true,
});

/** The list that a run would keep beside these files. */
export function listOf(typenames = false): Record<string, string> {
  const { operations } = readOperations(buildSchema(SDL), [sourceOf(DOCUMENTS)], { typenames });
  return Object.fromEntries(operations.map(({ hash, text }) => [hash, text]));
}

/** The files of a front end, as a run prints them. */
export function clientOf(
  changes: Partial<FrontEnd> = {},
  { sdl, documents } = { sdl: SDL, documents: DOCUMENTS },
): Record<string, string> {
  const schema = buildSchema(sdl);
  const typenames = changes.format === 'ast';
  const { operations, fragments } = readOperations(schema, [sourceOf(documents)], {
    typenames,
  });
  const given: FrontEnd = {
    schema,
    operations: operations.map((each) => ({ ...each, inCode: null })),
    fragments: fragments.map((each) => ({ ...each, inCode: null })),
    format: 'string',
    send: 'hash',
    scalars: {
      ID: { input: 'string | number', output: 'string' },
      String: { input: 'string', output: 'string' },
      Int: { input: 'number', output: 'number' },
    },
    ending: '.ts',
    server: { graphql: '/graphql', delivery: 'body' },
    source: clientSource,
    ...changes,
  };
  return Object.fromEntries(
    Object.entries(clientFiles).map(([name, render]) => [name, render(given)]),
  );
}

const ENV = {
  JWT_SECRET: 's'.repeat(43),
  LOG_LEVEL: 'fatal',
  RATE_LIMIT_ENABLED: 'false',
};

/** A server with sign-in, at a free port or at the one of `at`. */
export function startServer({
  auth = '{}',
  manifest = '',
  at = '127.0.0.1:0',
  env = {},
}: {
  auth?: string;
  manifest?: string;
  at?: string;
  env?: Record<string, string>;
} = {}): Promise<Running> {
  return createServer()
    .with({
      name: 'auth',
      create: (kernel) =>
        createAuth({ kernel, model: kernel.project.auth, host: false, bcryptCost: 4 }),
    })
    .schema(SDL, `name: front\nauth: ${auth}\n${manifest}`)
    .start(at, { env: { ...ENV, DATABASE_URL: ':memory:', ...env } });
}

export async function register(url: string, email: string): Promise<void> {
  const response = await fetch(`${url}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, name: 'Ada', password: PASSWORD }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}
