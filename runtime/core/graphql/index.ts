import {
  buildSchema,
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
} from 'graphql';
import type { Project, When } from '@twofold/schema';
import { createAnnouncements, type Announcements } from '../data/announcements.ts';
import { changesOf } from '../data/changes.ts';
import { indexModel } from '../data/model.ts';
import { createWorkerAnnouncements } from '../data/worker-announcements.ts';
import { createReader } from '../data/reader.ts';
import { attachScalars } from '../data/scalars/attach.ts';
import type { Kernel, RevalidateCaller, ServerModule } from '../module.ts';
import type { GraphqlHooks, Resolvers, ScalarMapping } from '../plugin.ts';
import { createDocumentCache } from './document-cache.ts';
import { createEndpoint, createErrorForm } from './endpoint.ts';
import type { Engine } from './engine.ts';
import { createExplorer } from './explorer.ts';
import { createEventStreams } from './event-stream.ts';
import { keepCallersOrder } from './caller-order.ts';
import { createHooks, type ServiceHooks } from './hooks/index.ts';
import { createInputTypes } from './input-types.ts';
import { addEntityHooks } from '../data-api/entity-hooks.ts';
import type { EntityHooks } from '../context/entity-hooks.ts';
import { addServices } from '../own-context/services.ts';
import { systemContext } from '../own-context/system-context.ts';
import { contextServices } from './context-services.ts';
import { operationMetrics } from './operation-metrics.ts';
import { isFed } from './publish.ts';
import { attachResolvers } from './resolvers.ts';
import type { Service } from './service.ts';
import { createSocketCallers } from './socket-caller.ts';
import { operationTraces } from './operation-traces.ts';
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
}: GraphqlOptions): ServerModule {
  const engine = createEngine(kernel, resolvers, scalars);
  const { api, server } = kernel.project;
  const isOn = (when: When) => isOnIn(kernel, when);
  const { service, inner } = createServices(kernel, engine, createHooks(hooks));
  addServices(kernel.store, contextServices(inner, kernel));
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
  const source = createDocumentSource(api.trustedDocuments, kernel.root);
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
  { project, store, settings, log }: Kernel,
  engine: Engine,
): Announcements | undefined {
  if (!project.operations.some((operation) => isFed(engine, operation))) return undefined;
  const { changes } = engine;
  const url = settings.text('DATABASE_URL');
  if (store.dialect === 'postgres')
    return url === undefined ? undefined : createAnnouncements({ store, changes, url, log });
  return createWorkerAnnouncements(changes);
}

/** Makes an engine over the model of `kernel.project`. GraphQL and REST have one each. */
export function createEngine(
  kernel: Kernel,
  resolvers: Resolvers,
  scalars: Readonly<Record<string, ScalarMapping>>,
): Engine {
  const { project, store, log, now } = kernel;
  const model = indexModel(project);
  const schema = buildSchema(project.sdl, { assumeValid: true, noLocation: true });
  const codecs = attachScalars(schema, project, scalars);
  for (const { id, form } of project.orders)
    if (form.kind === 'fields') keepCallersOrder(schema.getType(id) as GraphQLInputType);
  keepGroupOrders(schema, project);
  const watched = new Set(
    project.operations.flatMap(({ action }) =>
      action.kind === 'subscribe' && action.on.includes('deleted') ? [action.entity] : [],
    ),
  );
  const engine: Engine = {
    model,
    schema,
    store,
    log,
    now,
    resolvers,
    reader: createReader(model, store),
    changes: changesOf(store),
    isPlain: (scalar) => codecs.get(scalar)?.plain ?? true,
    watchesRemoval: (entity) => watched.has(entity),
  };
  attachResolvers(engine);
  return engine;
}

/** An order of groups is an input of inputs, each of which keeps the order of the caller. */
function keepGroupOrders(schema: GraphQLSchema, { operations, entities }: Project): void {
  const fields = [
    ...operations.map(({ action, args }) => ({ source: action, args })),
    ...entities.flatMap((entity) => entity.fields),
  ];
  for (const { source, args } of fields) {
    const name = source.kind === 'aggregated' ? source.groups?.orderBy : undefined;
    const order = args.find((argument) => argument.name === name)?.type.name;
    const type = order === undefined ? undefined : schema.getType(order);
    if (!isInputObjectType(type)) continue;
    keepCallersOrder(type);
    for (const inner of Object.values(type.getFields())) keepCallersOrder(getNamedType(inner.type));
  }
}
