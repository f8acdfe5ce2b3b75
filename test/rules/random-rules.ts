import type { Random } from '../graphql/random-schema.ts';
import {
  before,
  lower,
  NEXT,
  printRule,
  randomPath,
  randomWhere,
  type Rule,
  TYPES,
  type Verb,
} from './random-conditions.ts';
import { readShapes, SHARED_SHAPES } from './random-shapes.ts';

/** A schema with rules, the same without them, and the rules as the oracle reads them. */
export interface Ruled {
  readonly sdl: string;
  readonly bare: string;
  /** By type, and by `Type.field`. */
  readonly rules: ReadonlyMap<string, readonly Rule[]>;
  /** Types whose removed rows stay in the table. */
  readonly soft: ReadonlySet<string>;
}

export const MANIFEST =
  'name: rules\napi: { access: public, rest: true }\nauth: { roles: { list: [admin, member], default: member } }\n';
export const BARE_MANIFEST = 'name: rules\napi: { access: public, rest: true }\n';

const VERBS: readonly (readonly Verb[] | undefined)[] = [
  undefined,
  ['READ'],
  ['READ', 'UPDATE'],
  ['CREATE', 'UPDATE', 'DELETE'],
  ['UPDATE'],
  ['CREATE'],
  ['DELETE'],
];

export function randomRule(random: Random, type: string, on: readonly Verb[] | undefined): Rule {
  const allow = random.pick([
    'PUBLIC',
    'USER',
    'USER',
    'OWNER',
    'OWNER',
    'ROLE',
    'API_KEY',
  ] as const);
  const where =
    allow !== 'OWNER' || random.chance(0.3)
      ? randomWhere(random, type, random.pick([0, 1, 2, 2, 3]))
      : undefined;
  const hasOwner = type !== 'User' && type !== 'Member' && random.chance(0.3);
  return {
    allow,
    ...(allow === 'OWNER' && { owner: hasOwner ? 'owner' : randomPath(random, type) }),
    ...(where && (allow === 'OWNER' || random.chance(0.9)) && { where }),
    ...(on && { on }),
  };
}

/** Some rows are open to all, so that no type is closed as a whole. */
const openRule = (type: string, random: Random): Rule => ({
  allow: 'PUBLIC',
  where:
    type === 'User'
      ? { name: 'ann' }
      : type === 'Member'
        ? { role: 'VIEWER' }
        : { label: random.pick(['ant', 'bee']) },
  on: ['READ'],
});

function rulesOf(random: Random, type: string): Rule[] {
  const some = Array.from({ length: 1 + random.below(3) }, (_, index) =>
    randomRule(random, type, index === 0 ? ['READ'] : random.pick(VERBS)),
  );
  return [...some, ...(random.chance(0.85) ? [openRule(type, random)] : [])];
}

const fieldRule = (random: Random, type: string): Rule => randomRule(random, type, ['READ']);

export function randomRuled(random: Random): Ruled {
  const rules = new Map<string, readonly Rule[]>();
  for (const type of ['User', 'Member', ...TYPES])
    if (random.chance(0.8)) rules.set(type, rulesOf(random, type));
  for (const type of TYPES)
    for (const field of ['secret', 'owner'])
      if (random.chance(0.4)) rules.set(`${type}.${field}`, [fieldRule(random, type)]);
  // The user's type has rules of its own for what the schema does not state.
  const users = rules.get('User') ?? [];
  if (!users.some(({ on }) => !on || on.includes('READ')))
    rules.set('User', [...users, { allow: 'PUBLIC', on: ['READ'] }]);
  const soft = new Set(['Gamma', 'Member'].filter(() => random.chance(0.3)));
  return { sdl: printWorld(rules, soft), bare: printWorld(new Map(), soft), rules, soft };
}

export function printWorld(rules: Ruled['rules'], soft: Ruled['soft']): string {
  const isRuled = rules.size > 0;
  const on = (at: string) => (rules.get(at) ?? []).map(printRule).join(' ');
  const kept = (type: string) => (soft.has(type) ? '@entity(softDelete: true)' : '');
  return [
    COMMON,
    `type User ${on('User')} { id: ID! ${isRuled ? 'email: String!' : ''} name: String! boss: User staff: [User!]! @relation(inverse: "boss") likes: [Alpha!]! @relation(inverse: "fans") members: [Member!]! likeCount: Int! @count(relation: "likes") }`,
    `type Member ${on('Member')} ${kept('Member')} { id: ID! role: Role user: User alpha: Alpha }`,
    ...TYPES.map((type) => typeOf(type, on, kept(type))),
    ...TYPES.flatMap(inputsOf),
    SHARED_SHAPES,
    ...TYPES.map((type) => readShapes(type, `${lower(type)}s`)),
    `type Query { user(id: ID!): User users(where: UserFilter, limit: Int): [User!]! member(id: ID!): Member members(limit: Int): [Member!]! ${TYPES.map(readsOf).join(' ')} }`,
    `type Mutation { ${TYPES.map(writesOf).join(' ')} }`,
  ].join('\n');
}

const COMMON = `
  scalar DateTime
  enum Direction { ASC DESC } enum Kind { CALM WILD } enum Role { EDITOR VIEWER }
  input StringOps { eq: String ne: String in: [String!] contains: String isNull: Boolean lt: String }
  input IntOps { eq: Int ne: Int lt: Int gte: Int isNull: Boolean }
  input IdOps { eq: ID ne: ID in: [ID!] isNull: Boolean }
  input UserFilter { name: StringOps boss: UserFilter likes: AlphaMany not: UserFilter }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`;

function typeOf(type: string, on: (at: string) => string, kept: string): string {
  const [to, from] = [NEXT[type]!, before(type)];
  const many = `${lower(from)}s`;
  return `type ${type} @search(fields: ["label"]) ${on(type)} ${kept} {
    rank: Float @search(as: RANK) excerpt: String @search(as: HIGHLIGHT, of: "label")
    id: ID! label: String! number: Int flag: Boolean! kind: Kind at: DateTime
    secret: String ${on(`${type}.secret`)} owner: User ${on(`${type}.owner`)}
    ${lower(to)}: ${to} ${many}(where: ${from}Filter, orderBy: ${from}Order, limit: Int, offset: Int): [${from}!]! @relation(inverse: "${lower(type)}")
    parent: ${type} children(first: Int, after: String, last: Int, before: String, where: ${type}Filter, orderBy: ${type}Order, search: String): ${type}Connection! @relation(inverse: "parent")
    ${type === 'Alpha' ? 'fans: [User!]! members: [Member!]! fanCount: Int! @count(relation: "fans") hasMembers: Boolean! @exists(relation: "members")' : ''}
    childCount: Int! @count(relation: "children") has: Boolean! @exists(relation: "${many}")
  }`;
}

function inputsOf(type: string): string[] {
  const [to, from] = [NEXT[type]!, before(type)];
  return [
    `input ${type}Filter { label: StringOps number: IntOps secret: StringOps ownerId: IdOps owner: UserFilter ${lower(to)}Id: IdOps ${lower(to)}: ${to}Filter ${lower(from)}s: ${from}Many children: ${type}Many and: [${type}Filter!] or: [${type}Filter!] not: ${type}Filter }`,
    `input ${type}Many { some: ${type}Filter every: ${type}Filter none: ${type}Filter }`,
    `input ${type}Order { label: Direction number: Direction secret: Direction id: Direction }`,
    `type ${type}Connection { edges: [${type}Edge!]! nodes: [${type}!]! pageInfo: PageInfo! totalCount: Int! }`,
    `type ${type}Edge { node: ${type}! cursor: String! }`,
  ];
}

const readsOf = (type: string) =>
  `${lower(type)}(id: ID!): ${type} ${lower(type)}s(limit: Int, offset: Int, where: ${type}Filter, orderBy: ${type}Order, label: String, secret: String, ownerId: ID): [${type}!]! all${type}(first: Int, after: String, last: Int, before: String, where: ${type}Filter, orderBy: ${type}Order): ${type}Connection! @resolve(as: LIST) top${type}: [${type}!]! @resolve(as: LIST) @list(orderBy: ["secret DESC"])`;

const writesOf = (type: string) => {
  const values = `number: Int, flag: Boolean, kind: Kind, ownerId: ID, ${lower(NEXT[type]!)}Id: ID, parentId: ID`;
  return `create${type}(label: String!, ${values.replace('flag: Boolean', 'flag: Boolean!')}): ${type} update${type}(id: ID!, label: String, ${values}): ${type} delete${type}(id: ID!): Boolean! delete${type}s(where: ${type}Filter!): Int!`;
};
