/** A random source that a seed repeats: mulberry32. */
export type Random = ReturnType<typeof createRandom>;

export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    chance: (probability: number) => next() < probability,
    pick: <T>(list: readonly T[]): T => list[below(list.length)] as T,
  };
}

const SCALARS = [
  'String',
  'Int',
  'Float',
  'Boolean',
  'DateTime',
  'Mood',
  'BigInt',
  'Decimal',
  'Date',
] as const;
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  String: ['eq', 'ne', 'in', 'contains', 'startsWith', 'isNull', 'lt'],
  Int: ['eq', 'ne', 'lt', 'gte', 'in', 'isNull'],
  Float: ['lt', 'gt', 'isNull'],
  Boolean: ['eq', 'ne'],
  DateTime: ['lt', 'gte', 'eq', 'isNull'],
  Mood: ['eq', 'in', 'ne'],
  BigInt: ['eq', 'gt', 'in'],
  Decimal: ['lt', 'gte'],
  Date: ['eq', 'lt'],
};

/** Types that refer to each other, with lists, connections, filters and orders over them. */
export function randomSchema(random: Random): string {
  const types = ['Ant', 'Bee', 'Cat', 'Dog'].slice(0, 3 + random.below(2));
  const members = new Map(types.map((type) => [type, [] as string[]]));
  const relations: string[] = [];
  const inverse: { type: string; field: string; other: string; single: boolean }[] = [];
  types.forEach((type, index) => {
    const scalars = SCALARS.filter(() => random.chance(0.5)).map((scalar) => ({
      scalar,
      name: `f${scalar}`,
    }));
    for (const { scalar, name } of [{ scalar: 'String' as const, name: 'label' }, ...scalars])
      members.get(type)?.push(`${name}: ${scalar}${random.chance(0.5) ? '!' : ''}`);
    if (random.chance(0.3)) members.get(type)?.push('words: [String!]');
    const other = types[(index + 1) % types.length] as string;
    const [one, many] = [other.toLowerCase(), `${type.toLowerCase()}s`];
    members.get(type)?.push(`${one}: ${other}${random.chance(0.5) ? '!' : ''}`);
    members.get(other)?.push(`${listField(random, many, type)} @relation(inverse: "${one}")`);
    inverse.push(
      { type, field: one, other, single: true },
      { type: other, field: many, other: type, single: false },
    );
  });
  if (types.length > 2 && random.chance(0.7)) {
    const [a, b] = [types[0] as string, types[2] as string];
    members.get(a)?.push(`friends: [${b}!]! @relation(inverse: "fans")`);
    members.get(b)?.push(`fans: [${a}!]! @relation(inverse: "friends")`);
    inverse.push({ type: a, field: 'friends', other: b, single: false });
  }
  const abstracts = randomAbstracts(random, types, members);
  for (const type of types)
    relations.push(
      ...inputsOf(
        type,
        members.get(type) ?? [],
        inverse.filter((relation) => relation.type === type),
      ),
    );
  return [
    'scalar DateTime scalar BigInt scalar Decimal scalar Date',
    'enum Mood { CALM WILD }',
    'enum Direction { ASC DESC }',
    ...filterInputs(),
    ...abstracts.definitions,
    ...types.map(
      (type) =>
        `type ${type} ${abstracts.implementing.includes(type) ? 'implements Labelled ' : ''}{ id: ID! ${members.get(type)?.join(' ')} echo: String! @computed }`,
    ),
    ...relations,
    'type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }',
    `type Query { ${types.map((type) => rootFields(type)).join(' ')} labelled(limit: Int, offset: Int): [Labelled!]! anything(limit: Int): [Anything!]! }`,
  ].join('\n');
}

/** An interface that some of them implement, whose objects lead to others of it, and a union; keys of rows of several types. */
function randomAbstracts(
  random: Random,
  types: readonly string[],
  members: ReadonlyMap<string, string[]>,
): { readonly implementing: readonly string[]; readonly definitions: readonly string[] } {
  const implementing = types.slice(random.below(2));
  for (const type of implementing)
    members.get(type)?.push(`near: Labelled${random.chance(0.3) ? '!' : ''}`);
  const union = types.slice(0, 2 + random.below(types.length - 1));
  for (const type of types) {
    if (random.chance(0.5)) continue;
    const name = `${type.toLowerCase()}Thing`;
    members.get(type)?.push(`${name}: Anything${random.chance(0.5) ? '!' : ''}`);
    for (const other of union)
      if (random.chance(0.4))
        members
          .get(other)
          ?.push(`${listField(random, `${name}s`, type)} @relation(inverse: "${name}")`);
  }
  return {
    implementing,
    definitions: [
      'interface Labelled { id: ID! label: String near: Labelled }',
      `union Anything = ${union.join(' | ')}`,
    ],
  };
}

function listField(random: Random, name: string, type: string): string {
  const args = `where: ${type}Filter, orderBy: ${type}Order`;
  if (random.chance(0.35))
    return `${name}(first: Int, after: String, last: Int, before: String, ${args}): ${type}Connection!`;
  return random.chance(0.6)
    ? `${name}(limit: Int, offset: Int, ${args}): [${type}!]!`
    : `${name}: [${type}!]!`;
}

const rootFields = (type: string) => {
  const name = type.toLowerCase();
  return `${name}(id: ID!): ${type} ${name}s(limit: Int, offset: Int, where: ${type}Filter, orderBy: ${type}Order, label: String): [${type}!]! all${type}(first: Int, after: String, last: Int, before: String, where: ${type}Filter, orderBy: ${type}Order): ${type}Connection! @resolve(as: LIST)`;
};

const filterInputs = () =>
  Object.entries(OPERATORS).map(
    ([scalar, operators]) =>
      `input ${scalar}Ops { ${operators.map((operator) => `${operator}: ${operator === 'in' ? `[${scalar}!]` : operator === 'isNull' ? 'Boolean' : scalar}`).join(' ')} }`,
  );

function inputsOf(
  type: string,
  members: readonly string[],
  relations: readonly { field: string; other: string; single: boolean }[],
): string[] {
  const scalars = members
    .flatMap((member) => /^(\w+): (\w+)!?$/.exec(member)?.slice(1, 3) ?? [])
    .reduce<[string, string][]>(
      (list, item, index, all) =>
        index % 2 === 0 ? [...list, [item, all[index + 1] as string]] : list,
      [],
    );
  const plain = scalars.filter(([, scalar]) => scalar in OPERATORS);
  return [
    `input ${type}Filter { ${plain.map(([name, scalar]) => `${name}: ${scalar}Ops`).join(' ')} ${relations.map(({ field, other, single }) => `${field}: ${single ? `${other}Filter` : `${other}Many`}`).join(' ')} and: [${type}Filter!] or: [${type}Filter!] not: ${type}Filter }`,
    `input ${type}Many { some: ${type}Filter every: ${type}Filter none: ${type}Filter }`,
    `input ${type}Order { ${plain
      .filter(([, scalar]) => scalar !== 'Boolean')
      .map(([name]) => `${name}: Direction`)
      .join(' ')} id: Direction }`,
    `type ${type}Connection { edges: [${type}Edge!]! nodes: [${type}!]! pageInfo: PageInfo! totalCount: Int! }`,
    `type ${type}Edge { node: ${type}! cursor: String! }`,
  ];
}
