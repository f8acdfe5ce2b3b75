import { isReservedTable } from '@twofold/schema';
import { isOfSearch } from '@twofold/runtime/store';
import type { Catalog, CatalogColumn, CatalogIndex, CatalogTable } from '../catalog/catalog.ts';

/** One difference between what migrations make and what the database has. */
export interface Drift {
  /** The object: `posts.title`, or `posts` for the table itself. */
  readonly object: string;
  readonly kind: 'missing' | 'extra' | 'different';
  /** The object as the migrations make it; null when they do not make it. */
  readonly expected: string | null;
  /** The object as the database has it; null when it does not exist. */
  readonly found: string | null;
  readonly fix: string;
}

/**
 * Compares the tables that migrations make with those of a database. Tables that no migration made
 * do not count, nor do names of constraints and the order of columns.
 */
export function compareCatalogs(expected: Catalog, found: Catalog): Drift[] {
  const present = new Map(tablesOf(found).map((table) => [table.name, table]));
  return tablesOf(expected).flatMap((table) => {
    const there = present.get(table.name);
    return there
      ? compareTables({ table, catalog: expected }, { table: there, catalog: found })
      : [drift(table.name, 'table', null)];
  });
}

export const tablesOf = ({ tables }: Catalog): readonly CatalogTable[] =>
  tables.filter(({ kind, name }) => kind === 'table' && !name.startsWith('twofold_'));

/** A table, and the catalog that it is in. */
interface LocatedTable {
  readonly table: CatalogTable;
  readonly catalog: Catalog;
}

function compareTables(expected: LocatedTable, found: LocatedTable): Drift[] {
  const { name } = expected.table;
  return [factsOf(expected), factsOf(found)]
    .reduce<string[]>((all, facts) => [...new Set([...all, ...facts.keys()])], [])
    .flatMap((key) => {
      const [one, other] = [factsOf(expected).get(key), factsOf(found).get(key)];
      const object = `${name}.${key.slice(key.indexOf(' ') + 1)}`;
      return one === other ? [] : [drift(object, one ?? null, other ?? null)];
    });
}

function drift(object: string, expected: string | null, found: string | null): Drift {
  const kind = found === null ? 'missing' : expected === null ? 'extra' : 'different';
  return { object, kind, expected, found, fix: FIX[kind] };
}

const FIX: Readonly<Record<Drift['kind'], string>> = {
  missing:
    'make it by hand as the migrations do, or take it out of the schema and run "npm run generate"',
  extra:
    'drop it by hand, or add it to the schema, run "npm run generate" and "npm run migrate -- baseline"',
  different:
    'change it by hand to what the migrations make, or the schema to what is there, and run "npm run generate" and "npm run migrate -- baseline"',
};

/**
 * The compared parts of a table: a kind and columns as the key, the definition as text. Indexes
 * that the server itself makes at its start are left out.
 */
function factsOf({ table, catalog }: LocatedTable): Map<string, string> {
  const { schema, columns, primaryKey, uniques, foreignKeys, checks, indexes } = table;
  const plain = (text: string) => normal(text, schema);
  return new Map([
    ...columns.map((column): [string, string] => [
      `column ${column.name}`,
      columnText(column, plain),
    ]),
    ...(primaryKey ? [[`key ${primaryKey.columns.join(', ')}`, 'primary key'] as const] : []),
    ...uniques.map((each) => [`unique ${each.columns.join(', ')}`, 'unique'] as const),
    ...foreignKeys.map(
      (each) =>
        [
          `references ${each.columns.join(', ')}`,
          `references ${each.table.name}(${each.references.join(', ')}) on delete ${each.onDelete}`,
        ] as const,
    ),
    ...checks.map((each) => [`check ${plain(each.expression)}`, 'check'] as const),
    ...indexes
      .filter(({ name }) => !isReservedTable(name))
      .map((each) => [`index ${indexText(each, plain)}`, 'index'] as const),
    ...searchFacts(table, catalog, plain),
  ]);
}

/**
 * The compared part of a search: the definition of its triggers. Without the table of the index,
 * they fail.
 */
function searchFacts(
  { triggers }: CatalogTable,
  { tables }: Catalog,
  plain: (text: string) => string,
): [string, string][] {
  const names = new Set(tables.map(({ name }) => name));
  return triggers
    .filter(({ name }) => isOfSearch(name))
    .map(({ name, definition }) => {
      const index = [...names].find((each) => isOfSearch(each) && name.startsWith(each));
      return [`search ${name}`, index === undefined ? 'without its table' : plain(definition)];
    });
}

function columnText(
  { type, nullable, default: value, generated, identity }: CatalogColumn,
  plain: (text: string) => string,
): string {
  return [
    plain(type),
    nullable ? '' : ' not null',
    value === null ? '' : ` default ${plain(value)}`,
    generated === null ? '' : ` generated ${plain(generated)}`,
    identity === null ? '' : ` identity ${identity}`,
  ].join('');
}

/** The columns and condition of an index. Its name and schema are not compared. */
function indexText(index: CatalogIndex, plain: (text: string) => string): string {
  const { unique, columns, where, onExpressions, definition } = index;
  const parts = onExpressions
    ? plain(definition).replace(/^.*? on (\w+\.)?\w+ ?(using \w+ ?)?/, '')
    : columns.join(', ');
  return `${parts}${unique ? ' unique' : ''}${where === null ? '' : ` where ${plain(where)}`}`;
}

/**
 * A definition for comparison: without quotes, spaces, letter case, and the schema of a scratch
 * run.
 */
function normal(text: string, schema: string): string {
  return text
    .replaceAll('"', '')
    .replaceAll(`${schema}.`, '')
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/([(]) | ([)])/g, '$1$2')
    .trim();
}
