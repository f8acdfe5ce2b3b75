import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Program, query, run } from '../server/program.ts';

const PROGRAM = (sdl: string) => `
import { auth } from '@twofold/auth';
import { createServer } from '@twofold/runtime';
import { readProject } from '@twofold/schema';
const manifest = 'name: clients\\napi: { rest: true, access: public, limits: { time: 2s } }\\nauth: {}\\n';
const { project, diagnostics } = readProject({ schema: [{ file: 'schema.graphql', text: ${JSON.stringify(sdl)} }], manifest: { file: 'manifest.yaml', text: manifest } });
if (!project) throw new Error(JSON.stringify(diagnostics));
let running = 0;
const resolvers = {
  Post: {
    shout: ({ title }) => title.toUpperCase(),
    fragile: () => { throw new Error('the cupboard of cups'); },
  },
  PostEdge: { rank: ({ node }) => node.title.length },
  CreatePostPayload: { loud: ({ post }) => post.title.toUpperCase() },
  Query: {
    slow: (_, { milliseconds }, { signal }) => new Promise((resolve) => {
      running += 1;
      const done = (value) => { running -= 1; clearTimeout(timer); resolve(value); };
      const timer = setTimeout(done, milliseconds, true);
      signal.addEventListener('abort', () => done(null));
    }),
  },
};
const routes = (router) => router.get('/running', (ctx) => void (ctx.body = { running }));
await createServer({ project, resolvers, routes, capabilities: [auth()] }).serve('127.0.0.1:0');
`;

const ENVIRONMENT = {
  DATABASE_URL: ':memory:',
  LOG_LEVEL: 'warn',
  JWT_SECRET: 'a secret of the clients that is long enough',
  RATE_LIMIT_ENABLED: 'false',
};

/** The schema that clients meet: nodes, connections, payloads, a union, subscriptions, rules. */
export const sdl = readFileSync(
  fileURLToPath(new URL('programs/schema.graphql', import.meta.url)),
  'utf8',
);

/** A real server in a process of its own, with two authors and seven posts. */
export async function serve(): Promise<{ program: Program; url: string }> {
  const program = run(PROGRAM(sdl), { ...ENVIRONMENT, LOG_LEVEL: 'info' });
  const url = await program.listening;
  await query(
    url,
    'mutation { a: createAuthor(name: "Ada", email: "ada@example.test") { id } b: createAuthor(name: "Bob", email: "bob@example.test") { id } createTag(name: "steam") { id } }',
  );
  const create =
    'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
  for (let n = 1; n <= 7; n++)
    await query(url, create, {
      input: {
        title: `Post ${n}`,
        mood: n % 2 ? 'CALM' : 'WILD',
        rating: n / 4,
        authorId: n < 6 ? 'Author:1' : 'Author:2',
      },
    });
  return { program, url };
}
