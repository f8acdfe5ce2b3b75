/**
 * A server of `observability.ts`, in a process of its own and as users run it: with sign-in, CORS, a middleware, and
 * with figures, with traces, or with neither. Its arguments are the folder of the checkout, and a JSON text of
 * `Observed`.
 */
import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import {
  type Destination,
  registerProvider,
  type SpanShapes,
  spansByHand,
} from './observed-spans.ts';
import { DECLARED, HEADER, HEADER_VALUE, ORIGIN } from './shape.ts';

export interface Observed {
  /** What the manifest has more. */
  readonly manifest: string;
  /** Where spans go; without it there is no provider. */
  readonly destination?: Destination;
  /** The spans that a middleware makes by hand. */
  readonly byHand?: SpanShapes;
}

const [checkout = '', observed = ''] = process.argv.slice(2);
const { manifest, destination, byHand } = JSON.parse(observed) as Observed;
if (destination) await registerProvider(destination);
const moduleOf = (path: string) => import(pathToFileURL(join(checkout, 'runtime', path)).href);
const { createServer } = (await moduleOf(
  'core/index.ts',
)) as typeof import('../../runtime/core/index.ts');
const { auth } = (await moduleOf('auth/index.ts')) as typeof import('../../runtime/auth/index.ts');

const server = createServer().schema(
  `type User { id: ID! name: String! email: String! @unique @auth(allow: [USER]) posts: [Post!]! }
   type Post { id: ID! title: String! author: User! }
   type Query { users(limit: Int): [User!]! user(id: ID!): User own(id: ID!): String }
   type Mutation { createPost(title: String!, authorId: ID!): Post! }`,
  `${DECLARED.asRun.manifest}${manifest}`,
);
server.with(auth());
if (byHand) server.use(await spansByHand(byHand));
server.use((ctx, next) => {
  ctx.set(HEADER, HEADER_VALUE);
  return next();
});
server.plugin({
  name: 'own',
  resolvers: {
    Query: {
      own: async (_, { id }, ctx) => (await ctx.data.user.findUnique({ where: { id } }))?.name,
    },
  },
  hooks: {
    start: async ({ store }) => {
      for (let user = 1; user <= 100; user += 1) {
        await store.db
          .insertInto('users')
          .values({ name: `user ${user}`, email: `user${user}@example.org` })
          .execute();
        for (let post = 0; post < 10; post += 1)
          await store.db
            .insertInto('posts')
            .values({ title: `post ${post} of ${user}`, author_id: user })
            .execute();
      }
    },
  },
});
const { url } = await server.start('127.0.0.1:0', {
  env: {
    DATABASE_URL: 'file:observed.db',
    APP_URL: ORIGIN,
    JWT_SECRET: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'warn',
    METRICS_TOKEN: 'a-token-of-prometheus',
  },
});

// Whoever drives it asks for the CPU time that it has used so far, in microseconds.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
process.send?.({ port: Number(new URL(url).port) });
