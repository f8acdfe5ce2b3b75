import type { Built } from '../build/built.ts';
import type { EntityFact } from '../build/facts.ts';
import { block, type CrudItem } from './item.ts';
import { typeName } from './names.ts';
import { crudOperations } from './operations.ts';

/** `PostConnection` and `PostEdge`. The aggregate is that of all rows, not of the page. */
export function connectionItems(built: Built, of: EntityFact): CrudItem[] {
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

export const PAGE_INFO: CrudItem = {
  name: 'PageInfo',
  keyword: 'type',
  text: block('type', 'PageInfo', [
    'hasNextPage: Boolean!',
    'hasPreviousPage: Boolean!',
    'startCursor: String',
    'endCursor: String',
  ]),
};
