/** A server of `idle.ts` in a process of its own, with the console or without it. Its argument says which. */
import { createServer } from '@twofold/runtime';
import { auth } from '@twofold/auth';

const withConsole = process.argv[2] === 'console';
// The other server has no such package.
const capabilities = withConsole ? [(await import('@twofold/console/server')).webConsole()] : [];
const manifest = `name: idle\napi: { access: public }\nauth: {}\n${withConsole ? 'console: {}\n' : ''}`;
const server = createServer()
  .schema(
    `type User { id: ID! email: String! @unique }
     type Post @auth(allow: [PUBLIC]) { id: ID! title: String! }
     type Query { posts(limit: Int): [Post!]! post(id: ID!): Post }`,
    manifest,
  )
  .with(auth(), ...capabilities)
  .plugin({
    name: 'rows',
    hooks: {
      start: async ({ store }) => {
        for (let post = 1; post <= 100; post += 1)
          await store.db
            .insertInto('posts')
            .values({ title: `post ${post}` })
            .execute();
      },
    },
  });
const { url } = await server.start('127.0.0.1:0', {
  env: {
    DATABASE_URL: ':memory:',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_ENABLED: 'false',
    JWT_SECRET: 'a bench secret that is long enough to be one',
    HOST_PASSWORD: 'the operator knows this',
  },
});

process.on('message', (asked) => {
  if (asked === 'memory') globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(asked === 'memory' ? heapUsed + external : user + system);
});
process.send?.(Number(new URL(url).port));
