import { searchName, type ListOptions } from '@twofold/schema';
import { STEP_FUNCTION } from '../../store/bounds.ts';
import { configuration, HIGHLIGHT_FUNCTION } from '../../store/search/postgres-search.ts';
import { keyColumn } from '../../store/search/search-index.ts';
import { keysTable } from '../../store/search/sqlite-search.ts';
import { literal, name, sql, type Parameter, type Sql } from '../sql/fragment.ts';
import type { EntityModel } from '../model.ts';
import type { Order } from '../plan.ts';
import type { SearchCall } from './search-call.ts';
import { named, reference, tableName, type Scope } from '../sql/scope.ts';

/** How well a row fits, in a query. No column of an entity can have this name. */
export const RANK = '$rank';

const BY_RANK: Order = { column: '', descending: true, rank: true };

/** The list, ordered by the best rows first. An order of the caller replaces this one. */
export const bestFirst = (list: ListOptions, { kind }: SearchCall) =>
  kind === 'words' ? { ...list, order: [BY_RANK] } : list;

/** The alias of the rows that a search found, in a query whose table is called `alias`. */
const hitsAlias = (alias: string): string => `${alias}s`;

/** How well the row of the table `alias` fits, as a whole number. */
export const rankOf = (alias: string): string => named(hitsAlias(alias), RANK);

/** A table as a query reads it. */
export interface Searched {
  readonly from: Sql;
  readonly condition: Sql | undefined;
}

interface Searching {
  readonly entity: EntityModel;
  readonly call: number;
  readonly alias: string;
  /** Whether the query looks at the rank. */
  readonly ranked: boolean;
}

/** The table, joined with the rows that the search found. These are read first. */
export function searchedTable(scope: Scope, searching: Searching): Searched {
  const { entity, call, alias, ranked } = searching;
  const table = sql`${tableName(entity.entity, scope.dialect)} ${alias}`;
  const search = scope.calls[call]?.search;
  if (search?.kind !== 'words' || !ranked)
    return { from: table, condition: searchCondition(scope, entity, call, alias) };
  const hits = hitsAlias(alias);
  const same = entity.key.map(
    (column, at) => `${reference(entity, alias, column)} = ${hits}.${keyColumn(at)}`,
  );
  return {
    // SQLite reads the tables of a cross join in this order.
    from: sql`(${rankedHits(scope, entity, call)}) ${hits} cross join ${table}`,
    condition: sql`${same.join(' and ')}`,
  };
}

/** The condition that the search of the call finds the row; undefined without a search. */
export function searchCondition(
  scope: Scope,
  entity: EntityModel,
  call: number,
  alias: string,
): Sql | undefined {
  const search = scope.calls[call]?.search;
  if (!search) return undefined;
  if (search.kind === 'none' || !entity.entity.search) return sql`false`;
  const key = reference(entity, alias, 'id');
  const avoids = search.kind === 'without' && scope.dialect === 'sqlite';
  return sql`${key} ${avoids ? 'not ' : ''}in (${hits(scope, entity, call)})`;
}

/** The keys of the rows that were found. */
function hits(scope: Scope, entity: EntityModel, call: number): Sql {
  const keys = entity.key.map((_, at) => keyColumn(at)).join(', ');
  const table = searchName(entity.entity.table);
  if (scope.dialect === 'postgres')
    return sql`select ${keys} from ${name(table)} where document @@ ${tsquery(entity, call, 'postgres')}`;
  const found = sqliteFound(scope, table, call);
  return isByNumber(scope, entity)
    ? found
    : sql`select ${keys} from ${name(keysTable(table))} where doc in (${found})`;
}

function rankedHits(scope: Scope, entity: EntityModel, call: number): Sql {
  const search = scope.calls[call]?.search;
  return scope.dialect === 'sqlite'
    ? sqliteHits(scope, entity, call)
    : postgresHits(entity, call, search?.weights ?? []);
}

/** The numbers of the rows that FTS5 finds. */
function sqliteFound({ calls }: Scope, index: string, call: number): Sql {
  const search = calls[call]?.search;
  const table = name(index);
  if (search?.size !== 'long')
    return sql`select rowid as doc from ${table} where ${table} match ${value(call, 'sqlite')}`;
  const all =
    search.kind === 'words'
      ? sql` having count(distinct w.value ->> 0) = ${value(call, 'groups')} and min(w.value ->> 0) >= 0`
      : sql``;
  return sql`select g.rowid as doc from json_each(${value(call, 'terms')}) w cross join ${table} g where g.${table} match (w.value ->> 1) and ${STEP_FUNCTION}() group by g.rowid${all}`;
}

/**
 * Ranks by the fields that have the words, and not by bm25: that depends on how frequent a word is
 * in all rows, also in those that the caller may not see.
 */
function sqliteHits(scope: Scope, entity: EntityModel, call: number): Sql {
  const index = searchName(entity.entity.table);
  const table = name(index);
  const scores = sql`select g.rowid as doc, sum(w.value ->> 1) as ${name(RANK)} from json_each(${value(call, 'sqliteRanks')}) w cross join ${table} g where g.${table} match (w.value ->> 0) and ${STEP_FUNCTION}() group by g.rowid`;
  const short = scope.calls[call]?.search?.size === 'short';
  const ranked = short
    ? scores
    : sql`select f.doc, coalesce(s.${name(RANK)}, 0) as ${name(RANK)} from (${sqliteFound(scope, index, call)}) f left join (${scores}) s on s.doc = f.doc`;
  if (isByNumber(scope, entity))
    return sql`select doc as ${keyColumn(0)}, ${name(RANK)} from (${ranked})`;
  const keys = entity.key.map((_, at) => `d.${keyColumn(at)}`).join(', ');
  return sql`select ${keys}, r.${name(RANK)} from (${ranked}) r cross join ${name(keysTable(index))} d on d.doc = r.doc`;
}

function postgresHits(entity: EntityModel, call: number, weights: readonly number[]): Sql {
  const table = name(searchName(entity.entity.table));
  const keys = entity.key.map((_, at) => `s.${keyColumn(at)}`).join(', ');
  const language = literal(configured(entity));
  const parts = sql`select array_agg(to_tsquery(${language}, e) order by n) as q from jsonb_array_elements_text(${value(call, 'postgresRanks')}::jsonb) with ordinality j(e, n) offset 0`;
  const score = weights
    .map((weight, at) => `case when s.document @@ r.q[${at + 1}] then ${weight} else 0 end`)
    .join(' + ');
  return sql`select ${keys}, ${score} as ${name(RANK)} from ${table} s cross join (${parts}) r where s.document @@ ${tsquery(entity, call, 'postgres')}`;
}

const configured = ({ entity }: EntityModel): string =>
  configuration(entity.search?.language ?? 'simple');

const tsquery = (entity: EntityModel, call: number, of: 'postgres' | 'postgresMarks'): Sql =>
  sql`to_tsquery(${literal(configured(entity))}, ${value(call, of)})`;

const value = (call: number, of: keyof SearchCall): Parameter => ({
  from: 'call',
  call,
  path: ['search', of],
  as: { type: of === 'most' || of === 'groups' ? 'integer' : 'text' },
});

/** Whether the index numbers its rows by the table's own key. */
function isByNumber({ model }: Scope, { key, columns }: EntityModel): boolean {
  const id = columns.get('id');
  return key.length === 1 && key[0] === 'id' && (id?.key ?? model.ids) === 'integer';
}

/** How well the row fits, from 0 to 1; null outside a search. */
export function rankJson(scope: Scope, call: number, ref: (column: string) => string): Sql {
  const search = scope.calls[call]?.search;
  if (!search) return sql`null`;
  if (search.kind !== 'words') return sql`0`;
  return scope.dialect === 'sqlite'
    ? sql`(cast(${ref(RANK)} as real) / ${value(call, 'most')})`
    : sql`(${ref(RANK)}::float8 / ${value(call, 'most')}::float8)`;
}

interface Highlighted {
  readonly call: number;
  /** The text, as the query names it. */
  readonly text: string;
}

/** The text around the words that were found, as HTML; null outside a search. */
export function highlightJson(scope: Scope, entity: EntityModel, { call, text }: Highlighted): Sql {
  if (!scope.calls[call]?.search) return sql`null`;
  if (scope.dialect === 'sqlite')
    return sql`${HIGHLIGHT_FUNCTION}(${text}, ${value(call, 'marks')}, ${literal(entity.entity.search?.language ?? 'simple')})`;
  return sql`${HIGHLIGHT_FUNCTION}(${literal(configured(entity))}::regconfig, ${text}::text, ${tsquery(entity, call, 'postgresMarks')})`;
}
