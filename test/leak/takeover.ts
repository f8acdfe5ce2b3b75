import type { Entity, Project } from '@twofold/schema';
import type { Resolver, Resolvers } from '../../runtime/core/plugin.ts';
import { inferred } from '../../runtime/core/inferred.ts';
import type { Random } from '../graphql/random-schema.ts';

/** Whether roots are actions, or functions stand in the place of them and of some fields, so that loaders and the executor do the work. */
export type Execution = 'planned' | 'unplanned';

/** Functions that answer nothing which the server would not: whatever is told through them, the server itself has told. */
export function takeOver(random: Random, project: Project, bareRows = true): Resolvers {
  const roots: Record<string, Record<string, Resolver>> = { Query: {}, Mutation: {} };
  for (const { root, name, action } of project.operations) {
    if (root === 'query')
      roots['Query']![name] =
        action.kind === 'get' && bareRows && random.chance(0.3) ? bare : answered;
    if (root === 'mutation' && random.chance(0.5)) roots['Mutation']![name] = answered;
  }
  return {
    ...roots,
    ...Object.fromEntries(
      project.entities.map((entity) => [entity.name, fieldsOf(random, entity)]),
    ),
  } as Resolvers;
}

const answered: Resolver = (parent, args, context, info) => inferred(parent, args, context, info);

/** An object that has only the key that was asked for, whether there is such a row or not: all else is read by its fields. */
const bare: Resolver = (_, { id }) => ({ id: Number(id) });

function fieldsOf(random: Random, { fields }: Entity): Record<string, Resolver> {
  const functions: Record<string, Resolver> = {};
  for (const { name, source } of fields) {
    if ((source.kind === 'one' || source.kind === 'many') && random.chance(0.5))
      functions[name] = answered;
    if (source.kind === 'column' && name !== 'id' && random.chance(0.3)) functions[name] = answered;
  }
  return functions;
}
