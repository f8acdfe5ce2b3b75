import type { EntityModel, Model } from '../model.ts';
import { storedAs, type Stored } from './values.ts';

/**
 * How values of `column` are stored. A key of an entity with global ids includes the entity's name.
 */
export function stored(model: Model, of: EntityModel, column: string): Stored {
  const found = of.columns.get(column);
  if (!found) return { type: 'id' };
  const target = found.references && model.entities.get(found.references.entity);
  const named = column === 'id' ? of : target;
  const global = named?.global ? named.entity.name : undefined;
  if (!found.parts) return storedAs(found, global);
  const parts = found.parts.map((part, index) => ({
    ...stored(model, of, part),
    part: { index, of: found.parts!.length },
    ...(global !== undefined && { global }),
  }));
  return parts.length === 1 ? parts[0]! : { type: 'id', parts };
}
