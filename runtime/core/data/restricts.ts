import type { Filter } from '@twofold/schema';
import { found, type Model } from './model.ts';

/**
 * Whether a filter says anything about the rows. A client that builds a filter from a form that is
 * not filled in must not change every row.
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
    case 'operators':
      return value === null || Object.values(value as object).some((each) => each !== undefined);
    case 'one':
      return value === null || restricts(model, filter.shape, value);
    case 'many':
      return Object.values(value ?? {}).some((each) => restricts(model, filter.shape, each));
    case 'or': {
      const items = [value ?? []].flat();
      return items.length > 0 && items.every((item) => restricts(model, shapeId, item));
    }
    default:
      return [value ?? []].flat().some((item) => restricts(model, shapeId, item));
  }
}
