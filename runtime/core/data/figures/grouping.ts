import type { Field, Grouping, TimeUnit } from '@twofold/schema';
import { failure } from '../../errors.ts';
import { refusal, type Rules } from '../access/access.ts';
import { assertFilterSize } from '../filter/filter-size.ts';
import { columnOf } from './having.ts';
import { listOf } from '../sql/list-of.ts';
import type { EntityModel, Model } from '../model.ts';
import { directionOf } from '../rows/order.ts';
import type { Figure, GroupCall, GroupKey, GroupOrder } from '../plan.ts';
import { isLogical } from '../filter/words-condition.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Whose arguments are read, and for which entity. */
interface Reading {
  readonly model: Model;
  readonly rules: Rules;
  readonly entity: EntityModel;
}

/**
 * Reads the arguments of a list of groups.
 *
 * @throws AppError `BAD_USER_INPUT` when nothing says what the groups are equal in, or two units of
 * one field do; `FORBIDDEN` for a field that the caller may read in no row.
 */
export function readGrouping(
  reading: Reading,
  { by, having, orderBy }: Grouping,
  args: Arguments,
): GroupCall {
  const keys = readKeys(reading, by, args[by.arg]);
  const given = having === undefined ? undefined : args[having];
  assertFilterSize(given);
  if (given !== undefined && given !== null) assertHaving(reading, given);
  const order = orderBy === undefined ? undefined : args[orderBy];
  return {
    keys,
    ...(given !== undefined && given !== null && { having: given }),
    order: firstOfEach(listOf(order).flatMap((item) => readOrder(reading, keys, item))),
  };
}

/**
 * Drops an order by a value that was named before: it has no effect, and databases limit how many
 * there are.
 */
function firstOfEach(order: readonly GroupOrder[]): GroupOrder[] {
  const byValue = new Map<string, GroupOrder>();
  for (const each of order) {
    const value = `${each.of} ${each.column ?? ''}`;
    if (!byValue.has(value)) byValue.set(value, each);
  }
  return [...byValue.values()];
}

function readKeys(reading: Reading, { arg, values }: Grouping['by'], given: unknown): GroupKey[] {
  const keys = new Map<string, GroupKey>();
  for (const value of listOf(given)) {
    const [field = '', unit] = (values[String(value)] ?? '').split(' ');
    const column = readable(reading, field);
    const known = keys.get(column);
    if (known && known.unit !== unit)
      throw failure.invalid(`${arg} may name ${field} once, with one unit of time`, {
        extensions: { field: arg },
      });
    keys.set(column, { column, ...(unit !== undefined && { unit: unit as TimeUnit }) });
  }
  if (keys.size === 0)
    throw failure.invalid(`${arg} must name a field`, { extensions: { field: arg } });
  return [...keys.values()];
}

/** The column of a field. @throws AppError when the caller may read the field in no row. */
function readable({ model, rules, entity }: Reading, name: string): string {
  const column = columnOf(entity, name);
  const field = entity.fields.get(name) as Field;
  const access = rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  const target = column.references && model.entities.get(column.references.entity);
  const other = target && rules.entity(target.entity, 'READ');
  if (other?.kind === 'none') throw refusal(other.code);
  return column.name;
}

function assertHaving(reading: Reading, given: unknown): void {
  for (const item of listOf(given))
    for (const [name, value] of Object.entries(item ?? {})) {
      if (value === undefined || value === null || name === 'count') continue;
      if (isLogical(name)) assertHaving(reading, value);
      else for (const field of Object.keys(value)) readable(reading, field);
    }
}

function readOrder(reading: Reading, keys: readonly GroupKey[], item: unknown): GroupOrder[] {
  return Object.entries((item ?? {}) as Arguments).flatMap(([of, given]) => {
    if (given === undefined || given === null) return [];
    if (of === 'count') return [{ of, ...directionOf(given) }];
    return Object.entries(given).flatMap(([field, direction]) =>
      direction === undefined || direction === null
        ? []
        : [orderOf(reading, keys, { of: of as 'key' | Figure, field, direction })],
    );
  });
}

function orderOf(
  reading: Reading,
  keys: readonly GroupKey[],
  {
    of,
    field,
    direction,
  }: { readonly of: 'key' | Figure; readonly field: string; readonly direction: unknown },
): GroupOrder {
  const column = readable(reading, field);
  if (of === 'key' && !keys.some((key) => key.column === column))
    throw failure.invalid(`the groups are not by ${field}, so its key has no order`, {
      extensions: { field },
    });
  return { of, column, ...directionOf(direction) };
}
