import type { Call, Page } from './plan.ts';

/**
 * A text that is the same for two sets of calls when one statement serves both: what decides the SQL is in it, the values
 * are not.
 *
 * @example shapeOf([{ equals: [{ column: 'name', value: 'Ada' }], order: [] }], false) // '|;name=v'
 */
export function shapeOf(calls: readonly Call[], tree: boolean): string {
  let shape = tree ? 'tree' : '';
  for (const call of calls) shape += `|${callShape(call)}`;
  return shape;
}

function callShape({ equals, where, order, page, target }: Call): string {
  let shape = '';
  for (const { column, value } of equals) shape += `;${column}${value === null ? '=n' : '=v'}`;
  if (where !== undefined) shape += `;${valueShape(where)}`;
  if (order.length > 1 || order[0]?.descending)
    shape += `;${order.map(({ column, descending }) => `${column}${descending ? '-' : '+'}`).join()}`;
  if (page) shape += pageShape(page);
  return target ? `${shape};${target.type}` : shape;
}

function pageShape({ backwards, offset, constant, limit, after, before }: Page): string {
  let shape = backwards ? ';backwards' : '';
  if (offset > 0) shape += ';offset';
  if (constant) shape += `;limit${limit}`;
  if (after) shape += `;after${valueShape(after)}`;
  if (before) shape += `;before${valueShape(before)}`;
  return shape;
}

/** Keys and nulls of an input; `isNull` is written as SQL, so that its value counts. */
function valueShape(value: unknown): string {
  if (value === null) return 'n';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value !== 'object') return 'v';
  if (Array.isArray(value))
    return value.every((item) => item !== null && typeof item !== 'object')
      ? 'l'
      : `[${value.map(valueShape).join()}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => (item === undefined ? '' : `${key}:${valueShape(item)}`))
    .join()}}`;
}
