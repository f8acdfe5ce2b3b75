import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { aggregateItems } from './aggregates.ts';
import {
  comparedFields,
  filterItem,
  heldTypes,
  listFilterItem,
  objectFilterItem,
} from './filters.ts';
import { createInput, updateInput, valueInput } from './inputs.ts';
import { block, type CrudItem } from './item.ts';
import { keyItem } from './keys.ts';
import { directionItem, fieldItem, listOrderItem, orderItem } from './orders.ts';
import { CASE_MODE, wordFilter, wordFilterItem } from './word-filters.ts';
import { typeName } from './names.ts';
import { crudOperations } from './operations.ts';

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
    ...objectItems(built),
    ...wordFilters(built),
    BIG_INT,
    directionItem(built),
    CASE_MODE,
    PAGE_INFO,
  ];
}

function itemsOf(built: Built, entity: EntityFact): CrudItem[] {
  const items = [
    filterItem(built, entity),
    listFilterItem(built, entity),
    orderItem(built, entity),
    listOrderItem(built, entity),
    fieldItem(built, entity),
    ...connectionItems(built, entity),
    ...aggregateItems(built, entity),
    createInput(built, entity),
    updateInput(built, entity),
    keyItem(built, entity),
  ];
  return items.filter((item) => item !== undefined);
}

function objectItems(built: Built): CrudItem[] {
  return heldTypes(built).flatMap((held) => {
    const input = valueInput(built, held.type);
    return [objectFilterItem(built, held), ...(input ? [input] : [])];
  });
}

/**
 * The filter inputs of all scalars and enums, in the order of their first use, and those for
 * numbers of rows.
 */
function wordFilters(built: Built): CrudItem[] {
  const items = new Map<string, CrudItem>();
  for (const item of [...comparedFields(built).map(wordFilterItem), ...COUNTS])
    if (!items.has(item.name)) items.set(item.name, item);
  return [...items.values()];
}

/**
 * Filter inputs for numbers of rows, keys and aggregates. They are needed even if no field has that
 * type.
 */
const COUNTS: readonly CrudItem[] = (['Int', 'Boolean', 'ID', 'Float', 'BigInt'] as const).map(
  (scalar) => wordFilter(scalar),
);

/** The scalar for exact sums of whole numbers. It is needed even if no field has that type. */
const BIG_INT: CrudItem = { name: 'BigInt', keyword: 'scalar', text: 'scalar BigInt' };

/** `PostConnection` and `PostEdge`. The aggregate is that of all rows, not of the page. */
function connectionItems(built: Built, of: EntityFact): CrudItem[] {
  const connection = typeName(built, of, 'Connection');
  const edge = typeName(built, of, 'Edge');
  return [
    {
      name: connection,
      keyword: 'type',
      of,
      text: block('type', connection, [
        `edges: [${edge}!]!`,
        `nodes: [${of.name}!]!`,
        'pageInfo: PageInfo!',
        'totalCount: Int!',
        ...(crudOperations(built.facts, of).has('AGGREGATE')
          ? [`aggregate: ${typeName(built, of, 'Aggregate')}!`]
          : []),
      ]),
    },
    {
      name: edge,
      keyword: 'type',
      of,
      text: block('type', edge, [`node: ${of.name}!`, 'cursor: String!']),
    },
  ];
}

const PAGE_INFO: CrudItem = {
  name: 'PageInfo',
  keyword: 'type',
  text: block('type', 'PageInfo', [
    'hasNextPage: Boolean!',
    'hasPreviousPage: Boolean!',
    'startCursor: String',
    'endCursor: String',
  ]),
};
