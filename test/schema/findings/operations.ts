import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

export const OPERATIONS: readonly Case[] = [
  {
    code: 'AGGREGATE_FIELD',
    severity: 'warning',
    sdl: `type Query { postsAggregate: PostAggregate! }\ntype Post { id: ID! views: Int } type PostAggregate { count: Int! sum: Sums! } type Sums { vews: Int }`,
    at: '2:92',
    fix: 'Did you mean "views"?   or write it yourself:  postsAggregate: PostAggregate! @resolve(as: CUSTOM)',
  },
  {
    code: 'AGGREGATE_FIELD',
    severity: 'warning',
    sdl: `type Query { postsAggregate: PostAggregate! }\ntype Post { id: ID! title: String } type PostAggregate { sum: Sums! } type Sums { title: Int }`,
    at: '2:83',
  },
  {
    code: 'AGGREGATE_FIELD',
    severity: 'warning',
    sdl: `type Query { postsGroups(by: [By!]!): [PostGroup!]! }\ntype Post { id: ID! day: Int } enum By { DAY DAI } type PostGroup { count: Int! }`,
    at: '2:46',
    fix: 'Did you mean "DAY"?   or write it yourself:  postsGroups(by: [By!]!): [PostGroup!]! @resolve(as: CUSTOM)',
  },
  {
    code: 'AGGREGATE_FIELD',
    severity: 'warning',
    sdl: `type Query { postsAggregate: PostAggregate! }\ntype Post { id: ID! } type PostAggregate { count: Int! cuont: Int }`,
    at: '2:56',
    fix: 'Did you mean "count"?   or write it yourself:  postsAggregate: PostAggregate! @resolve(as: CUSTOM)',
  },
  { code: 'RESOLVE_IMPOSSIBLE', sdl: 'type Query { a: Int @resolve(as: CREATE) }', at: '1:21' },
  {
    code: 'RESOLVE_IMPOSSIBLE',
    sdl: 'type Query { as(titel: Int): [A!]! @resolve(as: LIST) } type A { id: ID! title: Int }',
    at: '1:36',
    fix: 'Did you mean "title"?   or write it yourself:  as(titel: Int): [A!]! @resolve(as: CUSTOM)',
  },
  {
    code: 'NOT_INFERRED',
    sdl: 'type Query { topAs: [A!]! } type A { id: ID! }',
    at: '1:14',
    fix: 'topAs: [A!]! @resolve(as: LIST)',
    severity: 'hint',
  },
  {
    code: 'NOT_INFERRED',
    sdl: `${QUERY}type A { id: ID! b(c: Int): String }`,
    at: '2:18',
    fix: 'b(c: Int): String @computed   and   npm run generator -- eject A.b   for a start in your code',
    severity: 'hint',
  },
  {
    code: 'FILTER_WORD',
    sdl: 'type Query { as(where: F): [A!]! } type A { id: ID! b: String } input F { b: W } input W { eq: String _neq: String }',
    at: '1:103',
    fix: 'write ne',
    severity: 'warning',
  },
  {
    code: 'LOOKUP_NOT_UNIQUE',
    sdl: 'type Query { a(name: String!): A } type A { id: ID! name: String! }',
    at: '1:14',
    fix: 'name: String! @unique',
    severity: 'hint',
  },
  {
    code: 'INPUT_UNUSED',
    sdl: `${QUERY}type Mutation { createA(input: I!): A } input I { b: Int c: Int @computed } type A { id: ID! b: Int }`,
    at: '2:58',
    fix: 'write src/hooks/A.ts, or remove the field',
    severity: 'warning',
  },
  {
    code: 'SUNSET_INVALID',
    sdl: 'type Query { a(b: Int @deprecated(reason: "1999-12-31 to 2027-02-30")): Int }',
    at: '1:23',
    fix: 'write the day as YYYY-MM-DD: "Removal on 2027-03-01."',
    severity: 'warning',
  },
  {
    code: 'UPSERT_KEY_AMBIGUOUS',
    sdl: `${QUERY}type Mutation { upsertA(input: I!): A } input I { b: Int c: Int } type A { id: ID! b: Int @unique c: Int @unique }`,
    at: '2:17',
    fix: 'upsertA(input: I!): A @resolve(as: UPSERT, by: ["b"])',
    severity: 'warning',
  },
  {
    code: 'OPERATOR_UNFIT',
    sdl: `${QUERY}type Mutation { updateA(id: ID!, input: I!): A } input I { b: C } input C { increment: Float } type A { id: ID! b: Int }`,
    at: '2:77',
    fix: 'the words are set, increment, decrement, multiply, with values of Int   or write it yourself:  updateA(id: ID!, input: I!): A @resolve(as: CUSTOM)',
    severity: 'warning',
  },
  {
    code: 'OPERATOR_UNFIT',
    sdl: `${QUERY}type Mutation { createA(input: I!): A } input I { b: C } input C { increment: Int } type A { id: ID! b: Int }`,
    at: '2:17',
    fix: 'an input of its own for the update, and in this one b as the field has it   or write it yourself:  createA(input: I!): A @resolve(as: CUSTOM)',
    severity: 'warning',
  },
  {
    code: 'ERROR_UNREACHABLE',
    sdl: `${QUERY}union R = A | E type Mutation { createA(b: Int): R } type A { id: ID! b: Int } type E @error(code: "CONFLIT") { message: String! }`,
    at: '2:87',
    fix: 'Did you mean "CONFLICT"?',
    severity: 'warning',
  },
  {
    code: 'ERROR_UNREACHABLE',
    sdl: `${QUERY}union R = A | E | F type Mutation { createA(count: Int, bs: Bs, cs: Cs): R } type A { id: ID! count: Int bs: [B!]! cs: [C!]! }
type E @error(code: "CONFLICT", field: "cuont") { message: String! } type F @error(code: "CONFLICT", field: "code") { message: String! }
type B { id: ID! name: String a: A } input Bs { create: [BIn!] } input BIn { name: String }
type C { id: ID! code: String @unique a: A } input Cs { create: [CIn!] } input CIn { code: String }`,
    at: '3:8',
    fix: 'Did you mean "count"?',
    severity: 'warning',
  },
  {
    code: 'CREATE_FIELD_UNSET',
    sdl: `${QUERY}type Mutation { createA(b: Int): A } type A { id: ID! b: Int c: Int! }`,
    at: '2:17',
    severity: 'warning',
  },
  {
    code: 'CRUD_NAME_TAKEN',
    sdl: `${QUERY}type A { id: ID! title: String } type AFilter { x: Int }`,
    manifest: 'name: x\napi: { crud: true }',
    at: '2:6',
    also: ['2:39 CRUD_NAME_TAKEN'],
  },
];
