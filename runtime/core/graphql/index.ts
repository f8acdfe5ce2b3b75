import type { When } from '@twofold/schema';
import {
  type Announcements,
  createAnnouncements,
  throughDatabase,
} from '../data/changes/announcements.ts';
import { betweenWorkers } from '../data/changes/worker-announcements.ts';
import type { Kernel, RevalidateCaller, ServerModule } from '../module.ts';
import type { GraphqlHooks, Resolvers, ScalarMapping } from '../plugin.ts';
import { createEngine } from './create-engine.ts';
import { createDocumentCache } from './document-cache.ts';
import { createEndpoint, createErrorForm } from './endpoint.ts';
import type { Engine } from './engine.ts';
import type { ExplainOptions } from './explain/index.ts';
import { createExplorer } from './explorer.ts';
import { createEventStreams } from './event-stream.ts';
import { createHooks, type ServiceHooks } from './hooks/index.ts';
import { createInputTypes } from './input-types.ts';
import { addEntityHooks } from '../data-api/entity-hooks.ts';
import type { Explain } from '../context/explained.ts';
import type { EntityHooks } from '../context/entity-hooks.ts';
import { addServices } from '../own-context/services.ts';
import { systemContext } from '../own-context/system-context.ts';
import { contextServices } from './context-services.ts';
import { operationMetrics } from './operation-metrics.ts';
import { isFed } from './publish.ts';
import type { Service } from './service.ts';
import { createSocketCallers } from './socket-caller.ts';
import { operationTraces } from './traces.ts';
import { surround, type Surroundings } from './surroundings.ts';
import { acceptedTexts, createDocumentSource, type DocumentSource } from './trusted-documents.ts';
import { createSockets } from './web-socket.ts';

export interface GraphqlOptions {
  readonly kernel: Kernel;
  /** The user's resolvers by type and field. Each replaces an inferred one. */
  readonly resolvers?: Resolvers;
  readonly scalars?: Readonly<Record<string, ScalarMapping>>;
  /** The lifecycle hooks of entities: those of the project, then those of plugins. */
  readonly entityHooks?: readonly Readonly<Record<string, EntityHooks>>[];
  /** Checks whether the caller of an earlier request is still the same. */
  readonly revalidate?: RevalidateCaller;
  /** The hooks of plugins, in the order of the plugins. */
  readonly hooks?: readonly GraphqlHooks[];
}

/** The module, and what its transports share. */
export interface GraphqlModule extends ServerModule {
  readonly service: Service;
}

/**
 * The GraphQL module: the model's schema served over the kernel's database.
 *
 * @throws ConfigError for a scalar mapping or an allow-list that cannot be used.
 * @example const graphql = createGraphql({ kernel, resolvers: { User: { fullName: (user) => `${user.first} ${user.last}` } } });
 */
export function createGraphql({
  kernel,
  resolvers = {},
  scalars = {},
  entityHooks = [],
  revalidate,
  hooks = [],
}: GraphqlOptions): GraphqlModule {
  const engine = createEngine(kernel, resolvers, scalars);
  const { api, server } = kernel.project;
  const isOn = (when: When) => isOnIn(kernel, when);
  const serviceHooks = createHooks(hooks);
  const { service, inner } = createServices(kernel, engine, serviceHooks);
  addServices(kernel.store, {
    ...contextServices(inner, kernel),
    explain: explainLater({ kernel, resolvers, scalars, entityHooks }, serviceHooks),
  });
  addEntityHooks(engine, entityHooks, () => systemContext(kernel));
  const callers = createSocketCallers();
  const sockets = createSockets({
    service,
    callers,
    revalidate,
    bodyLimit: server.bodyLimit,
    origins: server.cors,
  });
  const streams = createEventStreams({ service, callers, revalidate });
  const announcements = announcementsOf(kernel, engine);
  const page = isOn(api.graphiql) ? createExplorer(api.path, kernel.project.name) : null;
  const options = {
    service,
    callers,
    bodyLimit: server.bodyLimit,
    origins: server.cors,
    page,
    stream: streams.answer,
  };
  return {
    name: 'graphql',
    service,
    endpoint: createEndpoint(options),
    errorForm: createErrorForm(options),
    inputs: createInputTypes(engine.schema, kernel.project.constraints),
    upgrade: sockets.upgrade,
    start: async () => announcements?.start(),
    leave: () => {
      streams.close();
      void sockets.close();
    },
    stop: async () => {
      await sockets.close();
      await announcements?.stop();
    },
  };
}

/** Explaining is loaded when it is used for the first time. */
function explainLater(
  options: Omit<ExplainOptions, 'documents'>,
  { rules, read }: ServiceHooks,
): Explain {
  let made: Promise<Explain> | undefined;
  const make = async () => {
    const { createExplain } = await import('./explain/index.ts');
    return createExplain({ ...options, documents: { own: rules, ...(read && { read }) } });
  };
  return async (question, context) => (await (made ??= make()))(question, context);
}

const isOnIn = ({ settings }: Kernel, when: When): boolean =>
  when === 'always' || (when === 'development' && !settings.production);

function observersOf({ metrics, tracing }: Kernel, source: DocumentSource): Surroundings[] {
  return [
    ...(metrics ? [operationMetrics(metrics, source)] : []),
    ...(tracing ? [operationTraces(tracing)] : []),
  ];
}

/**
 * The service of `/graphql`, and that of `ctx.graphql`, whose operations are the project's own: no
 * plugin looks at them.
 */
function createServices(
  kernel: Kernel,
  engine: Engine,
  hooks: ServiceHooks,
): { readonly service: Service; readonly inner: Service } {
  const { api } = kernel.project;
  const source = createDocumentSource(api.trustedDocuments, {
    root: kernel.root,
    production: kernel.settings.production,
  });
  const rules = {
    schema: engine.schema,
    limits: api.limits,
    introspection: isOnIn(kernel, api.introspection),
    suggestions: isOnIn(kernel, api.suggestions),
  };
  const plain: Service = { engine, api, source, documents: createDocumentCache(rules) };
  const surroundings = surround(hooks, observersOf(kernel, source));
  const { read } = hooks;
  if (hooks.rules.length === 0 && !read)
    return { service: { ...plain, ...surroundings }, inner: plain };
  const hooked = { ...rules, own: hooks.rules };
  const documents = createDocumentCache({
    ...hooked,
    accepted: acceptedTexts(source, hooked),
    ...(read && { read }),
  });
  return { service: { ...plain, documents, ...surroundings }, inner: plain };
}

/**
 * Announces changes between servers that share a PostgreSQL database and between workers that share
 * a file, if the schema has a subscription that the server feeds.
 */
function announcementsOf(
  { project, store, log }: Kernel,
  engine: Engine,
): Announcements | undefined {
  if (!project.operations.some((operation) => isFed(engine, operation))) return undefined;
  const { changes } = engine;
  return createAnnouncements(changes, store.listen ? throughDatabase(store, log) : betweenWorkers);
}
