import { isObjectType } from 'graphql';
import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { connectionItems, PAGE_INFO } from './connections.ts';
import { filterItem, listFilterItem, scalarFilterItem } from './filters.ts';
import { createInput, updateInput, valueInput } from './inputs.ts';
import type { CrudItem } from './item.ts';
import { DIRECTION, orderItem } from './orders.ts';
import { valueFields } from './stored-fields.ts';

/**
 * Every type that could be written, in the order of the API: those of each entity, then those that
 * they share.
 *
 * @example typeItems(built).map(({ name }) => name) // ['PostFilter', 'PostListFilter', …, 'StringFilter']
 */
export function typeItems(built: Built): CrudItem[] {
  const entities = [...built.facts.entities.values()];
  return [
    ...entities.flatMap((entity) => itemsOf(built, entity)),
    ...valueInputs(built),
    ...scalarFilters(built, entities),
    DIRECTION,
    PAGE_INFO,
  ];
}

function itemsOf(built: Built, entity: EntityFact): CrudItem[] {
  const items = [
    filterItem(built, entity),
    listFilterItem(built, entity),
    orderItem(built, entity),
    ...connectionItems(entity),
    createInput(built, entity),
    updateInput(built, entity),
  ];
  return items.filter((item) => item !== undefined);
}

function valueInputs(built: Built): CrudItem[] {
  return [...built.facts.types.values()].flatMap(({ type, role }) =>
    role === 'value' && isObjectType(type) ? (valueInput(built, type) ?? []) : [],
  );
}

/** One for each scalar and enum, in the order of their first use. `ID` is also that of keys. */
function scalarFilters(built: Built, entities: readonly EntityFact[]): CrudItem[] {
  const fields = entities.flatMap((entity) => valueFields(built, entity));
  const items = new Map<string, CrudItem>();
  for (const item of fields.map(scalarFilterItem))
    if (!items.has(item.name)) items.set(item.name, item);
  return [...items.values()];
}
