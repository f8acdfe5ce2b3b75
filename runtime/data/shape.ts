import type { Call } from './plan.ts';

/**
 * A text that is the same for two sets of calls when one statement serves both: what decides the SQL is in it, the values
 * are not.
 *
 * @example shapeOf([{ equals: [{ column: 'name', value: 'Ada' }], order: [] }], false) // '|name=v'
 */
export function shapeOf(calls: readonly Call[], tree: boolean): string {
  let shape = tree ? 'tree' : '';
  for (const call of calls) shape += `|${callShape(call)}`;
  return shape;
}

function callShape({ equals, where, order, page, target }: Call): string {
  const parts = equals.map(({ column, value }) => `${column}${value === null ? '=n' : '=v'}`);
  if (where !== undefined) parts.push(valueShape(where));
  if (order.length > 1 || order[0]?.descending) parts.push(order.map(({ column, descending }) => `${column}${descending ? '-' : '+'}`).join());
  if (page?.backwards) parts.push('backwards');
  if (page && page.offset > 0) parts.push('offset');
  if (page?.constant) parts.push(`limit${page.limit}`);
  if (page?.after) parts.push(`after${valueShape(page.after)}`);
  if (page?.before) parts.push(`before${valueShape(page.before)}`);
  if (target) parts.push(target.type);
  return parts.join(';');
}

/** Keys and nulls of an input; `isNull` is written as SQL, so that its value counts. */
function valueShape(value: unknown): string {
  if (value === null) return 'n';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value !== 'object') return 'v';
  if (Array.isArray(value)) return value.every((item) => item !== null && typeof item !== 'object') ? 'l' : `[${value.map(valueShape).join()}]`;
  return `{${Object.entries(value).map(([key, item]) => (item === undefined ? '' : `${key}:${valueShape(item)}`)).join()}}`;
}
