import { buildSchema } from 'graphql';
import { restRoutes } from '@twofold/schema';
import { changesOf } from '../data/changes.ts';
import { createReader } from '../data/reader.ts';
import { attachScalars, type ScalarFunctions } from '../data/scalars/attach.ts';
import type { Kernel, ServerModule } from '../module.ts';
import type { BoundRoute, Handler } from '../http/route.ts';
import { handlersOf, type RestService } from './handlers.ts';
import { restEntities, restModel } from './modules.ts';

export interface RestOptions {
  readonly kernel: Kernel;
  readonly scalars?: Readonly<Record<string, ScalarFunctions>>;
}

/**
 * The REST modules: for each entity the calls that the schema's root fields allow, with the same statements, rules,
 * checks and events.
 *
 * @throws ConfigError for a scalar mapping that cannot be used.
 * @example createRest({ kernel }).routes?.map(({ spec }) => spec.path) // ['/api/posts', '/api/posts/:id', …]
 */
export function createRest({ kernel, scalars = {} }: RestOptions): ServerModule {
  const { project, store, now } = kernel;
  const model = restModel(project);
  const schema = buildSchema(project.sdl);
  const watched = new Set(project.operations.flatMap(({ action }) => (action.kind === 'subscribe' && action.on.includes('deleted') ? [action.entity] : [])));
  const service: RestService = {
    model,
    store,
    schema,
    now,
    reader: createReader(model, store),
    changes: changesOf(store),
    codecs: attachScalars(schema, project, scalars),
    bodyLimit: project.server.bodyLimit,
    watchesRemoval: (entity) => watched.has(entity),
  };
  return { name: 'rest', routes: bindModules(service), guards: { rules: () => {} } };
}

/** The rules are asked by the handlers themselves: they are conditions in the statements. */
function bindModules(service: RestService): BoundRoute[] {
  const handlers = new Map<string, Handler>();
  for (const entity of restEntities(service.model.project, service.model)) {
    const { list, get, create, update, remove } = handlersOf(service, entity);
    const item = `${entity.path}/:id`;
    const table = [['GET', entity.path, list], ['GET', item, get], ['POST', entity.path, create], ['PATCH', item, update], ['PUT', item, update], ['DELETE', item, remove]] as const;
    for (const [method, path, handler] of table) handlers.set(`${method} ${path}`, handler);
  }
  return restRoutes(service.model.project).map((spec) => ({ spec, handle: handlers.get(`${spec.method} ${spec.path}`) as Handler }));
}
