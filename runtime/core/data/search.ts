import { searchName, type ListOptions } from '@twofold/schema';
import { STEP_FUNCTION } from '../store/bounds.ts';
import { configuration, HIGHLIGHT_FUNCTION } from '../store/search/postgres-search.ts';
import { keyColumn } from '../store/search/search-index.ts';
import { keysTable } from '../store/search/sqlite-search.ts';
import { literal, name, sql, type Parameter, type Sql } from './fragment.ts';
import type { EntityModel } from './model.ts';
import type { Order } from './plan.ts';
import type { SearchCall } from './search-call.ts';
import { named, reference, tableName, type Scope } from './scope.ts';

/** How well a row fits, in a query. No column of an entity can have this name. */
export const RANK = '$rank';

const BY_RANK: Order = { column: '', descending: true, rank: true };

/** The list with the best rows first, unless the caller asks for another order. */
export const bestFirst = (list: ListOptions, { kind }: SearchCall) =>
  kind === 'words' ? { ...list, order: [BY_RANK] } : list;

/** The rows that a search found, in a query over `alias`. */
const hitsAlias = (alias: string): string => `${alias}s`;

/** How well the row of `alias` fits, as a whole number. */
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

/** The table, with the rows that the search of the call found first. */
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
  const found = sql`${name(table)} match ${value(call, 'sqlite')}`;
  return isByNumber(scope, entity)
    ? sql`select rowid from ${name(table)} where ${found}`
    : sql`select ${keys} from ${name(keysTable(table))} where doc in (select rowid from ${name(table)} where ${found})`;
}

function rankedHits(scope: Scope, entity: EntityModel, call: number): Sql {
  return scope.dialect === 'sqlite' ? sqliteHits(scope, entity, call) : postgresHits(entity, call);
}

/**
 * Ranks by the fields that have the words, and not by bm25: that depends on how frequent a word is
 * in all rows, also in those that the caller may not see.
 */
function sqliteHits(scope: Scope, entity: EntityModel, call: number): Sql {
  const table = name(searchName(entity.entity.table));
  const step = `${STEP_FUNCTION}()`;
  const byNumber = isByNumber(scope, entity);
  const keys = byNumber
    ? `f.rowid as ${keyColumn(0)}`
    : entity.key.map((_, at) => `d.${keyColumn(at)}`).join(', ');
  const joined = byNumber
    ? ''
    : ` cross join ${name(keysTable(searchName(entity.entity.table)))} d on d.doc = f.rowid`;
  const scores = sql`select g.rowid as doc, sum(w.value ->> 1) as score from json_each(${value(call, 'sqliteRanks')}) w cross join ${table} g where g.${table} match (w.value ->> 0) and ${step} group by g.rowid`;
  return sql`select ${keys}, coalesce(r.score, 0) as ${name(RANK)} from ${table} f${joined} left join (${scores}) r on r.doc = f.rowid where f.${table} match ${value(call, 'sqlite')} and ${step}`;
}

function postgresHits(entity: EntityModel, call: number): Sql {
  const table = name(searchName(entity.entity.table));
  const keys = entity.key.map((_, at) => `s.${keyColumn(at)}`).join(', ');
  const language = literal(configured(entity));
  const parts = sql`select array_agg(to_tsquery(${language}, e ->> 0) order by n) as q, array_agg((e ->> 1)::int order by n) as w from jsonb_array_elements(${value(call, 'postgresRanks')}::jsonb) with ordinality j(e, n) offset 0`;
  const score = sql`(select coalesce(sum(x.w), 0)::int from unnest(r.q, r.w) x(q, w) where s.document @@ x.q)`;
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
  as: { type: of === 'most' ? 'integer' : 'text' },
});

/** Whether the index has the key itself as the number of a row. */
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

/** The text around the hits, as HTML; null outside a search. */
export function highlightJson(scope: Scope, entity: EntityModel, { call, text }: Highlighted): Sql {
  if (!scope.calls[call]?.search) return sql`null`;
  if (scope.dialect === 'sqlite')
    return sql`${HIGHLIGHT_FUNCTION}(${text}, ${value(call, 'marks')}, ${literal(entity.entity.search?.language ?? 'simple')})`;
  return sql`${HIGHLIGHT_FUNCTION}(${literal(configured(entity))}::regconfig, ${text}::text, ${tsquery(entity, call, 'postgresMarks')})`;
}
