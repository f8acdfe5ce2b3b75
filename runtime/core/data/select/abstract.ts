import { filterCondition } from '../filter/filter.ts';
import { joinSql, literal, name, sql, type Part, type Sql } from '../sql/fragment.ts';
import type { AbstractRows, ByGlobalId, Member, Order, Planned } from '../plan.ts';
import { STEP_FUNCTION } from '../../store/bounds.ts';
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
import { castType, type Stored } from '../sql/values.ts';
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
  const type = source.ref(field.typeColumn);
  const key = () => source.ref(field.column);
  return membersJson(scope, field.members, { type, key, required: field.required }, write);
}

/** `node(id:)`: the id names the table. */
export function nodeJson(scope: Scope, root: ByGlobalId, write: WriteObject): Sql {
  const [member] = namedMembers(scope, root);
  if (!member) return sql`null`;
  const as = stored(scope.model, scope.model.entity(member.entity), 'id');
  return memberJson(scope, member, write, parameter(root.call, ['targets', 0, 'id'], as));
}

/**
 * `nodes(ids:)`: an item for each id, in the order of the ids. They are one parameter, a JSON array
 * of types and keys, so that one statement serves any number of them.
 */
export function nodesJson(scope: Scope, root: ByGlobalId, write: WriteObject): Sql {
  const { model, json } = scope;
  const members = namedMembers(scope, root);
  const keys = new Map(
    members.map(({ entity }) => [entity, stored(model, model.entity(entity), 'id')]),
  );
  const ids = parameter(root.call, ['targets'], { type: 'json', keys });
  const alias = scope.alias();
  const item = named(alias, 'value');
  const at: MemberReference = {
    type: `${item} ->> 0`,
    key: (entity) => keyIn(scope, item, keys.get(entity)!),
  };
  const object =
    members.length > 0 ? membersJson(scope, members, at, write) : json.constant('null');
  scope.watch();
  return scope.dialect === 'sqlite'
    ? sql`(select ${json.list(object)} from json_each(${ids}) ${alias} where ${STEP_FUNCTION}())`
    : sql`(select ${json.list(object)} from (select value from json_array_elements(${ids}::json) with ordinality o(value, i) order by i) ${alias})`;
}

/** The key that an item of the ids holds after its type; a row value when it has several parts. */
function keyIn({ dialect, model }: Scope, item: string, as: Stored): string {
  const parts = (as.parts ?? [as]).map((part, index) => {
    const text = `${item} ->> ${index + 1}`;
    return dialect === 'sqlite' ? text : `(${text})::${castType(part, model.ids)}`;
  });
  return parts.length === 1 ? parts[0]! : `(${parts.join(', ')})`;
}

/** The members that ids name. Tables that no id names are no part of the statement. */
function namedMembers({ calls }: Scope, { call, members }: ByGlobalId): readonly Member[] {
  const types = new Set(calls[call]?.targets?.map(({ type }) => type));
  return members.filter(({ entity }) => types.has(entity));
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
  const at = { type: named(alias, TYPE), key: () => named(alias, 'id') };
  const object = membersJson(scope, root.members, at, ranking);
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

/** Where a query has the type and the key of a row of one of several tables. */
interface MemberReference {
  readonly type: string;
  key(entity: string): string;
  readonly required?: boolean;
}

function membersJson(
  scope: Scope,
  members: readonly Member[],
  { type, key, required = false }: MemberReference,
  write: WriteObject,
): Sql {
  const absent = required ? marked(scope, 'MISSING') : sql`null`;
  if (members.length === 0) return absent;
  const cases = members.map(
    (member) =>
      sql` when ${literal(member.entity)} then ${memberJson(scope, member, write, key(member.entity))}`,
  );
  const value = sql`case ${type}${joinSql(cases, '')} end`;
  return required ? sql`coalesce(${value}, ${absent})` : value;
}

function memberJson(
  scope: Scope,
  { selection, entity: entityName }: Member,
  write: WriteObject,
  key: Part,
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
