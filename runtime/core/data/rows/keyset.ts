import { joinSql, sql, type Sql } from '../sql/fragment.ts';
import { comparable, inOrderForm, nullsFirst, sortKey, type Sort } from './order-sql.ts';
import type { Order, Page } from '../plan.ts';
import { and, parameter, type Scope } from '../sql/scope.ts';
import type { Stored } from '../sql/values.ts';

/** The rows that a cursor looks for. */
interface Sought {
  readonly call: number;
  readonly order: readonly Order[];
  readonly sort: Sort;
}

/** The condition for rows after (or before) the row of a cursor. */
export function keyset(scope: Scope, page: Page, sought: Sought): Sql | undefined {
  const side = (path: 'after' | 'before') =>
    page[path] && beyond(scope, page[path], { ...sought, path, reversed: path === 'before' });
  return and([side('after'), side('before')]);
}

interface Cursor extends Sought {
  readonly path: 'after' | 'before';
  readonly reversed: boolean;
}

/** `a > 1 or (a = 1 and b > 2)`, with nulls where the order puts them. */
function beyond(scope: Scope, values: readonly unknown[], cursor: Cursor): Sql {
  const terms = cursor.order.map(
    (_, last) =>
      and(
        values
          .slice(0, last + 1)
          .map((value, index) => step(scope, cursor, index, { value, last: index === last })),
      ) ?? sql`true`,
  );
  return sql`(${joinSql(
    terms.map((term) => sql`(${term})`),
    ' or ',
  )})`;
}

/** A cursor holds the values of columns, so a composite key is stored in it as its parts. */
const cursorValue = ({ part: _part, ...as }: Stored): Stored => as;

function step(
  scope: Scope,
  { call, order, sort, path, reversed }: Cursor,
  index: number,
  { value, last }: { readonly value: unknown; readonly last: boolean },
): Sql {
  const each = order[index] as Order;
  const compared = comparable(scope, sort.entity, each);
  const { key, nullable } = sortKey(scope, sort, each, index);
  const stored = parameter(call, ['page', path, index], cursorValue(compared.as));
  const at = inOrderForm(compared, sql`${stored}`);
  if (!last) return value === null ? sql`${key} is null` : sql`${key} = ${at}`;
  const down = each.descending !== reversed;
  const first = nullsFirst(each) !== reversed;
  if (value === null) return first ? sql`${key} is not null` : sql`false`;
  const further = sql`${key} ${down ? '<' : '>'} ${at}`;
  return nullable && !first ? sql`(${further} or ${key} is null)` : further;
}
