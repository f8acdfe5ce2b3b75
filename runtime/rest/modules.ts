import type { Field, FilterOperator, ListOptions, Operation } from '@twofold/schema';
import { foreignKeys, restModules, type RestModule } from '@twofold/schema';
import { indexModel, type EntityModel, type Model } from '../data/model.ts';
import type { Project } from '@twofold/schema';

/** A module with what its requests are answered from. */
export interface RestEntity extends RestModule {
  readonly model: EntityModel;
  /** What an object shows, by name, in the schema's order. */
  readonly members: ReadonlyMap<string, Member>;
  readonly list?: Operation;
}

export interface Member {
  readonly name: string;
  readonly field: Field;
  /** The column that is shown; absent for a relation, which is only embedded when asked for. */
  readonly column?: string;
}

const OPERATORS: readonly FilterOperator[] = ['eq', 'ne', 'in', 'notIn', 'lt', 'lte', 'gt', 'gte', 'contains', 'startsWith', 'endsWith', 'isNull'];

/** Name of the filter that REST adds for an entity. */
export const filterOf = (entity: string): string => `rest:${entity}`;

/** The model with a filter over the plain columns of every entity: a query string has the same words for each. */
export function restModel(project: Project): Model {
  const filters = project.entities.map((entity) => ({
    id: filterOf(entity.name),
    entity: entity.name,
    filters: entity.columns
      .filter(({ type, list }) => !list && type !== 'json' && type !== 'bytes')
      .map((column) => ({ kind: 'operators' as const, name: column.name, column: column.name, operators: OPERATORS })),
  }));
  return indexModel({ ...project, filters: [...project.filters, ...filters] });
}

export function restEntities(project: Project, model: Model): RestEntity[] {
  return restModules(project).map((module) => ({ ...module, model: model.entity(module.entity.name), members: membersOf(model.entity(module.entity.name)) }));
}

/** Fields that are columns, keys of to-one relations as `authorId`, and relations. Functions of the user have no place in a row. */
export function membersOf({ entity }: EntityModel): Map<string, Member> {
  const members = new Map<string, Member>();
  const keys = new Map(foreignKeys(entity).map((key) => [key.field.name, key]));
  for (const field of entity.fields) {
    if (field.source.kind === 'column') members.set(field.name, { name: field.name, field, column: field.source.column });
    const key = keys.get(field.name);
    if (key) members.set(key.name, { name: key.name, field, column: key.column });
    if (field.source.kind === 'one' || field.source.kind === 'many') members.set(field.name, { name: field.name, field });
  }
  return members;
}

/** The options of a list in REST: pages by number, one filter for all columns. */
export function restList(entity: string, list: ListOptions): ListOptions {
  return { filters: [], where: { arg: 'where', shape: filterOf(entity) }, paging: { default: 20, max: list.paging.max }, order: list.order };
}
