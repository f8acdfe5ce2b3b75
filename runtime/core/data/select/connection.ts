import { aggregateJson } from '../figures/aggregated.ts';
import { sortValueSeenWhen } from '../access/condition-sql.ts';
import { joinSql, literal, name, sql, type Sql } from '../sql/fragment.ts';
import type { Pair } from '../sql/json.ts';
import type { EntityModel } from '../model.ts';
import { wholeOrder } from '../rows/order.ts';
import { comparable, isColumn, orderName } from '../rows/order-sql.ts';
import type { ConnectionPart, EdgePart, Linked, Order, PageInfoField } from '../plan.ts';
import { countJson, ofPage, pageQuery, rowsJson } from '../rows/rows.ts';
import { parameter, TYPE_KEY, type Scope } from '../sql/scope.ts';
import { innerSource, type Source, type WriteObject } from '../sql/source.ts';

/** The query behind the parts of a connection: numbered rows of the page, and one more. */
interface Page {
  readonly alias: string;
  readonly source: Source;
  readonly parent: Source | undefined;
  readonly write: WriteObject;
}

const NUMBER = '$number';
const COUNT = '$count';

/**
 * A Relay connection as one JSON object. The query reads one row more than the page holds, which
 * answers `hasNextPage` without a second query. See the GraphQL Cursor Connections Specification.
 */
export function connectionJson(
  scope: Scope,
  linked: Linked,
  write: WriteObject,
  parent?: Source,
): Sql {
  if (linked.fields.every(({ kind }) => kind !== 'edges' && kind !== 'pageInfo'))
    return withoutNumbers(scope, linked, write, parent);
  const joins: Sql[] = [];
  const used = new Set<string>();
  const alias = scope.alias();
  const entity = scope.model.entity(linked.entity);
  const source = innerSource(scope, entity, { alias, used, joins });
  const page: Page = { alias, parent, write, source };
  const object = eachPart(scope, linked, (part) => partJson(scope, linked, part, page));
  const rows = pageQuery(scope, linked, () => [...used], parent, 1);
  const numbered = sql`select *, row_number() over () as ${name(NUMBER)}, count(*) over () as ${name(COUNT)} from (${rows}) ${scope.alias()}`;
  const direction = isBackwards(scope, linked) ? ' desc' : '';
  const ordered = sql`select * from (${numbered}) ${scope.alias()} order by ${name(NUMBER)}${direction}`;
  return sql`(select ${object} from (${ordered}) ${alias}${joinSql(joins, '')})`;
}

/**
 * Nodes and a count need neither the extra row nor row numbers. Numbering rows costs more than
 * reading them.
 */
function withoutNumbers(scope: Scope, linked: Linked, write: WriteObject, parent?: Source): Sql {
  return eachPart(scope, linked, (part) =>
    part.kind === 'nodes'
      ? rowsJson(scope, { ...linked, selection: part.selection }, write, parent)
      : partOfAll(scope, linked, part, parent),
  );
}

const eachPart = (scope: Scope, { type, fields }: Linked, value: (part: ConnectionPart) => Sql) =>
  scope.json.object([
    ...typeName(scope, type),
    ...fields.map((part) => ({ key: part.key, value: value(part) })),
  ]);

const typeName = (scope: Scope, type: string): Pair[] =>
  scope.tree ? [{ key: TYPE_KEY, value: sql`${literal(type)}` }] : [];

const isBackwards = (scope: Scope, { call }: Linked) => scope.calls[call]?.page?.backwards ?? false;

const inPage = ({ alias }: Page, { call }: Linked): Sql =>
  sql`${alias}.${name(NUMBER)} <= ${parameter(call, ['page', 'limit'], { type: 'integer' })}`;

/** A part that is the same for every page. */
function partOfAll(scope: Scope, linked: Linked, part: ConnectionPart, parent?: Source): Sql {
  if (part.kind === 'typename') return sql`${literal(part.value)}`;
  if (part.kind === 'aggregate') return aggregateJson(scope, { ...linked, ...part }, parent);
  return countJson(scope, linked, parent);
}

function partJson(scope: Scope, linked: Linked, part: ConnectionPart, page: Page): Sql {
  switch (part.kind) {
    case 'nodes':
      return listJson(scope, linked, page, page.write(part.selection, page.source));
    case 'edges':
      return listJson(scope, linked, page, edgeJson(scope, linked, part.type, part.fields, page));
    case 'pageInfo':
      return scope.json.object([
        ...typeName(scope, 'PageInfo'),
        ...part.fields.map(({ key, name: field }) => ({
          key,
          value: pageInfoJson(scope, linked, field, page),
        })),
      ]);
    default:
      return partOfAll(scope, linked, part, page.parent);
  }
}

/** Who asks for `pageInfo` learns from it whether there are more rows. */
function listJson(scope: Scope, linked: Linked, page: Page, object: Sql): Sql {
  const isTold =
    scope.calls[linked.call]?.page?.told && linked.fields.every(({ kind }) => kind !== 'pageInfo');
  if (isTold && scope.pages === 'longer') return scope.json.list(object);
  const list = scope.json.list(object, inPage(page, linked));
  const rows = sql`coalesce(max(${page.alias}.${name(COUNT)}), 0)`;
  return isTold ? ofPage(scope, linked.call, list, rows) : list;
}

function edgeJson(
  scope: Scope,
  linked: Linked,
  type: string,
  fields: readonly EdgePart[],
  page: Page,
): Sql {
  const pairs = fields.map((field): Pair => {
    if (field.kind === 'node')
      return { key: field.key, value: page.write(field.selection, page.source) };
    return {
      key: field.key,
      value: field.kind === 'cursor' ? cursor(scope, linked, page) : sql`${literal(field.value)}`,
    };
  });
  return scope.json.object([...typeName(scope, type), ...pairs]);
}

/** The values that the row is ordered by, as they are stored. */
function cursor(scope: Scope, linked: Linked, { source }: Page): Sql {
  const entity = scope.model.entity(linked.entity);
  const order = wholeOrder(scope.model, entity, scope.calls[linked.call]?.order ?? []);
  const values = order.map((each, index) => {
    if (!isColumn(each)) return computedCursor(scope, entity, each, source.ref(orderName(index)));
    const { column } = each;
    const value = cursorValue(scope, entity, column, source.ref(column));
    const seen = sortValueSeenWhen(scope, entity, column, source.ref);
    return seen ? sql`case when ${seen} then ${value} end` : value;
  });
  return scope.json.hex(scope.json.array(values));
}

/** The value of an order that is no column of the row: of a related row, or a number of rows. */
function computedCursor(scope: Scope, entity: EntityModel, order: Order, reference: string): Sql {
  const { column } = comparable(scope, entity, order);
  return column
    ? cursorValue(scope, column.entity, column.column.name, reference)
    : sql`${reference}`;
}

function cursorValue(scope: Scope, entity: EntityModel, column: string, reference: string): Sql {
  const found = entity.columns.get(column);
  if (found?.type === 'real' && scope.dialect === 'sqlite')
    return sql`case when ${reference} is not null then printf('%!.17g', ${reference}) end`;
  if (found?.timeForm) return sql`${reference}`;
  // Answers have milliseconds, but SQL of the project's own may have stored microseconds.
  if (found?.type === 'timestamp' && scope.dialect === 'postgres')
    return sql`to_char(${reference} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  return found && found.type !== 'boolean'
    ? scope.json.column(reference, found)
    : sql`${reference}`;
}

function pageInfoJson(scope: Scope, linked: Linked, field: PageInfoField, page: Page): Sql {
  const { alias } = page;
  const call = scope.calls[linked.call]?.page;
  const backwards = isBackwards(scope, linked);
  const size = parameter(linked.call, ['page', 'limit'], { type: 'integer' });
  const more = sql`coalesce(max(${alias}.${name(COUNT)}), 0) > ${size}`;
  const smaller = scope.dialect === 'sqlite' ? 'min' : 'least';
  const last = sql`${alias}.${name(NUMBER)} = ${smaller}(${alias}.${name(COUNT)}, ${size})`;
  const at = (row: Sql) => sql`max(${cursor(scope, linked, page)}) filter (where ${row})`;
  const first = sql`${alias}.${name(NUMBER)} = 1 and ${inPage(page, linked)}`;
  switch (field) {
    case '__typename':
      return sql`'PageInfo'`;
    case 'hasNextPage':
      return scope.json.boolean(backwards ? sql`${call?.before ? 'true' : 'false'}` : more);
    case 'hasPreviousPage':
      return scope.json.boolean(
        backwards ? more : sql`${call?.after || (call?.offset ?? 0) > 0 ? 'true' : 'false'}`,
      );
    case 'startCursor':
      return at(backwards ? last : first);
    case 'endCursor':
      return at(backwards ? first : last);
  }
}
