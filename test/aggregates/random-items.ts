import type { Principal } from '../../runtime/core/context/request-context.ts';
import { user } from '../graphql/harness.ts';
import type { Random } from '../graphql/random-schema.ts';

/** One row of `Item`, with the names of the fields; `owner` is the key of a user. */
export type Item = Readonly<Record<string, any>>;

/** Who may read rows, or the field `secret`, or users. */
export type Access = 'all' | 'owner' | 'flagged' | 'owner or flagged' | 'admin';

/** A schema with what it means, and its rows. */
export interface Items {
  readonly sdl: string;
  readonly manifest: string;
  /** The declared type of each figure: `sum n` → `BigInt`. */
  readonly types: ReadonlyMap<string, string>;
  readonly rows: Access;
  readonly secret: Access;
  readonly users: Access;
  readonly items: readonly Item[];
}

export const MANIFEST = `name: items
api: { access: public, limits: { cost: 1000000, root_fields: 99, aliases: 999 } }
auth: { roles: { list: [admin, member], default: member } }
`;

export const CALLERS: readonly Principal[] = [
  { kind: 'anonymous' },
  user(1, 'member'),
  user(2, 'member'),
  user(3, 'admin'),
];
export const USERS = [1, 2, 3];

export const VALUES = ['n', 'big', 'price', 'score', 'label', 'tag', 'mood', 'at', 'day', 'secret'];
export const NUMBERS = ['n', 'big', 'price', 'score', 'secret'];

const DECLARED: Readonly<Record<string, readonly string[]>> = {
  n: ['Int', 'BigInt', 'Decimal', 'Float'],
  big: ['BigInt', 'Decimal', 'Float', 'Int'],
  price: ['Decimal', 'Decimal', 'Float', 'BigInt', 'Int'],
  score: ['Float'],
  secret: ['BigInt', 'Int'],
};
const OF: Readonly<Record<string, string>> = {
  n: 'Int',
  big: 'BigInt',
  price: 'Decimal',
  score: 'Float',
  label: 'String',
  tag: 'String',
  mood: 'Mood',
  at: 'DateTime',
  day: 'Date',
  secret: 'Int',
};

const RULES: Readonly<Record<Access, string>> = {
  all: '@auth(allow: [PUBLIC])',
  owner: '@auth(allow: [OWNER], owner: "owner")',
  flagged: '@auth(allow: [PUBLIC], where: { flag: true })',
  'owner or flagged':
    '@auth(allow: [OWNER], owner: "owner") @auth(allow: [PUBLIC], where: { flag: true })',
  admin: '@auth(allow: [ROLE], roles: ["admin"])',
};
const USER_RULES: Readonly<Record<string, string>> = {
  all: '@auth(allow: [PUBLIC], on: [READ])',
  owner: '@auth(allow: [USER], where: { id: CALLER }, on: [READ])',
};

export function randomItems(random: Random): Items {
  const types = new Map<string, string>();
  for (const name of NUMBERS) types.set(`sum ${name}`, random.pick(DECLARED[name]!));
  for (const name of NUMBERS)
    types.set(`avg ${name}`, name === 'price' ? random.pick(['Float', 'Decimal']) : 'Float');
  for (const name of VALUES)
    for (const what of ['min', 'max'])
      types.set(
        `${what} ${name}`,
        name === 'n' || name === 'big' ? random.pick(DECLARED[name]!) : OF[name]!,
      );
  const rules = {
    rows: random.pick(['all', 'all', 'owner', 'flagged', 'owner or flagged'] as const),
    secret: random.pick(['all', 'owner', 'flagged', 'owner or flagged', 'admin'] as const),
    users: random.pick(['all', 'owner'] as const),
  };
  const key = random.pick(['id', 'id', 'natural', 'composite'] as const);
  const unmanaged = key !== 'id' && random.chance(0.3);
  return {
    sdl: print(random, types, rules, key),
    manifest: unmanaged ? `${MANIFEST}database: { managed: false }\n` : MANIFEST,
    types,
    ...rules,
    items: Array.from({ length: random.below(40) }, (_, index) => randomItem(random, index + 1)),
  };
}

function print(
  random: Random,
  types: Items['types'],
  { rows, secret, users }: Pick<Items, 'rows' | 'secret' | 'users'>,
  key: 'id' | 'natural' | 'composite',
): string {
  const [keyed, id] = {
    id: ['', 'id: ID!'],
    natural: ['@table(name: "things", key: ["code"])', 'code: String!'],
    composite: ['@table(name: "things", key: ["code", "line"])', 'code: String! line: Int!'],
  }[key] as [string, string];
  const members = (of: string, names: readonly string[]) =>
    names.map((name) => `${name}: ${types.get(`${of} ${name}`)}`).join(' ');
  const stored = random.chance(0.5) ? '@column(name: "tag_name")' : '';
  const calm = random.chance(0.5) ? '@column(name: "A calm one")' : '';
  return `
    scalar DateTime scalar Date scalar BigInt scalar Decimal
    enum Mood { CALM ${calm} WILD }
    enum Direction { ASC DESC } enum Nulls { FIRST LAST }
    type User ${USER_RULES[users]} { id: ID! email: String! name: String! items: [Item!]! itemsAggregate(where: ItemFilter): ItemAggregate! ${GROUPS} }
    type Item ${keyed} ${RULES[rows]} {
      ${id} owner: User flag: Boolean n: Int big: BigInt price: Decimal score: Float label: String
      tag: String ${stored} mood: Mood at: DateTime day: Date secret: Int ${RULES[secret].replaceAll(')', ', on: [READ])')}
    }
    type Query {
      users: [User!]!
      itemsAggregate(where: ItemFilter): ItemAggregate!
      ${GROUPS}
      itemsConnection(where: ItemFilter, first: Int): ItemConnection!
    }
    type ItemConnection { nodes: [Item!]! totalCount: Int! aggregate: ItemAggregate! }
    type ItemAggregate { count: Int! countDistinct: ItemCounts! sum: ItemSums! avg: ItemAverages! min: ItemLeast! max: ItemMost! }
    type ItemGroup { key: ItemKey! count: Int! countDistinct: ItemCounts! sum: ItemSums! avg: ItemAverages! min: ItemLeast! max: ItemMost! }
    type ItemCounts { owner: Int flag: Int ${VALUES.map((name) => `${name}: Int`).join(' ')} }
    type ItemSums { ${members('sum', NUMBERS)} }
    type ItemAverages { ${members('avg', NUMBERS)} }
    type ItemLeast { ${members('min', VALUES)} }
    type ItemMost { ${members('max', VALUES)} }
    type ItemKey { owner: User flag: Boolean ${VALUES.map((name) => `${name}: ${OF[name]}`).join(' ')} }
    enum ItemGroupBy { OWNER FLAG ${VALUES.map((name) => name.toUpperCase()).join(' ')} ${UNITS.map((unit) => `AT_${unit} ${unit === 'HOUR' ? '' : `DAY_${unit}`}`).join(' ')} }
    input ItemGroupFilter { count: IntFilter sum: ItemSumsFilter avg: ItemAveragesFilter min: ItemLeastFilter and: [ItemGroupFilter!] or: [ItemGroupFilter!] not: ItemGroupFilter }
    input ItemSumsFilter { n: BigIntFilter big: BigIntFilter price: DecimalFilter score: FloatFilter }
    input ItemAveragesFilter { n: FloatFilter }
    input ItemLeastFilter { at: DateTimeFilter price: DecimalFilter label: StringFilter }
    input ItemGroupOrder { count: Direction key: ItemOrder sum: ItemSumsOrder avg: ItemSumsOrder max: ItemOrder }
    input ItemSumsOrder { n: Direction big: Sort price: Direction score: Direction }
    input ItemOrder { n: Direction big: Direction price: Direction label: Direction mood: Direction at: Direction flag: Direction owner: Direction }
    input Sort { direction: Direction! nulls: Nulls }
    input ItemFilter { flag: Boolean n: IntFilter label: StringFilter or: [ItemFilter!] }
    input IntFilter { eq: Int ne: Int lt: Int gte: Int in: [Int!] isNull: Boolean }
    input BigIntFilter { eq: BigInt ne: BigInt lt: BigInt gte: BigInt in: [BigInt] isNull: Boolean }
    input DecimalFilter { eq: Decimal lt: Decimal gte: Decimal notIn: [Decimal!] }
    input FloatFilter { lt: Float gte: Float }
    input StringFilter { eq: String ne: String lt: String in: [String!] }
    input DateTimeFilter { lt: DateTime gte: DateTime }
  `;
}

const UNITS = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'];
const GROUPS =
  'itemsGroups(where: ItemFilter, by: [ItemGroupBy!]!, having: ItemGroupFilter, orderBy: [ItemGroupOrder!], limit: Int, offset: Int): [ItemGroup!]!';

function randomItem(random: Random, index: number): Item {
  const maybe = <T>(value: T): T | null => (random.chance(0.2) ? null : value);
  const at = new Date(Date.UTC(1890, 0, 1) + Math.floor(random.next() * 6.7e12)).toISOString();
  return {
    id: index,
    code: `c${100 + index}`,
    line: index % 3,
    owner: maybe(1 + random.below(3)),
    flag: maybe(random.chance(0.5)),
    n: maybe(random.pick([random.below(10), -1 - random.below(9), 2_147_483_647, -2_147_483_648])),
    big: maybe(String(random.pick(BIGS) + BigInt(random.below(3)))),
    price: maybe(randomDecimal(random)),
    score: maybe((random.below(80) - 40) / 4),
    label: maybe(random.pick(['ant', 'bee', 'cat'])),
    tag: maybe(random.pick(['red', 'blue'])),
    mood: maybe(random.pick(['CALM', 'WILD'])),
    at: maybe(random.pick([at, '1969-12-31T23:59:59.999Z', '2040-01-01T00:00:00.000Z'])),
    day: maybe(random.pick([at.slice(0, 10), '2024-12-30', '2038-01-20'])),
    secret: maybe(random.below(100)),
  };
}

const BIGS = [
  0n,
  1n,
  9_007_199_254_740_993n,
  9_223_372_036_854_775_805n,
  -9_223_372_036_854_775_808n,
];

function randomDecimal(random: Random): string {
  const digits = random.pick(['1', '-7', '12', '99999999999999999999999999', '-4', '0']);
  const fraction = random.pick(['', '.5', '.50', '.125', '.000000000000000000001']);
  return digits + fraction;
}
