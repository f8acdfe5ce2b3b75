import type { Filter } from '@twofold/schema';
import { found, type Model } from '../model.ts';
import { isLogical } from './words-condition.ts';

/**
 * Whether a filter restricts the rows at all. A client that builds a filter from an empty form must
 * not change every row.
 *
 * @example restricts(model, 'TagFilter', { and: [{}] }) // false
 */
export function restricts(model: Model, shapeId: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const shape = found(model.filters.get(shapeId), `filter ${shapeId}`);
  const input = value as Readonly<Record<string, unknown>>;
  return shape.filters.some(
    (filter) =>
      input[filter.name] !== undefined && says(model, shapeId, filter, input[filter.name]),
  );
}

function says(model: Model, shapeId: string, filter: Filter, value: unknown): boolean {
  switch (filter.kind) {
    case 'equals':
      return true;
    case 'isNull':
      return value !== null;
    case 'operators':
      return value === null || hasWord(value);
    case 'object':
    case 'one':
      return value === null || restricts(model, filter.shape, value);
    case 'many':
      return Object.entries(value ?? {}).some(([word, each]) =>
        word === 'count' ? hasWord(each) : saysOfMany(model, filter, word, each),
      );
    case 'or': {
      const items = [value ?? []].flat();
      return items.length > 0 && items.every((item) => restricts(model, shapeId, item));
    }
    default:
      return [value ?? []].flat().some((item) => restricts(model, shapeId, item));
  }
}

type Input = Readonly<Record<string, unknown>>;

/** Whether an input has an operator that compares. `mode` and `path` alone compare nothing. */
function hasWord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length > 0 && value.every(hasWord);
  return Object.entries(value as Input).some(([word, each]) => {
    if (each === undefined || word === 'mode' || word === 'path') return false;
    return isLogical(word) ? hasWord(each) : true;
  });
}

function saysOfMany(
  model: Model,
  filter: Extract<Filter, { kind: 'many' }>,
  word: string,
  value: unknown,
): boolean {
  if (!isLogical(word)) return restricts(model, filter.shape, value);
  const items = [value ?? []].flat();
  return items.length > 0 && items.every((each) => says(model, filter.shape, filter, each));
}
