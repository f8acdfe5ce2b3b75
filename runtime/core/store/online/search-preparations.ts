import {
  dropPostgresSearch,
  fillPostgres,
  ginIndex,
  postgresSearch,
} from '../search/postgres-search.ts';
import type { SearchIndex } from '../search/search-index.ts';
import type { Preparation } from './preparation.ts';
import { quotedName } from '../tables/quoting.ts';

/** How many rows are indexed in one transaction. */
const ROWS = 5000;

/**
 * Makes the index of a search without blocking writes: first the triggers, which index all rows
 * that change from then on, then the other rows in parts, then the index over their words.
 */
export function searchPreparations(index: SearchIndex, key: readonly string[]): Preparation[] {
  const { name, table } = index;
  const searched = { key, byNumber: false };
  const of = { table, object: `${table} (${index.columns.join(', ')})` };
  return [
    {
      ...of,
      does: 'search',
      name,
      first: postgresSearch(index, searched),
      fill: fillPostgres(index, searched, ROWS),
      undo: dropPostgresSearch(index).join('; '),
    },
    {
      ...of,
      does: 'index',
      table: name,
      name: `${name}_index`,
      first: [],
      long: ginIndex(index, 'concurrently '),
      undo: `drop index if exists ${quotedName(`${name}_index`)}`,
    },
  ];
}
