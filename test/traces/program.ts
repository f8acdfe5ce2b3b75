/** A server whose project has registered a provider, as `src/server.ts` would, or has not. */
export const program = (options: {
  readonly traces: boolean;
  readonly collector?: string;
  readonly manager?: boolean;
}): string => `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ resolve: (name, context, next) => (name.startsWith('@opentelemetry') && context.parentURL?.includes('/runtime/') && loaded.push(name), next(name, context)) });
${options.collector ? provider(options.collector, options.manager ?? true) : ''}
const { createServer, defineApp, sql } = await import('@twofold/runtime');
const { readProject } = await import('@twofold/schema');
const { project } = readProject({
  schema: [{ file: 'schema.graphql', text: \`
    type Note { id: ID! text: String! shout: String! @computed }
    type Query { notes: [Note!]! search(text: String!): [Note!]! bug: String raw: String loaded: [String!]! }
    type Mutation { createNote(text: String!): Note! mail(to: String!): Boolean! }
    type Subscription { noteCreated: Note! }\` }],
  manifest: { file: 'manifest.yaml', text: 'name: traced\\nobservability: { traces: ${options.traces} }\\n' },
});
const app = defineApp({
  project,
  jobs: { mail: { run: async ({ data, ctx }) => { await ctx.data.note.findMany({ limit: 1 }); ctx.log.info('mailed'); } } },
  entityHooks: { Note: { resolveInput: { create: ({ input }) => ({ text: input.text.trim() }) }, afterOperation: () => {} } },
  routes: (router) => router.get('/api/notes/:id', async (ctx) => ({ notes: await ctx.data.note.count() })),
  resolvers: {
    Note: { shout: (note) => note.text.toUpperCase() },
    Query: {
      search: async (_, { text }, ctx) => { ctx.log.info('searching'); return ctx.db.selectFrom('notes').selectAll().where('text', '=', text).execute(); },
      bug: () => { throw new RangeError('the cause of it'); },
      raw: async (_, args, ctx) => { await sql\`select id from notes where text = 'raw-literal' and id > 4242\`.execute(ctx.db); return 'done'; },
      loaded: () => loaded,
    },
    Mutation: { mail: async (_, { to }, ctx) => { await ctx.jobs.send('mail', { to }); return true; } },
  },
});
await createServer(app).serve('127.0.0.1:0');
`;

const provider = (collector: string, manager: boolean) => `
import { context, trace } from '@opentelemetry/api';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
${manager ? 'context.setGlobalContextManager(new AsyncLocalStorageContextManager());' : ''}
const exporter = new OTLPTraceExporter({ url: '${collector}/v1/traces' });
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 100 })] }));
`;
