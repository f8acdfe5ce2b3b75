import type { Random } from '../graphql/random-schema.ts';
import type { Shape } from './random-tenants.ts';
import type { Calling, TenantCall } from './tenant-calls.ts';

const lower = (type: string) => type.toLowerCase();

/** What sees rows without showing them: aggregates, groups, searches, orders by others, distinct. */
export function figuresOf({ type, next, before, direct }: Shape): string {
  const many = `${lower(type)}s`;
  return `
    type ${type}Aggregate { count: Int! countDistinct: ${type}Counts! sum: ${type}Sums! min: ${type}Values! max: ${type}Values! }
    type ${type}Counts { owner: Int! label: Int! ${lower(next)}: Int! } type ${type}Sums { number: Int }
    type ${type}Values { secret: String label: String number: Int }
    type ${type}Group { key: ${type}Key! count: Int! sum: ${type}Sums! }
    type ${type}Key { label: String owner: User secret: String ${lower(next)}: ${next} }
    enum ${type}GroupBy { LABEL OWNER SECRET ${next.toUpperCase()} } enum ${type}Field { LABEL OWNER SECRET ${next.toUpperCase()} }
    input ${type}Having { count: IntOps }
    input ${type}By { secret: Direction label: Direction owner: UserOrder ${lower(next)}: ${next}Order ${lower(before)}s: ${type}CountBy }
    input ${type}CountBy { count: Direction }
    ${direct ? `extend type Company { ${many}Aggregate(where: ${type}Filter): ${type}Aggregate! }` : ''}
    extend type Query {
      ${many}Aggregate(where: ${type}Filter, search: String): ${type}Aggregate!
      ${many}Groups(where: ${type}Filter, by: [${type}GroupBy!]!, having: ${type}Having): [${type}Group!]!
      ${many}By(orderBy: [${type}By!], distinct: [${type}Field!], search: String): [${type}!]! @resolve(as: LIST)
      ${many}Pages(search: String, first: Int): ${type}Connection! @resolve(as: LIST)
    }`;
}

const FIGURES =
  'count countDistinct { owner label } sum { number } min { secret label } max { secret number }';

/** One or two of the root fields and of the lists' own, with filters that hold for some rows. */
export function randomFigure({ random, shapes }: Calling): TenantCall {
  const fields = Array.from({ length: 1 + random.below(2) }, (_, index) =>
    random.pick(fieldsOf(random, random.pick(shapes))).replace(/^/, `f${index}: `),
  );
  return { kind: 'graphql', text: `{ ${fields.join(' ')} }`, variables: {} };
}

function fieldsOf(random: Random, { type, next, before, direct }: Shape): readonly string[] {
  const many = `${lower(type)}s`;
  const to = lower(next);
  const word = random.pick(['ant', 'bee or cat', '-ant', 'c*']);
  const where = random.pick([
    '{}',
    `{ number: { gte: ${random.below(5)} } }`,
    `{ ${to}: { label: { ne: "ant" } } }`,
    `{ ${lower(before)}s: { some: { number: { gte: 2 } } } }`,
    `{ not: { ${lower(before)}s: { every: { label: { eq: "bee" } } } } }`,
    '{ secret: { isNull: false } }',
  ]);
  const by = random.pick(['LABEL', 'OWNER', 'SECRET', next.toUpperCase()]);
  const way = random.pick(['ASC', 'DESC']);
  const order = random.pick([
    `owner: { name: ${way} }`,
    `${to}: { label: ${way} }`,
    `${lower(before)}s: { count: ${way} }`,
    `secret: ${way}`,
  ]);
  return [
    `${many}Aggregate(where: ${where}) { ${FIGURES} }`,
    `${many}Aggregate(search: "${word}") { ${FIGURES} }`,
    `${many}Groups(where: ${where}, by: [${by}]) { key { label secret owner { id } ${to} { id } } count sum { number } }`,
    `${many}Groups(by: [${by}, LABEL], having: { count: { gte: 2 } }) { key { label } count }`,
    `${many}By(orderBy: [{ ${order} }]) { id }`,
    `${many}By(distinct: [${by}], orderBy: [{ ${order} }]) { id }`,
    `${many}By(search: "${word}") { id }`,
    `${many}Pages(search: "${word}", first: 2) { totalCount nodes { id } pageInfo { hasNextPage } }`,
    direct
      ? `companies { id ${many}Aggregate(where: ${where}) { ${FIGURES} } }`
      : `all${type} { totalCount }`,
  ];
}
