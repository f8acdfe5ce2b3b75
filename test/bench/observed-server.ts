/**
 * A server of `observability.ts`, in a process of its own and as users run it: with sign-in, CORS, a middleware, and
 * with figures, with traces, or with neither. Its arguments are the folder of the checkout, what its manifest has
 * more, where spans go (none for no provider), and whether a middleware makes the spans by hand.
 */
import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import type { Middleware } from 'koa';
import { DECLARED, HEADER, HEADER_VALUE, ORIGIN } from './shape.ts';

const [checkout = '', manifest = '', collector, byHand] = process.argv.slice(2);
if (collector) await registerProvider(collector);
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
if (byHand) server.use(await spansByHand());
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
  process.send?.(user + system);
});
process.send?.(Number(new URL(url).port));

/** The provider of a project: a tenth of the requests, sent by OTLP in batches. */
async function registerProvider(address: string): Promise<void> {
  const { context, trace } = await import('@opentelemetry/api');
  const { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } =
    await import('@opentelemetry/sdk-trace');
  const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  trace.setGlobalTracerProvider(
    new TracerProvider({
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.1) }),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new OTLPTraceExporter({ url: `${address}/v1/traces` }),
        }),
      ],
    }),
  );
}

/**
 * As many spans as a server with traces makes for an operation with one statement, made with the SDK alone: what is left
 * beyond them is the cost of our own part. No part of a request that is not sampled has a span, as with ours.
 */
async function spansByHand(): Promise<Middleware> {
  const { context, propagation, ROOT_CONTEXT, SpanKind, trace } =
    await import('@opentelemetry/api');
  const tracer = trace.getTracer('by hand');
  const statement = { 'db.system.name': 'sqlite', 'db.operation.name': 'SELECT' };
  return async (ctx, next) => {
    const parent = propagation.extract(ROOT_CONTEXT, ctx.req.headers);
    const attributes = { 'http.request.method': ctx.method };
    const request = tracer.startSpan(ctx.method, { kind: SpanKind.SERVER, attributes }, parent);
    const within = trace.setSpan(parent, request);
    await context.with(within, next);
    if (request.isRecording()) {
      const kind = { 'graphql.operation.type': 'query', 'graphql.operation.name': 'ById' };
      const operation = tracer.startSpan('query ById', { attributes: kind }, within);
      const below = trace.setSpan(within, operation);
      const read = { ...statement, 'db.query.text': 'select * from users where id = ?' };
      tracer.startSpan('SELECT', { kind: SpanKind.CLIENT, attributes: read }, below).end();
      operation.end();
      request.updateName(`${ctx.method} /graphql`);
      request.setAttributes({ 'http.response.status_code': ctx.status, 'http.route': '/graphql' });
    }
    request.end();
  };
}
