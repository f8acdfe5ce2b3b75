import type { Random } from '../graphql/random-schema.ts';

/** A schema with rules that nobody thought out, and the manifest that goes with it. */
export interface Ruled {
  readonly sdl: string;
  readonly manifest: string;
}

const TYPES = ['Alpha', 'Beta', 'Gamma'] as const;

const OWNED = [
  '@auth(allow: [OWNER], owner: "owner")',
  '@auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "owner")',
  '@auth(allow: [OWNER, API_KEY], owner: "owner")',
  '@auth(allow: [OWNER], owner: "owner", on: [READ]) @auth(allow: [ROLE], roles: ["admin"], on: [CREATE, UPDATE, DELETE])',
  '@auth(allow: [OWNER], owner: "owner") @auth(allow: [OWNER], owner: "second")',
];
const OPEN = [
  '',
  '',
  '@auth(allow: [PUBLIC])',
  '@auth(allow: [USER])',
  '@auth(allow: [ROLE], roles: ["admin", "member"])',
  '@auth(allow: [PUBLIC], on: [READ]) @auth(allow: [OWNER], owner: "owner", on: [CREATE, UPDATE, DELETE])',
  '@auth(allow: [API_KEY])',
];
const CLOSED = ['@auth(allow: [ROLE], roles: ["admin"])'];
const FIELDS = [
  '',
  '',
  '@auth(allow: [ROLE], roles: ["admin"])',
  '@auth(allow: [OWNER], owner: "owner")',
  '@auth(allow: [USER], on: [READ])',
  '@auth(allow: [OWNER, ROLE], roles: ["member"], owner: "second", on: [READ])',
];
const USERS = [
  '',
  '',
  '@auth(allow: [OWNER], owner: "id")',
  '@auth(allow: [OWNER, ROLE], roles: ["admin"], owner: "id", on: [READ])',
  '@auth(allow: [PUBLIC], on: [READ])',
];
const PHONES = ['', '@auth(allow: [OWNER], owner: "id")', '@auth(allow: [ROLE], roles: ["admin"])'];

/** Fields, lists and arguments: what many sets of rules can be laid over, each with the same tables. */
export type Shape = readonly {
  readonly type: string;
  readonly next: string;
  readonly before: string;
  readonly inPages: boolean;
  readonly isCodeUnique: boolean;
  readonly isOwned: boolean;
  readonly isLinked: boolean;
}[];

export const randomShape = (random: Random): Shape =>
  TYPES.map((type, index) => ({
    type,
    next: TYPES[(index + 1) % TYPES.length] as string,
    before: TYPES[(index + TYPES.length - 1) % TYPES.length] as string,
    inPages: random.chance(0.5),
    isCodeUnique: random.chance(0.3),
    isOwned: random.chance(0.3),
    isLinked: random.chance(0.2),
  }));

/**
 * Users, and three types that have owners, refer to each other and are listed under each other; every one of them and some
 * of their fields with rules. `api.crud` is left out: what can be written stands in the schema.
 */
export function randomRules(random: Random, extra = '', shape = randomShape(random)): Ruled {
  const rule = () => random.pick(random.chance(0.5) ? OWNED : random.chance(0.8) ? OPEN : CLOSED);
  const types = shape.map(({ type, next, before, inPages, isCodeUnique, isOwned, isLinked }) => {
    const [one, many] = [next.toLowerCase(), `${before.toLowerCase()}s`];
    const listed = inPages
      ? `${many}(first: Int, after: String, last: Int, before: String, where: ${before}Filter, orderBy: ${before}Order): ${before}Connection!`
      : `${many}(limit: Int, offset: Int, where: ${before}Filter, orderBy: ${before}Order): [${before}!]!`;
    return `type ${type} ${rule()} { id: ID! label: String! secret: String ${random.pick(FIELDS)} number: Int ${random.pick(FIELDS)} code: String ${isCodeUnique ? '@unique' : ''} owner: User${isOwned ? '!' : ''} second: User ${one}: ${next}${isLinked ? '!' : ''} ${random.chance(0.2) ? '@auth(allow: [ROLE], roles: ["admin"])' : ''} about: Anything ${random.chance(0.2) ? '@auth(allow: [ROLE], roles: ["admin"])' : ''} ${listed} @relation(inverse: "${type.toLowerCase()}") }`;
  });
  const sdl = [
    'enum Direction { ASC DESC }',
    'input StringOps { eq: String ne: String in: [String!] contains: String startsWith: String isNull: Boolean lt: String }',
    'input IntOps { eq: Int ne: Int lt: Int gte: Int isNull: Boolean }',
    'input IdOps { eq: ID ne: ID in: [ID!] isNull: Boolean }',
    `type User ${random.pick(USERS)} { id: ID! email: String name: String! phone: String ${random.pick(PHONES)} owned: [Alpha!]! @relation(inverse: "owner") }`,
    'input UserFilter { name: StringOps phone: StringOps and: [UserFilter!] or: [UserFilter!] not: UserFilter }',
    'input UserOrder { name: Direction phone: Direction id: Direction }',
    'union Anything = Alpha | Beta | Gamma | User',
    ...types,
    ...shape.flatMap(({ type, next, before }) => inputs(type, next, before)),
    'type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }',
    `type Query { user(id: ID!): User users(limit: Int, offset: Int, where: UserFilter, orderBy: UserOrder): [User!]! ${TYPES.map(reads).join(' ')} }`,
    `type Mutation { ${TYPES.map(writes).join(' ')} }`,
    `type Subscription { ${TYPES.map((type) => `${type.toLowerCase()}Changed: ${type}!`).join(' ')} userChanged: User! }`,
    extra,
  ].join('\n');
  return {
    sdl,
    manifest: `name: leak\napi: { access: ${random.pick(['public', 'user'])}, rest: true }\nauth: { roles: { list: [admin, member], default: member } }\n`,
  };
}

const reads = (type: string) => {
  const name = type.toLowerCase();
  return `${name}(id: ID!): ${type} ${name}s(limit: Int, offset: Int, where: ${type}Filter, orderBy: ${type}Order, label: String, ownerId: ID, number: Int): [${type}!]! all${type}(first: Int, after: String, last: Int, before: String, where: ${type}Filter, orderBy: ${type}Order): ${type}Connection! @resolve(as: LIST)`;
};

const writes = (type: string, index: number) => {
  const next = (TYPES[(index + 1) % TYPES.length] as string).toLowerCase();
  return `create${type}(label: String!, secret: String, number: Int, code: String, ownerId: ID, secondId: ID, ${next}Id: ID): ${type} update${type}(id: ID!, label: String, secret: String, number: Int, code: String, ownerId: ID, ${next}Id: ID): ${type} delete${type}(id: ID!): Boolean!`;
};

const inputs = (type: string, next: string, before: string) => [
  `input ${type}Filter { label: StringOps secret: StringOps number: IntOps ownerId: IdOps ${next.toLowerCase()}Id: IdOps owner: UserFilter ${next.toLowerCase()}: ${next}Filter ${before.toLowerCase()}s: ${before}Many and: [${type}Filter!] or: [${type}Filter!] not: ${type}Filter }`,
  `input ${type}Many { some: ${type}Filter every: ${type}Filter none: ${type}Filter }`,
  `input ${type}Order { label: Direction secret: Direction number: Direction owner: Direction ${next.toLowerCase()}: Direction id: Direction }`,
  `type ${type}Connection { edges: [${type}Edge!]! nodes: [${type}!]! pageInfo: PageInfo! totalCount: Int! }`,
  `type ${type}Edge { node: ${type}! cursor: String! }`,
];
