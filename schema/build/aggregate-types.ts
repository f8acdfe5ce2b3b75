import type { GraphQLObjectType } from 'graphql';

/** The members of an aggregate that have one value for each field of the entity. */
export const FIGURES = ['countDistinct', 'sum', 'avg', 'min', 'max'] as const;

export type Figure = (typeof FIGURES)[number];

export const isFigure = (name: string): name is Figure =>
  (FIGURES as readonly string[]).includes(name);

/** @example isAggregateWord('sum') // true */
export const isAggregateWord = (name: string): boolean =>
  name === 'count' || name === 'key' || isFigure(name);

/** The two forms of such a type: numbers over all rows, and those of one group. */
export type AggregateForm = 'Aggregate' | 'Group';

/**
 * The entity and the form in the name of a type: `PostAggregate`, `PostGroup`.
 *
 * @example aggregateName('PostGroup') // { entity: 'Post', form: 'Group' }
 */
export function aggregateName(
  name: string,
): { readonly entity: string; readonly form: AggregateForm } | undefined {
  const [, entity, form] = /^(.+?)_?(Aggregate|Group)$/.exec(name) ?? [];
  return entity === undefined ? undefined : { entity, form: form as AggregateForm };
}

/** Whether an object type holds numbers over rows: by its name, and a member that is one. */
export function isAggregate(type: GraphQLObjectType, isEntity: (name: string) => boolean): boolean {
  const named = aggregateName(type.name);
  return (
    named !== undefined &&
    Object.keys(type.getFields()).some(isAggregateWord) &&
    isEntity(named.entity)
  );
}
