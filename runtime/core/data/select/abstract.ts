import { filterCondition } from '../filter/filter.ts';
import { joinSql, literal, name, sql, type Sql } from '../sql/fragment.ts';
import type { AbstractRows, Member, Order, Planned, Root } from '../plan.ts';
import { watched } from '../long.ts';
import { equalities, limit, ofPage } from '../rows/rows.ts';
import { rowCondition, sortValueSeenWhen } from '../access/condition-sql.ts';
import type { EntityModel } from '../model.ts';
import {
  tableName,
  named,
  keyOfRow,
  and,
  marked,
  parameter,
  reference,
  where,
  type Scope,
} from '../sql/scope.ts';
import { RANK, rankOf, searchedTable } from '../search/search.ts';
import { stored } from '../sql/stored-as.ts';
import { tableSource, type Source, type WriteObject } from '../sql/source.ts';

/** The column that names the table of a row. No column of an entity can have this name. */
const TYPE = '$type';

/**
 * A reference to a row of one of several tables. Two columns hold the type and the key of the row.
 */
export function abstractJson(
  scope: Scope,
  field: Extract<Planned, { kind: 'abstract' }>,
  write: WriteObject,
  source: Source,
): Sql {
  return membersJson(
    scope,
    field.members,
    source.ref(field.typeColumn),
    source.ref(field.column),
    field.required,
    write,
  );
}

/** `node(id:)`: the id names the table. */
export function nodeJson(
  scope: Scope,
  { call, members }: Extract<Root, { kind: 'node' }>,
  write: WriteObject,
): Sql {
  const type = scope.calls[call]?.target?.type;
  const member = members.find(({ entity }) => entity === type);
  if (!member) return sql`null`;
  const as = stored(scope.model, scope.model.entity(member.entity), 'id');
  return memberJson(scope, member, write, sql`${parameter(call, ['target', 'id'], as)}`);
}

/** Rows of several tables in one common order. */
export function abstractListJson(scope: Scope, root: AbstractRows, write: WriteObject): Sql {
  if (root.members.length === 0) return scope.json.constant('[]');
  const call = scope.calls[root.call];
  const alias = scope.alias();
  const order = call?.order ?? [];
  const columns = columnsOf(order, call?.search !== undefined);
  const members = root.members.map((member) => memberRows(scope, root, member, columns));
  const query = sql`select * from (${joinSql(members, ' union all ')}) ${scope.alias()} order by ${unionOrder(order)}${limit(scope, root.call, call?.page, 0)}`;
  const ranking: WriteObject = (selection, source) =>
    write(selection, {
      ...source,
      ref: (column) => (column === RANK ? named(alias, RANK) : source.ref(column)),
    });
  const object = membersJson(
    scope,
    root.members,
    named(alias, TYPE),
    named(alias, 'id'),
    false,
    ranking,
  );
  return sql`(select ${ofPage(scope, root.call, scope.json.list(object))} from (${query}) ${alias})`;
}

const columnsOf = (order: readonly Order[], searched: boolean) => [
  ...new Set(['id', ...order.map(columnOf), ...(searched ? [RANK] : [])]),
];

const columnOf = ({ column, rank }: Order): string => (rank ? RANK : column);

const unionOrder = (order: readonly Order[]) =>
  [
    ...order.map(
      ({ descending, ...each }) =>
        `${name(columnOf({ descending, ...each }))}${descending ? ' desc nulls first' : ' nulls last'}`,
    ),
    name(TYPE),
  ].join(', ');

function memberRows(
  scope: Scope,
  root: AbstractRows,
  { entity: entityName }: Member,
  columns: readonly string[],
): Sql {
  const model = scope.model.entity(entityName);
  const alias = scope.alias();
  const filter = scope.calls[root.call]?.where;
  const shape = root.list.where?.shape;
  const ranked = scope.calls[root.call]?.search?.kind === 'words';
  const table = searchedTable(scope, { entity: model, call: root.call, alias, ranked });
  const condition = and([
    watched(scope, model, alias),
    table.condition,
    equalities(scope, entityName, root.call, alias),
    shape !== undefined && filter !== undefined
      ? filterCondition(scope, shape, filter, {
          entity: model,
          alias,
          call: root.call,
          path: ['where'],
        })
      : undefined,
    rowCondition(scope, model.entity, scope.rules.entity(model.entity, 'READ'), alias),
  ]);
  const selected = joinSql(
    columns.map((column) =>
      column === RANK ? rankColumn(ranked, alias) : sortedColumn(scope, model, column, alias),
    ),
    ', ',
  );
  return sql`select ${literal(entityName)} as ${name(TYPE)}, ${selected} from ${table.from}${where(condition)}`;
}

const rankColumn = (ranked: boolean, alias: string): Sql =>
  sql`${ranked ? rankOf(alias) : '0'} as ${name(RANK)}`;

/** A value that the caller may not see is sorted as null. */
function sortedColumn(scope: Scope, entity: EntityModel, column: string, alias: string): Sql {
  const own = (of: string) => reference(entity, alias, of);
  if (column === 'id') {
    const key = keyOfRow(scope, entity, alias);
    return key[0] === own(column) && key[0].endsWith(`.${name(column)}`)
      ? key
      : sql`${key} as ${name(column)}`;
  }
  const seen = sortValueSeenWhen(scope, entity, column, own);
  const value = seen ? sql`case when ${seen} then ${own(column)} end` : sql`${own(column)}`;
  return sql`${value} as ${name(column)}`;
}

function membersJson(
  scope: Scope,
  members: readonly Member[],
  type: string,
  key: string,
  required: boolean,
  write: WriteObject,
): Sql {
  const absent = required ? marked(scope, 'MISSING') : sql`null`;
  if (members.length === 0) return absent;
  const cases = members.map(
    (member) =>
      sql` when ${literal(member.entity)} then ${memberJson(scope, member, write, sql`${key}`)}`,
  );
  const value = sql`case ${type}${joinSql(cases, '')} end`;
  return required ? sql`coalesce(${value}, ${absent})` : value;
}

function memberJson(
  scope: Scope,
  { selection, entity: entityName }: Member,
  write: WriteObject,
  key: Sql,
): Sql {
  const model = scope.model.entity(entityName);
  const { entity } = model;
  const alias = scope.alias();
  const joins: Sql[] = [];
  const object = write(selection, tableSource(scope, model, alias, joins));
  const condition = and([
    sql`${reference(model, alias, 'id')} = ${key}`,
    rowCondition(scope, entity, scope.rules.entity(entity, 'READ'), alias),
  ]);
  return sql`(select ${object} from ${tableName(entity, scope.dialect)} ${alias}${joinSql(joins, '')}${where(condition)})`;
}
