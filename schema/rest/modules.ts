import type { Entity, Operation, Project } from '../model.ts';
import { kebabCase } from '../names.ts';

/**
 * What one REST module serves: a mirror of the root fields that the schema has for the entity, and
 * of nothing else.
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
}

export const REST_VERBS = ['list', 'get', 'create', 'update', 'remove'] as const;
export type RestVerb = (typeof REST_VERBS)[number];

/**
 * What a call that writes answers with: the object where the schema shows it, or as much of it as
 * the mutation gives.
 */
export type RestAnswer = 'object' | 'id' | 'nothing';

/**
 * The modules of a project, in the schema's order; an entity without a root field has none.
 * `node(id:)` gets every entity that has global ids.
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
export const restPath = ({ plural }: Entity): string => `/api/${kebabCase(plural)}`;

function operationFor(
  about: readonly Operation[],
  entity: Entity,
  verb: RestVerb,
): Operation | undefined {
  const found = about.filter(({ action }) => action.kind === verb);
  if (verb === 'list') return bestNamed(found.filter(listsAll), entity.plural);
  return verb === 'get' ? bestNamed(found.filter(isByKey), entity.singular) : found[0];
}

const bestNamed = (operations: readonly Operation[], name: string) =>
  operations.find((operation) => operation.name === name) ?? operations[0];

/** A list with a required argument does not list everything. */
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

/** What `POST`, `PATCH` and `PUT` of a module may answer with. */
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
