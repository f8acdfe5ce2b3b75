import type { Random } from '../graphql/random-schema.ts';
import type { Ruled } from './random-rules.ts';
import { figuresOf } from './tenant-figures.ts';

export const TYPES = ['Alpha', 'Beta', 'Gamma'] as const;

export const lower = (type: string) => type.toLowerCase();
const at = (index: number) => TYPES[(index + TYPES.length) % TYPES.length] as string;

/** A type, the one that it refers to, and the one that is listed under it. */
export interface Shape {
  readonly type: string;
  readonly next: string;
  readonly before: string;
  /** Whether it has a key of an organization; else the way to one leads through `next`. */
  readonly direct: boolean;
}

export interface Tenants extends Ruled {
  readonly shapes: readonly Shape[];
}

const RULES = [
  (tenant: string) => `@auth(allow: [TENANT]${tenant})`,
  (tenant: string) => `@auth(allow: [TENANT]${tenant}, roles: ["Owner", "Member"])`,
  (tenant: string) => `@auth(allow: [TENANT, OWNER], owner: "owner"${tenant})`,
  (tenant: string) =>
    `@auth(allow: [TENANT]${tenant}, on: [READ, CREATE, UPDATE]) @auth(allow: [TENANT]${tenant}, roles: ["Owner"], on: [DELETE])`,
  (tenant: string) =>
    `@auth(allow: [TENANT]${tenant}, on: [READ]) @auth(allow: [TENANT]${tenant}, roles: ["Owner"], on: [CREATE, UPDATE, DELETE])`,
];

/**
 * Three types that refer to each other in a ring. Their rows belong to an organization by a key, or
 * by a path over one or two others.
 */
export function randomTenants(random: Random): Tenants {
  const sure = random.below(TYPES.length);
  const shapes = TYPES.map((type, index): Shape => {
    const direct = index === sure || random.chance(0.4);
    return { type, next: at(index + 1), before: at(index - 1), direct };
  });
  const sdl = [
    COMMON,
    ...shapes.map((shape) => typeOf(random, shapes, shape)),
    ...shapes.flatMap(inputsOf),
    `type Company { id: ID! name: String! members: [User!]! @list(default: 5, max: 5) ${shapes.map((shape) => (shape.direct ? `${lower(shape.type)}s(limit: Int, offset: Int, where: ${shape.type}Filter, orderBy: ${shape.type}Order): [${shape.type}!]!` : '')).join(' ')} }`,
    ...shapes.map((shape) => figuresOf(shape)),
    `type Query { company(id: ID!): Company companies: [Company!]! user(id: ID!): User users(limit: Int, offset: Int, where: UserFilter, orderBy: UserOrder): [User!]! ${shapes.map(readsOf).join(' ')} }`,
    `type Mutation { updateCompany(id: ID!, name: String): Company deleteCompany(id: ID!): Boolean! ${shapes.map(writesOf).join(' ')} }`,
  ].join('\n');
  return {
    sdl,
    shapes,
    manifest: `name: leak\napi: { rest: true, access: ${random.pick(['public', 'user'])} }\nauth: { organizations: { type: Company, roles: [Owner, Member] } }\n`,
  };
}

const COMMON = `
  enum Direction { ASC DESC }
  input StringOps { eq: String ne: String in: [String!] contains: String isNull: Boolean }
  input IntOps { eq: Int ne: Int lt: Int gte: Int isNull: Boolean }
  input IdOps { eq: ID ne: ID in: [ID!] isNull: Boolean }
  type User { id: ID! email: String! name: String! companies: [Company!]! @list(default: 5, max: 5) owned: [Alpha!]! @relation(inverse: "owner") }
  input UserFilter { name: StringOps and: [UserFilter!] not: UserFilter }
  input UserOrder { name: Direction id: Direction }
  input CompanyFilter { name: StringOps id: IdOps }
  input Ref { id: ID! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
`;

/** @example wayOf(shapes, alpha) // 'beta.gamma.company' */
const wayOf = (shapes: readonly Shape[], { direct, next }: Shape): string =>
  direct
    ? 'company'
    : `${lower(next)}.${wayOf(
        shapes,
        shapes.find(({ type }) => type === next)!,
      )}`;

function typeOf(random: Random, shapes: readonly Shape[], shape: Shape): string {
  const { type, next, before, direct } = shape;
  const tenant = direct && random.chance(0.5) ? '' : `, tenant: "${wayOf(shapes, shape)}"`;
  const key = direct ? 'company' : lower(next);
  const many = `${lower(before)}s`;
  const listed = random.chance(0.5)
    ? `${many}(first: Int, after: String, last: Int, before: String, where: ${before}Filter, orderBy: ${before}Order): ${before}Connection!`
    : `${many}(limit: Int, offset: Int, where: ${before}Filter, orderBy: ${before}Order): [${before}!]!`;
  const guarded = random.chance(0.3)
    ? `@auth(allow: [TENANT]${tenant}, roles: ["Owner"], on: [READ])`
    : '';
  return `type ${type} @search(fields: ["label"]) ${random.pick(RULES)(tenant)} @index(fields: ["${key}", "code"], unique: true) {
    id: ID! label: String! secret: String ${guarded} number: Int code: String! owner: User
    ${direct ? 'company: Company!' : ''} ${lower(next)}: ${next}${direct ? '' : '!'} ${listed} @relation(inverse: "${lower(type)}")
    how: Int! @count(relation: "${many}", where: { number: { gte: 2 } }) has: Boolean! @exists(relation: "${many}")
  }`;
}

function inputsOf({ type, next, before, direct }: Shape): string[] {
  const company = direct ? 'companyId: ID' : '';
  const values = `number: Int secret: String ownerId: ID ${company} ${lower(next)}Id: ID`;
  return [
    `input New${type} { label: String! code: String! ${values} ${lower(next)}: Link${next} ${lower(before)}s: Many${before} }`,
    `input Leaf${type} { label: String! code: String ${values} }`,
    `input Patch${type} { label: String ${values} ${lower(next)}: Link${next} ${lower(before)}s: Many${before} }`,
    `input Key${type} { ${direct ? 'companyId' : `${lower(next)}Id`}: ID! code: String! }`,
    `input OrNew${type} { where: Key${type}! create: Leaf${type}! }`,
    `input Link${type} { connect: Ref create: Leaf${type} connectOrCreate: OrNew${type} }`,
    `input Many${type} { connect: [Ref!] create: [Leaf${type}!] connectOrCreate: [OrNew${type}!] }`,
    `input ${type}Filter { label: StringOps secret: StringOps number: IntOps ${direct ? 'companyId: IdOps company: CompanyFilter' : ''} ${lower(next)}Id: IdOps owner: UserFilter ${lower(next)}: ${next}Filter ${lower(before)}s: ${before}Any and: [${type}Filter!] or: [${type}Filter!] not: ${type}Filter }`,
    `input ${type}Any { some: ${type}Filter every: ${type}Filter none: ${type}Filter }`,
    `input ${type}Order { label: Direction number: Direction ${direct ? 'company: Direction' : ''} ${lower(next)}: Direction id: Direction }`,
    `type ${type}Connection { edges: [${type}Edge!]! nodes: [${type}!]! pageInfo: PageInfo! totalCount: Int! }`,
    `type ${type}Edge { node: ${type}! cursor: String! }`,
  ];
}

const readsOf = ({ type }: Shape) =>
  `${lower(type)}(id: ID!): ${type} ${lower(type)}s(limit: Int, offset: Int, where: ${type}Filter, orderBy: ${type}Order, label: String, ownerId: ID): [${type}!]! all${type}(first: Int, after: String, last: Int, before: String, where: ${type}Filter, orderBy: ${type}Order): ${type}Connection! @resolve(as: LIST)`;

const writesOf = ({ type }: Shape) => `
  create${type}(input: New${type}!): ${type} update${type}(id: ID!, input: Patch${type}!): ${type} delete${type}(id: ID!): Boolean!
  upsert${type}(where: Key${type}!, create: Leaf${type}!, update: Patch${type}!): ${type}
  create${type}s(input: [Leaf${type}!]!, skipDuplicates: Boolean): [${type}!]! update${type}s(where: ${type}Filter!, input: Patch${type}!): Int! delete${type}s(where: ${type}Filter!): Int!
  remove${type}s(ids: [ID!]!): [${type}!]! @resolve(as: DELETE_MANY)`;
