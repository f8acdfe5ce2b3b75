import {
  buildSchema,
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
} from 'graphql';
import type { Project } from '@twofold/schema';
import { changesOf } from '../data/changes/changes.ts';
import { indexModel } from '../data/model.ts';
import { createReader } from '../data/reader.ts';
import { attachScalars } from '../data/scalars/attach.ts';
import type { Kernel } from '../module.ts';
import type { Resolvers, ScalarMapping } from '../plugin.ts';
import { keepCallersOrder } from './caller-order.ts';
import type { Engine } from './engine.ts';
import { attachResolvers } from './resolvers.ts';

/** Makes an engine over the model of `kernel.project`. */
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
