import { getNamedType, type GraphQLInputType } from 'graphql';

type Members = Record<string, unknown>;

const ORDERED = new WeakSet<object>();

/** Marks a type whose members keep the order in which the caller wrote them, for `orderBy`. */
export function keepCallersOrder(type: GraphQLInputType): void {
  ORDERED.add(type);
}

/** Whether the type, or the type of its items, was marked by `keepCallersOrder`. */
export const hasCallersOrder = (type: GraphQLInputType): boolean => ORDERED.has(getNamedType(type));

/**
 * graphql-js returns members in the order of the schema. This restores the order of `written`, the
 * JSON of a variable or of a literal.
 *
 * @example restoreOrder({ title: 'ASC', views: 'DESC' }, { views: 'DESC', title: 'ASC' })
 */
export function restoreOrder(value: unknown, written: unknown): unknown {
  // In the place of a list, a single object is a list with one item.
  if (Array.isArray(value))
    return value.map((item, index) =>
      restoreOrder(item, Array.isArray(written) ? written[index] : written),
    );
  if (!isMembers(value) || !isMembers(written)) return value;
  const ordered: Members = Object.create(null);
  for (const name of [...Object.keys(written), ...Object.keys(value)])
    if (name in value) ordered[name] = restoreOrder(value[name], written[name]);
  return ordered;
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;
