import type { PricedModel } from './price.ts';
import { isData } from '../manifest/shape.ts';

const isLogical = (word: string) => word === 'and' || word === 'or' || word === 'not';

const each = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/**
 * Rows that a filter may read for each row that it is applied to: a step into a list counts as many
 * rows as the list may have, a step to one object counts 1, and a nested step counts for each of
 * those rows.
 *
 * @example filterCost(model, 'AuthorFilter', { posts: { some: { comments: { some: {} } } } }, 100) // 10_100
 */
export function filterCost(
  model: PricedModel,
  shapeId: string,
  value: unknown,
  list: number,
): number {
  const shape = model.filters.get(shapeId);
  if (!shape || !isData(value)) return 0;
  let cost = 0;
  for (const filter of shape.filters) {
    const given = value[filter.name];
    if (given === undefined) continue;
    if (isLogical(filter.kind))
      for (const item of each(given)) cost += filterCost(model, shapeId, item, list);
    else if (filter.kind === 'tally') cost += list;
    else if (filter.kind === 'one') cost += 1 + filterCost(model, filter.shape, given, list);
    else if (filter.kind === 'many') cost += manyCost(model, filter.shape, given, list);
  }
  return cost;
}

/**
 * The cost of `some`, `every`, `none` and `count` of a list, also inside its `and`, `or` and `not`.
 */
function manyCost(model: PricedModel, shape: string, value: unknown, list: number): number {
  let cost = 0;
  for (const item of each(value)) {
    if (!isData(item)) continue;
    for (const [word, inner] of Object.entries(item))
      cost += isLogical(word)
        ? manyCost(model, shape, inner, list)
        : list * (1 + (word === 'count' ? 0 : filterCost(model, shape, inner, list)));
  }
  return cost;
}

/**
 * The rows that an `orderBy` makes the database read: a relation of the order counts as in a filter.
 *
 * @example orderCost(model, 'PostOrder', { author: { posts: { count: 'DESC' } } }, 100) // 101
 */
export function orderCost(
  model: PricedModel,
  shapeId: string,
  value: unknown,
  list: number,
): number {
  const form = model.orders.get(shapeId)?.form;
  if (form?.kind !== 'fields') return 0;
  let cost = 0;
  for (const item of each(value)) {
    if (!isData(item)) continue;
    for (const member of form.fields) {
      const given = item[member.name];
      if (!isData(given)) continue;
      if ('one' in member) cost += 1 + orderCost(model, member.shape, given, list);
      else if ('many' in member) cost += list;
    }
  }
  return cost;
}

/** The rows that a `having` makes the database count. Its other words compare one row of a group. */
export function havingCost(value: unknown, list: number): number {
  let cost = 0;
  for (const item of each(value)) {
    if (!isData(item)) continue;
    for (const [name, inner] of Object.entries(item)) {
      if (isLogical(name)) cost += havingCost(inner, list);
      else if (name === 'count' && isData(inner)) cost += list;
    }
  }
  return cost;
}
