import type { GraphQLArgument, GraphQLSchema } from 'graphql';
import type { Entity, Operation, Project, WriteShape } from '../model.ts';
import { kebabCase } from '../names.ts';

/**
 * The endpoints of one module: exactly the root fields that the schema has for the entity, or what
 * `/api/data` has for every entity.
 */
export interface RestModule {
  readonly entity: Entity;
  /** `/api/blog-posts` */
  readonly path: string;
  readonly list?: Operation;
  readonly get?: Operation;
  readonly create?: Operation;
  readonly update?: Operation;
  readonly remove?: Operation;
  /** What the writes of a module without root fields write, and their arguments. */
  readonly writes?: readonly WriteShape[];
  readonly args?: {
    readonly [Verb in RestVerb]?: readonly GraphQLArgument[] | undefined;
  };
}

export const REST_VERBS = ['list', 'get', 'create', 'update', 'remove'] as const;
export type RestVerb = (typeof REST_VERBS)[number];

/**
 * The body of a response to a write: the object if the schema can read it, or the part that the
 * mutation returns.
 */
export type RestAnswer = 'object' | 'id' | 'nothing';

/**
 * The modules of a project, in the schema's order; an entity without a root field has none. With
 * `node(id:)` every entity that has global ids gets a module.
 *
 * @example restModules(project)[0] // { path: '/api/posts', list: …, get: …, create: … }
 */
export function restModules(project: Project): RestModule[] {
  const byEntity = Map.groupBy(project.operations, ({ action }) =>
    'entity' in action ? action.entity : '',
  );
  const node = project.operations.find(({ action }) => action.kind === 'node');
  return project.entities.flatMap((entity) => {
    const about = byEntity.get(entity.name) ?? [];
    const verbs = REST_VERBS.flatMap((verb) => {
      const operation =
        operationFor(about, entity, verb) ??
        (verb === 'get' && entity.interfaces.includes('Node') ? node : undefined);
      return operation ? [[verb, operation] as const] : [];
    });
    return verbs.length === 0
      ? []
      : [{ entity, path: restPath(entity), ...Object.fromEntries(verbs) }];
  });
}

/** @example restPath(blogPost) // '/api/blog-posts' */
export const restPath = ({ plural }: Entity, below = '/api'): string =>
  `${below}/${kebabCase(plural)}`;

/** The arguments of a module's operation: those of its root field, if it has one. */
export function restArguments(
  schema: GraphQLSchema,
  module: RestModule,
  verb: RestVerb,
): readonly GraphQLArgument[] {
  const { root, name = '' } = module[verb] ?? {};
  const type = root && schema.getRootType(root as never);
  return module.args?.[verb] ?? type?.getFields()[name]?.args ?? [];
}

function operationFor(
  about: readonly Operation[],
  entity: Entity,
  verb: RestVerb,
): Operation | undefined {
  const found = about.filter(({ action }) => action.kind === verb && !isByOtherKey(action));
  if (verb === 'list') return bestNamed(found.filter(listsAll), entity.plural);
  return verb === 'get' ? bestNamed(found.filter(isByKey), entity.singular) : found[0];
}

/**
 * Whether an action finds its row by a key other than the id, because the paths of REST contain
 * ids.
 */
const isByOtherKey = (action: Operation['action']) =>
  (action.kind === 'update' || action.kind === 'remove') && action.by !== undefined;

const bestNamed = (operations: readonly Operation[], name: string) =>
  operations.find((operation) => operation.name === name) ?? operations[0];

/** Whether a list can be called without arguments. */
function listsAll({ action, args }: Operation): boolean {
  return (
    action.kind === 'list' &&
    !args.some(
      ({ name, type }) => type.required && action.list.filters.some(({ arg }) => arg === name),
    )
  );
}

const isByKey = ({ action }: Operation) =>
  action.kind === 'get' && action.by.length === 1 && action.by[0]?.column === 'id';

/** The body of responses to `POST`, `PATCH` and `PUT` of a module. */
export function restAnswer(module: RestModule, verb: 'create' | 'update'): RestAnswer {
  const action = module[verb]?.action;
  if (module.get || module.list) return 'object';
  if (!action || !('returns' in action)) return 'nothing';
  const { returns } = action;
  if (returns.kind === 'entity' || (returns.kind === 'payload' && returns.entity !== undefined))
    return 'object';
  return returns.kind === 'id' || (returns.kind === 'payload' && returns.id !== undefined)
    ? 'id'
    : 'nothing';
}
