import type { OrderedBy, ListOptions, OrderMember, OrderShape } from '@twofold/schema';
import { distinctColumn } from '@twofold/schema';
import { AppError } from '../../errors.ts';
import { refusal, type Rules } from '../access/access.ts';
import { found, type EntityModel, type Model } from '../model.ts';
import type { Order } from '../plan.ts';
import { assertReadable, assertSeen } from '../access/readable.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The order that the arguments ask for; without one, the default order of the list.
 *
 * @throws AppError `FORBIDDEN` for a field that the caller may read in no row, `TOO_COSTLY` for an
 * order that follows too many relations.
 */
export function readOrder(
  model: Model,
  rules: Rules,
  list: ListOptions,
  entity: EntityModel,
  args: Arguments,
): readonly Order[] {
  const given = list.orderBy && args[list.orderBy.arg];
  if (!list.orderBy || given === undefined || given === null) return list.order;
  const { form } = found(model.orders.get(list.orderBy.shape), `order ${list.orderBy.shape}`);
  const order = (Array.isArray(given) ? given : [given]).flatMap((item) =>
    readItem(model, form, item),
  );
  assertSize(order);
  for (const each of order) assertSortable(model, rules, entity, each);
  return order.length > 0 ? order : list.order;
}

function readItem(model: Model, form: OrderShape['form'], item: unknown): readonly Order[] {
  if (item === null || item === undefined) return [];
  if (form.kind === 'enum')
    return form.values
      .filter(({ value }) => value === item)
      .map((each) => ({ ...comparedBy(each), descending: each.descending }));
  const input = item as Arguments;
  if (form.kind === 'fields') return readMembers(model, form.fields, input, []);
  const descending = form.direction !== undefined && isDescending(input[form.direction]);
  const nulls = nullsOf(form.nulls === undefined ? undefined : input[form.nulls]);
  return form.values
    .filter(({ value }) => value === input[form.field])
    .map((each) => ({ ...comparedBy(each), descending, ...nulls }));
}

/** The members in the order in which the caller wrote them. */
function readMembers(
  model: Model,
  fields: readonly OrderMember[],
  input: Arguments,
  path: readonly string[],
): Order[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const member = fields.find((each) => each.name === name);
    if (!member || value === null || value === undefined) return [];
    if ('one' in member) {
      const { form } = found(model.orders.get(member.shape), `order ${member.shape}`);
      const inner = form.kind === 'fields' ? form.fields : [];
      return readMembers(model, inner, value as Arguments, [...path, member.one]);
    }
    const direction = 'many' in member ? (value as Arguments)['count'] : value;
    if (direction === null || direction === undefined) return [];
    const compared = 'many' in member ? { tally: member.many } : member;
    return [
      { ...comparedBy(compared), ...directionOf(direction), ...(path.length > 0 && { path }) },
    ];
  });
}

const comparedBy = (of: OrderedBy): Pick<Order, 'column' | 'tally'> =>
  'column' in of ? { column: of.column } : { column: '', tally: of.tally };

/** A direction, or `{ direction, nulls }`. */
export function directionOf(value: unknown): Pick<Order, 'descending' | 'nulls'> {
  if (typeof value !== 'object' || value === null) return { descending: isDescending(value) };
  const { direction, nulls } = value as Arguments;
  return { descending: isDescending(direction), ...nullsOf(nulls) };
}

const isDescending = (direction: unknown) => /^desc/i.test(String(direction ?? ''));

function nullsOf(word: unknown): Pick<Order, 'nulls'> {
  if (word === undefined || word === null) return {};
  return { nulls: /^first/i.test(String(word)) ? 'first' : 'last' };
}

/** Each relation of an order is a join of the statement, and SQLite joins at most 64 tables. */
const RELATIONS = 20;

function assertSize(order: readonly Order[]): void {
  const relations = new Set<string>();
  for (const { path = [], tally } of order) {
    path.forEach((_, index) => relations.add(path.slice(0, index + 1).join('.')));
    if (tally !== undefined) relations.add([...path, tally].join('.'));
  }
  if (relations.size > RELATIONS)
    throw new AppError(400, 'TOO_COSTLY', `an order may follow ${RELATIONS} relations`, {
      extensions: { limit: RELATIONS },
    });
}

function assertSortable(model: Model, rules: Rules, entity: EntityModel, order: Order): void {
  let at = entity;
  for (const step of order.path ?? []) at = related(model, rules, at, step);
  if (order.tally === undefined) {
    assertReadable(rules, at, order.column);
    return assertSeen(model, rules, at, order.column);
  }
  const field = found(at.fields.get(order.tally), `field ${order.tally}`);
  const { source } = field;
  if (source.kind === 'many') related(model, rules, at, field.name);
  else assertAllowed(rules, at, field.name);
}

/** @throws AppError when the caller may not read the field */
function assertAllowed(rules: Rules, { entity, fields }: EntityModel, name: string): void {
  const access = rules.field(entity, found(fields.get(name), `field ${name}`), 'READ');
  if (access.kind === 'none') throw refusal(access.code);
}

/** The entity that a field leads to. @throws AppError when the caller may not follow it */
function related(model: Model, rules: Rules, at: EntityModel, name: string): EntityModel {
  assertAllowed(rules, at, name);
  const { source } = found(at.fields.get(name), `field ${name}`);
  const target = model.entity(source.kind === 'one' || source.kind === 'many' ? source.entity : '');
  const access = rules.entity(target.entity, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  return target;
}

/**
 * The columns of `distinct`: one row of each combination is left. Undefined without the argument.
 *
 * @throws AppError `FORBIDDEN` for a field that the caller may read in no row.
 */
export function readDistinct(
  rules: Rules,
  { distinct }: ListOptions,
  entity: EntityModel,
  args: Arguments,
): readonly string[] | undefined {
  const given = distinct && args[distinct.arg];
  if (!distinct || !Array.isArray(given)) return undefined;
  const columns = given.flatMap((value) => distinctColumn(distinct, entity.entity, value) ?? []);
  for (const column of columns) assertReadable(rules, entity, column);
  return columns.length > 0 ? [...new Set(columns)] : undefined;
}

/** A text that is equal for two orders by the same value. */
const nameOf = ({ path = [], column, tally, rank }: Order): string =>
  rank ? '#' : [...path, tally === undefined ? column : `#${tally}`].join('.');

/**
 * Drops repeated columns and adds the key's columns at the end, so that no two rows are equal. A
 * composite key is replaced by its columns.
 */
export function totalOrder(
  model: Model,
  entity: EntityModel,
  order: readonly Order[],
): readonly Order[] {
  const seen = new Set<string>();
  const all = [...wholeOrder(model, entity, order), ...entity.keyOrder];
  return all.filter((each) => !seen.has(nameOf(each)) && seen.add(nameOf(each)));
}

/** The order, with each composite key replaced by its columns. */
export function wholeOrder(
  model: Model,
  entity: EntityModel,
  order: readonly Order[],
): readonly Order[] {
  return order.flatMap((each) => {
    if (each.tally !== undefined || each.rank) return [each];
    const at = endOf(model, entity, each.path);
    return at.partsOf(each.column).map((column) => ({ ...each, column }));
  });
}

/** The entity at the end of a path of to-one relations. */
export function endOf(
  model: Model,
  entity: EntityModel,
  path: readonly string[] = [],
): EntityModel {
  return path.reduce((at, step) => {
    const source = at.fields.get(step)?.source;
    return model.entity(source?.kind === 'one' ? source.entity : step);
  }, entity);
}
