import type { EntityModel, Model } from './model.ts';
import { storedAs, type Stored } from './values.ts';

/**
 * How values of `column` are stored. A key of an entity with global ids includes the entity's name.
 */
export function stored(
  model: Model,
  { entity, global, columns }: EntityModel,
  column: string,
): Stored {
  const found = columns.get(column);
  if (!found || column === 'id') return { type: 'id', ...(global && { global: entity.name }) };
  const target = found.references && model.entities.get(found.references.entity);
  return storedAs(found, target?.global ? target.entity.name : undefined);
}
