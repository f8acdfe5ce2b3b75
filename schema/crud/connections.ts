import type { EntityFact } from '../build/facts.ts';
import { block } from './item.ts';
import type { CrudItem } from './item.ts';

/** `PostConnection` and `PostEdge`. */
export function connectionItems(of: EntityFact): CrudItem[] {
  const [connection, edge] = [`${of.name}Connection`, `${of.name}Edge`];
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
