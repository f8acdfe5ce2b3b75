import { getNamedType, type GraphQLInputType } from 'graphql';

type Members = Record<string, unknown>;

const ORDERED = new WeakSet<object>();

/** From now on the members of such an object stay in the order in which the caller wrote them: an `orderBy` means it. */
export function keepCallersOrder(type: GraphQLInputType): void {
  ORDERED.add(type);
}

/** Whether the members of a value of the type, or of each item of it, have an order of the caller's. */
export const hasCallersOrder = (type: GraphQLInputType): boolean => ORDERED.has(getNamedType(type));

/**
 * What graphql-js made of a value has the order of the schema; this gives it the order of `written`, the JSON of a variable
 * or of a literal.
 *
 * @example restoreOrder({ title: 'ASC', views: 'DESC' }, { views: 'DESC', title: 'ASC' })
 */
export function restoreOrder(value: unknown, written: unknown): unknown {
  // A single object in the place of a list is a list of one.
  if (Array.isArray(value))
    return value.map((item, index) =>
      restoreOrder(item, Array.isArray(written) ? written[index] : written),
    );
  if (!isMembers(value) || !isMembers(written)) return value;
  const ordered: Members = Object.create(null);
  for (const name of [...Object.keys(written), ...Object.keys(value)])
    if (name in value) ordered[name] = value[name];
  return ordered;
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;
