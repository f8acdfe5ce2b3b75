import { parseDigits } from '../sql/exact-json.ts';
import type { Filter, ListOptions, Paging } from '@twofold/schema';
import { failure } from '../../errors.ts';
import type { Rules } from '../access/access.ts';
import { assertReadable } from '../access/readable.ts';
import { found, type EntityModel, type Model } from '../model.ts';
import { assertFilterSize } from '../filter/filter-size.ts';
import { readDistinct, readOrder, totalOrder } from './order.ts';
import type { Call, Page } from '../plan.ts';
import { bestFirst } from '../search/search.ts';
import { readSearch } from '../search/search-call.ts';
import { isLogical } from '../filter/words-condition.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Reads the arguments of a list.
 * @throws AppError `BAD_USER_INPUT` for a negative number, a foreign cursor or pages in both
 * directions.
 * @throws AppError `FORBIDDEN` when the order is by a field that the caller may not read,
 * `TOO_DEEP` or `TOO_COSTLY` for a filter that is too large.
 */
export function readListArguments(
  model: Model,
  rules: Rules,
  list: ListOptions,
  entity: EntityModel,
  args: Arguments,
): Call {
  const search =
    list.search === undefined ? undefined : readSearch(args[list.search], entity.entity.search);
  const order = totalOrder(
    model,
    entity,
    readOrder(model, rules, search ? bestFirst(list, search) : list, entity, args),
  );
  const distinct = readDistinct(rules, list, entity, args);
  const equals = list.filters
    .filter(({ arg }) => args[arg] !== undefined)
    .map(({ arg, column }) => ({ column, value: args[arg] }));
  for (const { column } of equals) assertReadable(rules, entity, column);
  const where = list.where && args[list.where.arg];
  assertFilterSize(where);
  if (list.filterable && list.where)
    assertFilterable(model, list.where.shape, where, new Set(list.filterable));
  return {
    equals,
    ...(where !== undefined && where !== null && { where }),
    ...(search && { search }),
    order,
    ...(distinct && { distinct }),
    page: readPage(model, list.paging, args, order.length),
  };
}

/**
 * `@list(filter:)` names the columns that a filter may use. It may not use fields behind a to-many
 * relation.
 */
function assertFilterable(
  model: Model,
  shapeId: string,
  where: unknown,
  columns: ReadonlySet<string>,
): void {
  if (typeof where !== 'object' || where === null) return;
  if (Array.isArray(where))
    return where.forEach((item) => assertFilterable(model, shapeId, item, columns));
  const shape = found(model.filters.get(shapeId), `filter ${shapeId}`);
  for (const filter of shape.filters) {
    const value = (where as Arguments)[filter.name];
    if (value === undefined) continue;
    if (isLogical(filter.kind)) assertFilterable(model, shapeId, value, columns);
    else if (!columns.has(columnOf(model, shape.entity, filter) ?? ''))
      throw failure.invalid(`${filter.name} cannot be filtered by here`, {
        extensions: { field: filter.name },
      });
  }
}

function columnOf(model: Model, entity: string, filter: Filter): string | undefined {
  if ('column' in filter) return filter.column;
  if (filter.kind !== 'one') return undefined;
  const source = model.entity(entity).fields.get(filter.field)?.source;
  return source?.kind === 'one' && source.key === 'own' ? source.column : undefined;
}

/** The length of a list that says `@list(max:)` is no accident, so the answer need not tell it. */
const isLimited = ({ default: size, max }: Paging, cap: number) => size === max && max < cap;

function readPage({ project }: Model, paging: Paging, args: Arguments, columns: number): Page {
  const number = (arg: string | undefined) => readCount(arg, args);
  const sized = (arg: string | undefined) => readSize(arg, args, paging.max);
  const cursor = (arg: string | undefined) => readCursor(arg, args, columns);
  const [first, last, limit] = [sized(paging.first), sized(paging.last), sized(paging.limit)];
  if (first !== undefined && last !== undefined)
    throw failure.invalid('give first or last, not both');
  const [after, before] = [cursor(paging.after), cursor(paging.before)];
  const size = first ?? last ?? limit;
  return {
    limit: size ?? Math.min(paging.default, paging.max),
    ...(size === undefined && {
      constant: true,
      told: !isLimited(paging, project.api.limits.list),
    }),
    offset: number(paging.offset) ?? 0,
    ...(after && { after }),
    ...(before && { before }),
    backwards: last !== undefined,
  };
}

/**
 * @throws AppError `BAD_USER_INPUT` for more rows than the list allows: a shortened page would look
 * like the whole list.
 */
function readSize(arg: string | undefined, args: Arguments, max: number): number | undefined {
  const size = readCount(arg, args);
  if (size === undefined || size <= max) return size;
  throw failure.invalid(`${arg} must be at most ${max}`, {
    extensions: { field: arg, limit: max },
  });
}

function readCount(arg: string | undefined, args: Arguments): number | undefined {
  const value = arg === undefined ? undefined : args[arg];
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw failure.invalid(`${arg} must not be negative`);
}

/**
 * A cursor holds the values that its row is sorted by, as a JSON array in hexadecimal, which both
 * databases can write.
 */
function readCursor(
  arg: string | undefined,
  args: Arguments,
  columns: number,
): readonly unknown[] | undefined {
  const text = arg === undefined ? undefined : args[arg];
  if (arg === undefined || text === undefined || text === null) return undefined;
  const values = parseCursor(String(text));
  if (values?.length === columns) return values;
  throw failure.invalid(`${arg} is not a cursor of this list and order`);
}

function parseCursor(text: string): unknown[] | null {
  if (!/^(?:[0-9a-f]{2}){2,}$/i.test(text)) return null;
  try {
    const values: unknown = parseDigits(Buffer.from(text, 'hex').toString('utf8'));
    return Array.isArray(values) &&
      values.every((value) => value === null || typeof value !== 'object')
      ? values
      : null;
  } catch {
    return null;
  }
}
