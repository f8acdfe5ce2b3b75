import type { Stored } from '../sql/values.ts';
import type { EntityModel } from '../model.ts';
import { refusal } from '../access/access.ts';
import { STEP_FUNCTION } from '../../store/bounds.ts';
import { abstractListJson, nodeJson, nodesJson } from './abstract.ts';
import { connectionJson } from './connection.ts';
import { joinSql, sql, toStatement, type Sql, type Statement } from '../sql/fragment.ts';
import { watched } from '../long.ts';
import { aggregatedJson, fieldJson, objectJson } from './object.ts';
import { fieldOfColumn } from '../model.ts';
import type { Get, Planned, Root, Selection } from '../plan.ts';
import { countJson, equalities, readAccess, rowsJson } from '../rows/rows.ts';
import { conditionsSql, rowCondition, seenKey } from '../access/condition-sql.ts';
import { tableName, and, reference, where, type Scope } from '../sql/scope.ts';
import { stored } from '../sql/stored-as.ts';
import { tableSource, type Source } from '../sql/source.ts';
import { castType } from '../sql/values.ts';

/**
 * The statement that answers a root field: one row with one column `j`, JSON text or null.
 *
 * @throws AppError when the arguments use what the caller may not.
 */
export function rootStatement(scope: Scope, root: Root): Statement {
  const query =
    root.kind === 'get'
      ? getQuery(scope, root)
      : sql`select ${asText(scope, rootJson(scope, root))} as j`;
  return toStatement(scope.dialect === 'postgres' ? bounded(query) : query, scope);
}

function rootJson(scope: Scope, root: Exclude<Root, Get>): Sql {
  const write = (selection: Selection, source: Source) => objectJson(scope, selection, source);
  switch (root.kind) {
    case 'list':
      return rowsJson(scope, root, write);
    case 'connection':
      return connectionJson(scope, root, write);
    case 'abstractList':
      return abstractListJson(scope, root, write);
    case 'node':
      return nodeJson(scope, root, write);
    case 'nodes':
      return nodesJson(scope, root, write);
    case 'aggregated':
      return aggregatedJson(scope, root);
    case 'count':
      return countJson(scope, root);
  }
}

function getQuery(scope: Scope, root: Get): Sql {
  const model = scope.model.entity(root.entity);
  const { entity } = model;
  const alias = scope.alias();
  const joins: Sql[] = [];
  const object = objectJson(scope, root.selection, tableSource(scope, model, alias, joins));
  const condition = and([
    isByKey(scope, root) ? undefined : watched(scope, model, alias),
    equalities(scope, root.entity, root.call, alias),
    ...lookupConditions(scope, root, alias),
    rowCondition(scope, entity, readAccess(scope, root.entity, root.access), alias),
  ]);
  return sql`select ${asText(scope, object)} as j from ${tableName(entity, scope.dialect)} ${alias}${joinSql(joins, '')}${where(condition)}${byKey(model, alias)} limit 1`;
}

/** ` order by` the key; empty for an entity without one. */
function byKey(model: EntityModel, alias: string): string {
  const columns = model.key.map((column) => reference(model, alias, column));
  return columns.length === 0 ? '' : ` order by ${columns.join(', ')}`;
}

/**
 * A row can be looked up by a field only where the caller may read that field: otherwise a lookup
 * would reveal whose address it is.
 *
 * @throws AppError when the caller may read the field in no row.
 */
function lookupConditions(scope: Scope, { entity: of, call }: Get, alias: string): Sql[] {
  const entity = scope.model.entity(of);
  const ref = (column: string) => reference(entity, alias, column);
  return (scope.calls[call]?.equals ?? []).flatMap(({ column }) => {
    const field = column === 'id' ? undefined : fieldOfColumn(entity, column);
    const access = field && scope.rules.field(entity.entity, field, 'READ');
    if (access?.kind === 'none') throw refusal(access.code);
    return access?.kind === 'rows' ? [conditionsSql(scope, of, access.conditions, ref)] : [];
  });
}

/**
 * On PostgreSQL an answer that is too large never leaves the database: `!` and its size come
 * instead, which is not JSON. On SQLite the connection limits every value.
 */
const bounded = (query: Sql): Sql =>
  sql`select case when octet_length(q.j) > ${BYTES} then '!' || octet_length(q.j) else q.j end as j from (${query} offset 0) q`;

const BYTES = { from: 'bytes', as: { type: 'integer' } } as const;

/** Limits the total size of all rows of a batch. */
const boundedRows = (query: Sql): Sql =>
  sql`select i, case when s > ${BYTES} then '!' || s else j end as j from (select i, j, sum(octet_length(j)) over () as s from (${query} offset 0) q) w`;

/** The PostgreSQL driver would parse JSON, so it is cast to text. */
export const asText = (scope: Scope, value: Sql): Sql =>
  scope.dialect === 'postgres' ? sql`(${value})::text` : value;

/** Whether an index finds the row directly. */
function isByKey({ model, calls }: Scope, { entity, call }: Get): boolean {
  const { columns } = model.entity(entity);
  return (calls[call]?.equals ?? []).some(
    ({ column }) => column === 'id' || columns.get(column)?.unique,
  );
}

/**
 * The statement that answers one field of `entity` for many parents at once: one row for each key,
 * with its index `i` in the list and the JSON `j`. With `unread`, a parent that the caller may not
 * see yields nothing.
 *
 * @throws AppError when the keys are unread and the caller may see no row of `entity`, or the
 * arguments use what the caller may not.
 */
export function batchStatement(
  scope: Scope,
  entity: string,
  field: Planned,
  keyColumn: string,
  unread = false,
): Statement {
  const joins: Sql[] = [];
  const model = scope.model.entity(entity);
  const parts = model.partsOf(keyColumn);
  const row = keyRow(parts);
  const value = fieldJson(scope, entity, field, {
    ref: (column) =>
      parts.length > 1 && parts.includes(column) ? `k.key_${parts.indexOf(column)}` : row,
    ...(scope.dialect === 'sqlite' && { joins }),
  });
  const sqlite = scope.dialect === 'sqlite';
  const given = givenKeys(scope, stored(scope.model, model, keyColumn));
  const access = scope.rules.entity(model.entity, 'READ');
  const list =
    unread && access.kind !== 'all' ? sql`(${seenKeys(scope, model, parts, given)}) k` : given;
  scope.watch();
  const query = sql`select ${sqlite ? 'k.i' : '(k.i - 1)::int'} as i, ${asText(scope, value)} as j from ${list}${joinSql(joins, '')}`;
  return toStatement(sqlite ? sql`${query} where ${STEP_FUNCTION}()` : boundedRows(query), scope);
}

/** The key of a batch: `k.key_`, or a row value of its parts. */
const keyRow = (parts: readonly string[]): string =>
  parts.length === 1 ? 'k.key_' : `(${parts.map((_, index) => `k.key_${index}`).join(', ')})`;

/** The keys of a batch as a table `k` with their numbers. */
function givenKeys({ dialect, model }: Scope, as: Stored): Sql {
  const list = (of: Stored) => ({ from: 'keys' as const, as: { ...of, many: true } });
  const { parts } = as;
  if (dialect === 'sqlite') {
    const columns = parts
      ? parts.map((_, index) => `value ->> ${index} as key_${index}`).join(', ')
      : 'value as key_';
    return sql`(select key as i, ${columns} from json_each(${list(as)})) k`;
  }
  const each = parts ?? [as];
  const arrays = each.map((part) => sql`${list(part)}::${castType(part, model.ids)}[]`);
  const names = parts ? parts.map((_, index) => `key_${index}`) : ['key_'];
  return sql`unnest(${joinSql(arrays, ', ')}) with ordinality k(${[...names, 'i'].join(', ')})`;
}

/** The keys of the rows that the caller may see, each with its number in the batch. */
function seenKeys(scope: Scope, model: EntityModel, parts: readonly string[], given: Sql): Sql {
  if (parts.length === 1)
    return sql`select k.i, ${seenKey(scope, model, 'k.key_')} as key_ from ${given}`;
  const row = keyRow(parts);
  return sql`select k.* from ${given} where ${row} in ${seenKey(scope, model, row)}`;
}
