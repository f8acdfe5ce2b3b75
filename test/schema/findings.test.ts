import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { applied, identities } from './applied-fix.ts';
import { QUERY, read, short } from './reading.ts';

interface Case {
  readonly code: string;
  readonly sdl: string;
  readonly manifest?: string;
  /** Place of the finding; of the manifest when it starts with `m`. */
  readonly at: string;
  readonly fix?: string;
  readonly severity?: 'warning' | 'hint';
  /** Other findings that belong to the same mistake. */
  readonly also?: readonly string[];
}

/** Whether the finding is about more than the syntax. */
function parses(sdl: string): boolean {
  return read(sdl).diagnostics.every(({ code }) => code !== 'SDL_SYNTAX');
}

const AUTH_ROLES = 'name: x\nauth: { roles: { list: [Owner, Member], first: Owner } }';
const AUTH = 'name: x\nauth:\n  roles: { list: [Admin, Member] }';
const ORGANIZATIONS = 'name: x\nauth: { organizations: { type: Company } }';
const USER = 'type User { id: ID! email: String! }';

const CASES: readonly Case[] = [
  {
    code: 'SDL_SYNTAX',
    sdl: 'type Query { a: Int\ntype B { b: Int }',
    at: '2:6',
    fix: 'close the definition above with }',
  },
  { code: 'SDL_SYNTAX', sdl: 'type Query { a: Int', at: '1:20', fix: 'a } is missing at the end' },
  {
    code: 'SDL_SYNTAX',
    sdl: "type Query { a: Int @deprecated(reason: 'x') }",
    at: '1:41',
    fix: 'GraphQL writes strings in double quotes',
  },
  { code: 'SDL_SYNTAX', sdl: `type Query { a: ${'['.repeat(200)}`, at: '1:116' },
  { code: 'SCHEMA_EMPTY', sdl: '# nothing\n', at: '1:1' },
  {
    code: 'QUERY_MISSING',
    sdl: 'type User { id: ID! }',
    at: '1:1',
    fix: 'type Query { users: [User!]! }',
  },
  { code: 'SDL_EXECUTABLE', sdl: `${QUERY}{ hello }`, at: '2:1' },
  {
    code: 'TYPE_UNKNOWN',
    sdl: 'type Query { u: Usr } type User { id: ID! }',
    at: '1:17',
    fix: 'Did you mean "User"?',
  },
  {
    code: 'SCALAR_UNDECLARED',
    sdl: 'type Query { at: DateTime }',
    at: '1:18',
    fix: 'scalar DateTime',
  },
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
  { code: 'NAME_DUPLICATE', sdl: 'type Query { a: Int a: Int }', at: '1:21' },
  { code: 'NAME_DUPLICATE', sdl: `${QUERY}type A { b: Int } type A { c: Int }`, at: '2:24' },
  {
    code: 'EXTENSION_UNKNOWN',
    sdl: `${QUERY}type User { id: ID! } extend type Usr { a: Int }`,
    at: '2:35',
    fix: 'Did you mean "User"?',
  },
  {
    code: 'SDL_INVALID',
    sdl: `${QUERY}interface N { id: ID! } type A implements N { b: Int }`,
    at: '2:30',
  },
  {
    code: 'DIRECTIVE_UNKNOWN',
    sdl: `${QUERY}type A { id: ID! b: Int @uniqe }`,
    at: '2:26',
    fix: 'Did you mean "@unique"?',
  },
  { code: 'DIRECTIVE_MISPLACED', sdl: `${QUERY}type A @unique { id: ID! }`, at: '2:8' },
  {
    code: 'DIRECTIVE_REPEATED',
    sdl: `${QUERY}type A { id: ID! b: Int @unique @unique }`,
    at: '2:33',
  },
  {
    code: 'DIRECTIVE_ARGUMENT',
    sdl: `${QUERY}type A @entity(tabel: "x") { id: ID! }`,
    at: '2:16',
    fix: 'Did you mean "table"?',
  },
  { code: 'DIRECTIVE_ARGUMENT', sdl: `${QUERY}type A @entity(table: 3) { id: ID! }`, at: '2:23' },
  {
    code: 'DIRECTIVE_ARGUMENT',
    sdl: `${QUERY}type A @auth(allow: [PUBLIC, PUBIC]) { id: ID! }`,
    at: '2:30',
    fix: 'Did you mean "PUBLIC"?',
  },
  { code: 'DIRECTIVE_ARGUMENT', sdl: `${QUERY}type A @index { id: ID! }`, at: '2:8' },
  {
    code: 'DIRECTIVE_WITHOUT_EFFECT',
    sdl: `${QUERY}type A { id: ID! b: Int @relation(inverse: "x") }`,
    at: '2:25',
    fix: 'remove it',
  },
  { code: 'DIRECTIVE_WITHOUT_EFFECT', sdl: 'type Query { a: Int @unique }', at: '1:21' },
  {
    code: 'DIRECTIVE_WITHOUT_EFFECT',
    sdl: `${QUERY}type A { id: ID! b: V } type V { c: Int @auth(allow: [PUBLIC]) }`,
    at: '2:41',
  },
  {
    code: 'DIRECTIVE_WITHOUT_EFFECT',
    sdl: `${QUERY}type A { id: ID! } interface I { c: Int @auth(allow: [PUBLIC]) }`,
    at: '2:41',
  },
  {
    code: 'ENTITY_KEY_MISSING',
    sdl: `${QUERY}type A @entity { b: Int }`,
    at: '2:6',
    fix: 'id: ID!',
  },
  { code: 'ENTITY_KEY_TYPE', sdl: `${QUERY}type A { id: Int }`, at: '2:10', severity: 'warning' },
  {
    code: 'ENTITY_KEY_TYPE',
    sdl: `${QUERY}type A { id: Int! }`,
    manifest: 'name: x\ndatabase: { ids: uuid }',
    at: '2:10',
    fix: 'id: ID!',
  },
  {
    code: 'ENTITY_KEY_NAME',
    sdl: `${QUERY}type Post { postId: ID! title: String }`,
    at: '2:13',
    severity: 'warning',
    fix: 'id: ID!',
  },
  {
    code: 'SOFT_DELETE_TYPE',
    sdl: `${QUERY}type A @entity(softDelete: true) { id: ID! deletedAt: String }`,
    at: '2:44',
    fix: 'deletedAt: DateTime',
  },
  {
    code: 'RELATION_AMBIGUOUS',
    sdl: `${QUERY}type User {\n  id: ID! posts: [Post!]!\n}\ntype Post { id: ID! author: User editor: User }`,
    at: '3:11',
    fix: 'posts: [Post!]! @relation(inverse: "author")',
  },
  {
    code: 'RELATION_AMBIGUOUS',
    sdl: `${QUERY}type User { id: ID! posts: [Post!]! liked: [Post!]! } type Post { id: ID! author: User }`,
    at: '2:21',
    fix: 'posts: [Post!]! @relation(inverse: "author")',
  },
  {
    code: 'RELATION_AMBIGUOUS',
    sdl: `${QUERY}type Company { id: ID! ceo: Person } type Person { id: ID! employer: Company }`,
    at: '2:24',
    fix: 'two relations: ceo: Person @relation(column: "ceo_id")\none relation: ceo: Person @relation(inverse: "employer")',
  },
  {
    code: 'RELATION_AMBIGUOUS',
    sdl: `${QUERY}type User { id: ID! friends: [User!]! blocked: [User!]! }`,
    at: '2:21',
    fix: 'two relations: friends: [User!]! @relation(table: "user_friends")\none relation: friends: [User!]! @relation(inverse: "blocked")',
  },
  {
    code: 'RELATION_AMBIGUOUS',
    sdl: `${QUERY}type User { id: ID! posts: [Post!]! star: Post } type Post { id: ID! likers: [User!]! }`,
    at: '2:70',
  },
  {
    code: 'RELATION_OWNER_UNCLEAR',
    sdl: `${QUERY}type User { id: ID! profile: Profile } type Profile { id: ID! user: User }`,
    at: '2:63',
  },
  {
    code: 'RELATION_INVERSE_UNKNOWN',
    sdl: `${QUERY}type User { id: ID! posts: [Post!]! @relation(inverse: "auhtor") } type Post { id: ID! author: User }`,
    at: '2:37',
    fix: 'Did you mean "author"?',
  },
  {
    code: 'RELATION_INVERSE_MISMATCH',
    sdl: `${QUERY}type User { id: ID! posts: [Post!]! @relation(inverse: "title") } type Post { id: ID! title: String }`,
    at: '2:37',
  },
  {
    code: 'RELATION_ARGUMENT',
    sdl: `${QUERY}type User { id: ID! } type Post { id: ID! author: User! @relation(onDelete: SET_NULL) }`,
    at: '2:57',
  },
  {
    code: 'RELATION_ARGUMENT',
    sdl: `${QUERY}type User { id: ID! posts: [Post!]! @relation(onDelete: CASCADE) } type Post { id: ID! author: User! }`,
    at: '2:37',
    fix: 'write it on Post.author',
  },
  {
    code: 'RELATION_ONE_SIDED',
    sdl: `${QUERY}type User { id: ID! posts: [Post!]! } type Post { id: ID! }`,
    at: '2:21',
    severity: 'hint',
  },
  {
    code: 'RELATION_TABLE_MISMATCH',
    sdl: `${QUERY}type Post { id: ID! tags: [Tag!]! @relation(table: "labels") } type Tag { id: ID! posts: [Post!]! @relation(table: "other") }`,
    at: '2:99',
    severity: 'warning',
    fix: 'posts: [Post!]! @relation(table: "labels")',
  },
  {
    code: 'TABLE_KEY_UNKNOWN',
    sdl: `${QUERY}type A @table(key: ["skw"]) { sku: String! }`,
    at: '2:8',
    fix: 'Did you mean "sku"?',
  },
  {
    code: 'TABLE_KEY_NULLABLE',
    sdl: `${QUERY}type A @table(key: ["sku"]) { sku: String }`,
    at: '2:31',
    fix: 'sku: String!',
  },
  {
    code: 'COLUMN_TYPE_UNFIT',
    sdl: `${QUERY}type A { id: ID! n: Int @column(type: "text") }`,
    at: '2:25',
    fix: 'the type that the column has, or another type of the field',
  },
  {
    code: 'VIEW_WRITTEN',
    sdl: `type Query { a: Int } type Mutation { createA(n: Int): A }\ntype A @table(view: true) { n: Int }`,
    at: '1:39',
    fix: 'remove it, or write the table behind the view',
  },
  {
    code: 'VALUE_HOLDS_ENTITY',
    sdl: `${QUERY}type A { id: ID! v: V } type V { b: B! } type B { id: ID! }`,
    at: '2:18',
    severity: 'hint',
    fix: 'v: V @computed   or add id: ID! to V to make it a table',
  },
  {
    code: 'TABLE_CLASH',
    sdl: `${QUERY}type BlogPost { id: ID! } type Blog_Post { id: ID! }`,
    at: '2:32',
    fix: 'type Blog_Post @entity(table: "blog_posts_2")',
  },
  {
    code: 'TABLE_CLASH',
    sdl: `${QUERY}type A @entity(table: "x") { id: ID! } type B @entity(table: "X") { id: ID! }`,
    at: '2:47',
  },
  {
    code: 'TABLE_CLASH',
    sdl: `${QUERY}type Post { id: ID! tags: [Tag!]! @relation(table: "notes") } type Tag { id: ID! posts: [Post!]! @relation(inverse: "tags") } type Note { id: ID! }`,
    at: '2:35',
    fix: 'tags: [Tag!]! @relation(table: "notes_links")',
  },
  {
    code: 'TABLE_RESERVED',
    sdl: `${QUERY}type Login @entity(table: "auth_users") { id: ID! }`,
    at: '2:12',
    fix: 'type Login @entity(table: "app_auth_users")',
  },
  { code: 'NAME_INVALID', sdl: `${QUERY}type A @entity(table: "a b") { id: ID! }`, at: '2:8' },
  { code: 'NAME_INVALID', sdl: `${QUERY}type A { id: ID! ${'x'.repeat(64)}: Int }`, at: '2:18' },
  {
    code: 'COLUMN_CLASH',
    sdl: `${QUERY}type A { id: ID! fullName: String full_name: String }`,
    at: '2:35',
  },
  {
    code: 'COLUMN_CLASH',
    sdl: `${QUERY}type User { id: ID! } type A { id: ID! author: User authorId: Float }`,
    at: '2:53',
    fix: 'authorId: ID   to show the key of author, or give it another name',
  },
  {
    code: 'REST_PATH_RESERVED',
    sdl: `${QUERY}type Template { id: ID! }`,
    manifest: 'name: x\napi: { rest: true }\nhosting: { domain: apps.example.com }',
    at: '2:6',
    fix: 'type Template @entity(plural: "appTemplates")',
  },
  {
    code: 'REST_PATH_CLASH',
    sdl: `${QUERY}type A @entity(plural: "xs", table: "a") { id: ID! } type B @entity(plural: "xs", table: "b") { id: ID! }`,
    manifest: 'name: x\napi: { rest: true }',
    at: '2:61',
  },
  {
    code: 'API_PATH_RESERVED',
    sdl: QUERY,
    manifest: 'name: x\napi: { path: /api/auth }',
    at: 'm2:14',
  },
  { code: 'SCALAR_UNMAPPED', sdl: `${QUERY}scalar Money`, at: '2:8', severity: 'hint' },
  {
    code: 'DEFAULT_INVALID',
    sdl: `${QUERY}type A { id: ID! b: Int @default(value: "x") }`,
    at: '2:25',
  },
  {
    code: 'DEFAULT_INVALID',
    sdl: `${QUERY}enum E { DRAFT } type A { id: ID! b: E @default(value: DRAFTT) }`,
    at: '2:40',
    fix: 'Did you mean "DRAFT"?',
  },
  { code: 'DEFAULT_INVALID', sdl: `${QUERY}type A { id: ID! b: Int @default }`, at: '2:25' },
  {
    code: 'DEFAULT_INVALID',
    sdl: `${QUERY}type A { id: ID! @default(expr: UUID) }`,
    at: '2:18',
    fix: 'in manifest.yaml: database: { ids: uuid }',
  },
  {
    code: 'DEFAULT_INVALID',
    sdl: `${QUERY}type A { id: ID! b: Int @default(expr: NOW) }`,
    at: '2:25',
  },
  {
    code: 'CONSTRAINT_INVALID',
    sdl: `${QUERY}type A { id: ID! b: Int @constraint(min: 3, max: 2) }`,
    at: '2:25',
  },
  {
    code: 'CONSTRAINT_INVALID',
    sdl: `${QUERY}input A { b: String @constraint(pattern: "(") }`,
    at: '2:21',
  },
  {
    code: 'CONSTRAINT_INVALID',
    sdl: 'type Query { a(b: String @constraint(format: "emial")): Int }',
    at: '1:26',
    fix: 'Did you mean "email"?',
  },
  {
    code: 'CONSTRAINT_INVALID',
    sdl: `${QUERY}type A { id: ID! b: Int @constraint(minLength: 3) }`,
    at: '2:25',
    fix: 'min and max are for numbers',
  },
  {
    code: 'FIELD_UNKNOWN',
    sdl: `${QUERY}type A @index(fields: ["nmae"]) { id: ID! name: String }`,
    at: '2:8',
    fix: 'Did you mean "name"?',
  },
  {
    code: 'FIELD_UNKNOWN',
    sdl: 'type Query { as: [A!]! @list(orderBy: ["naem DESC"]) } type A { id: ID! name: String }',
    at: '1:24',
    fix: 'Did you mean "name"?',
  },
  {
    code: 'LIST_LIMIT',
    sdl: 'type Query { as: [A!]! @list(max: 500) } type A { id: ID! }',
    at: '1:24',
    fix: 'in manifest.yaml: api: { limits: { list: 500 } }',
  },
  {
    code: 'LIST_CONDITION',
    sdl: 'type Query { as: [A!]! @list(where: { nmae: "x" }) } type A { id: ID! name: String }',
    at: '1:39',
    fix: 'Did you mean "name"?',
  },
  {
    code: 'LIST_CONDITION',
    sdl: `${QUERY}type A { id: ID! bs: [B!]! done: [B!]! @list(where: { b: { _eq: 1 } }) } type B { id: ID! a: A b: Int }`,
    at: '2:60',
    fix: 'write eq',
  },
  {
    code: 'LIST_RELATION',
    sdl: `${QUERY}type A { id: ID! bs: [B!]! last: [B!]! @list(relation: "bss", max: 2) } type B { id: ID! a: A }`,
    at: '2:40',
    fix: 'last: [B!]! @list(relation: "bs", max: 2)',
  },
  {
    code: 'LIST_RELATION',
    sdl: `${QUERY}type A { id: ID! bs: [B!]! @relation(inverse: "a") done: [B!]! @list(where: { b: 1 }) } type B { id: ID! a: A c: A b: Int }`,
    at: '2:64',
    fix: 'done: [B!]! @list(where: { b: 1 }, relation: "bs")',
  },
  {
    code: 'LIST_RELATION',
    sdl: 'type Query { as: [A!]! @list(relation: "as") } type A { id: ID! name: String }',
    at: '1:24',
    fix: 'remove relation',
  },
  {
    code: 'FIELD_UNKNOWN',
    sdl: `${QUERY}type A { id: ID! bs: [B!]! n: Int! @count(relation: "bs", where: { or: [{ c: 1 }, { b: { gt: 1 } }] }) } type B { id: ID! a: A b: Int }`,
    at: '2:75',
  },
  {
    code: 'RENAMED_FROM_PRESENT',
    sdl: `${QUERY}type A { id: ID! b: Int c: Int @renamed(from: "b") }`,
    at: '2:25',
  },
  {
    code: 'AUTH_OFF',
    sdl: `${QUERY}type A @auth(allow: [USER]) { id: ID! }`,
    at: '2:8',
    fix: 'in manifest.yaml: auth: {}',
  },
  { code: 'AUTH_RULE_EMPTY', sdl: `${QUERY}type A @auth(allow: []) { id: ID! }`, at: '2:8' },
  {
    code: 'AUTH_ROLE_UNKNOWN',
    sdl: `${QUERY}type A @auth(allow: [ROLE], roles: ["Admni"]) { id: ID! }`,
    manifest: AUTH,
    at: '2:8',
    fix: 'Did you mean "Admin"?',
  },
  {
    code: 'AUTH_ROLE_FIRST',
    sdl: QUERY,
    manifest: 'name: x\nauth: { roles: { list: [Member, Owner], first: Owner } }',
    at: 'm2:48',
    fix: 'default: Member',
  },
  {
    code: 'AUTH_ROLE_UNKNOWN',
    sdl: QUERY,
    manifest: 'name: x\nauth: { roles: { list: [Admin], default: Amin } }',
    at: 'm2:42',
    fix: 'Did you mean "Admin"?',
  },
  {
    code: 'AUTH_ROLE_UNKNOWN',
    sdl: QUERY,
    manifest:
      'name: x\nauth: { roles: { list: [Admin, M], default: M }, second_factor: { roles: [Amin] } }',
    at: 'm2:75',
    fix: 'Did you mean "Admin"?',
  },
  {
    code: 'AUTH_OWNER_UNKNOWN',
    sdl: `${QUERY}${USER} type A @auth(allow: [OWNER], owner: "wrter") { id: ID! writer: User }`,
    manifest: AUTH,
    at: '2:45',
    fix: '@auth(allow: [OWNER], owner: "writer")',
  },
  {
    code: 'AUTH_OWNER_UNKNOWN',
    sdl: `${QUERY}${USER} type A @auth(allow: [OWNER], owner: "name") { id: ID! name: String }`,
    manifest: AUTH,
    at: '2:45',
  },
  {
    code: 'AUTH_OWNER_UNKNOWN',
    sdl: `${QUERY}${USER} type P { id: ID! owner: User } type A @auth(allow: [OWNER], owner: "p.ownr") { id: ID! p: P }`,
    manifest: AUTH,
    at: '2:76',
    fix: 'Did you mean "owner"?',
  },
  {
    code: 'AUTH_OWNER_UNKNOWN',
    sdl: `${QUERY}${USER} type A @auth(allow: [OWNER], owner: "a.a.a.a.a.b") { id: ID! a: A b: User }`,
    manifest: AUTH,
    at: '2:45',
    fix: 'a path of at most 5 steps, or a relation that shortens it',
  },
  {
    code: 'AUTH_OWNER_NOT_USER',
    sdl: `${QUERY}${USER} type P { id: ID! owner: User } type A @auth(allow: [OWNER], owner: "p") { id: ID! p: P }`,
    manifest: AUTH,
    at: '2:76',
    fix: '@auth(allow: [OWNER], owner: "p.owner")',
  },
  {
    code: 'AUTH_CONDITION',
    sdl: `${QUERY}${USER} type A @auth(allow: [USER], where: { nam: "x" }) { id: ID! name: String }`,
    manifest: AUTH,
    at: '2:75',
    fix: 'Did you mean "name"?',
  },
  {
    code: 'AUTH_UNINDEXED',
    sdl: `${QUERY}${USER} type A @auth(allow: [USER], where: { name: "x" }) { id: ID! name: String }`,
    manifest: AUTH,
    at: '2:73',
    severity: 'hint',
  },
  {
    code: 'AUTH_TENANT_OFF',
    sdl: `${QUERY}${USER} type Company { id: ID! } type A @auth(allow: [TENANT]) { id: ID! company: Company }`,
    manifest: AUTH,
    at: '2:70',
    fix: 'in manifest.yaml: auth: { organizations: { type: Company } }',
  },
  {
    code: 'AUTH_TENANT_UNKNOWN',
    sdl: `${QUERY}${USER} type Company { id: ID! } type A @auth(allow: [TENANT]) { id: ID! buyer: Company seller: Company }`,
    manifest: ORGANIZATIONS,
    at: '2:70',
    fix: '@auth(allow: [TENANT], tenant: "buyer")',
  },
  {
    code: 'AUTH_TENANT_UNKNOWN',
    sdl: `${QUERY}${USER} type Company { id: ID! } type P { id: ID! company: Company } type A @auth(allow: [TENANT]) { id: ID! p: P }`,
    manifest: ORGANIZATIONS,
    at: '2:106',
    fix: '@auth(allow: [TENANT], tenant: "p.company")',
  },
  {
    code: 'AUTH_TENANT_UNKNOWN',
    sdl: `${QUERY}${USER} type Company { id: ID! }`,
    manifest: 'name: x\nauth: { organizations: { type: Compny } }',
    at: 'm2:32',
    fix: 'Did you mean "Company"?',
  },
  {
    code: 'AUTH_RULE_AMBIGUOUS',
    sdl: `${QUERY}${USER} type Company { id: ID! } type A @auth(allow: [ROLE, TENANT], roles: ["Owner"]) { id: ID! company: Company }`,
    manifest: ORGANIZATIONS,
    at: '2:70',
  },
  {
    code: 'AUTH_ROLE_UNKNOWN',
    sdl: `${QUERY}${USER} type Company { id: ID! } type A @auth(allow: [TENANT], roles: ["Ownr"]) { id: ID! company: Company }`,
    manifest: ORGANIZATIONS,
    at: '2:70',
    fix: 'Did you mean "Owner"?',
  },
  {
    code: 'AUTH_TENANT_UNIQUE',
    sdl: `${QUERY}${USER} type Company { id: ID! } type A @auth(allow: [TENANT]) { id: ID! slug: String @unique company: Company }`,
    manifest: ORGANIZATIONS,
    at: '2:103',
    severity: 'warning',
  },
  {
    code: 'AUTH_USER_UNKNOWN',
    sdl: `${QUERY}${USER}`,
    manifest: 'name: x\nauth: { user: Usr }',
    at: 'm2:15',
    fix: 'Did you mean "User"?',
  },
  {
    code: 'AUTH_USER_EMAIL',
    sdl: `${QUERY}type User { id: ID! }`,
    manifest: AUTH,
    at: '2:6',
    fix: 'email: String! @unique',
  },
  {
    code: 'AUTH_USER_FIELD_UNSET',
    sdl: `${QUERY}type User { id: ID! email: String! age: Int! }`,
    manifest: AUTH,
    at: '2:36',
    fix: 'in manifest.yaml: auth: { register: { fields: [age] } }',
  },
  {
    code: 'AUTH_USER_FIELD_UNSET',
    sdl: `${QUERY}type User { id: ID! email: String! team: Team! } type Team { id: ID! }`,
    manifest: AUTH,
    at: '2:36',
  },
  {
    code: 'AUTH_REGISTER_FIELD_UNKNOWN',
    sdl: `${QUERY}${USER}`,
    manifest: 'name: x\nauth: { register: { fields: [aeg] } }',
    at: 'm2:30',
  },
  {
    code: 'AUTH_USER_FIELD_UNSET',
    sdl: `${QUERY}enum Role { ADMIN MEMBER } type User { id: ID! email: String! role: Role! }`,
    manifest: AUTH,
    at: '2:63',
    fix: 'role: Role! @default(value: MEMBER)',
  },
  {
    code: 'AUTH_REGISTER_PRIVILEGE',
    sdl: `${QUERY}type User { id: ID! email: String! isAdmin: Boolean! }`,
    manifest: 'name: x\nauth: { register: { fields: [isAdmin] } }',
    at: 'm2:30',
    severity: 'warning',
  },
  {
    code: 'AUTH_CREDENTIAL_FIELD',
    sdl: `${QUERY}type User { id: ID! email: String! passwordHash: String }`,
    manifest: AUTH,
    at: '2:36',
  },
  {
    code: 'AUTH_COLUMN_WRITTEN',
    sdl: `${QUERY}scalar DateTime type User { id: ID! email: String! emailVerifiedAt: DateTime } type Mutation { updateUser(id: ID!, input: I!): User } input I { emailVerifiedAt: DateTime }`,
    manifest: AUTH,
    at: '2:145',
  },
  {
    code: 'AUTH_COLUMN_WRITTEN',
    sdl: `${QUERY}type User { id: ID! email: String! name: String } type Mutation { updateUser(id: ID!, name: String, email: String): User }`,
    manifest: AUTH,
    at: '2:101',
    fix: 'take "email: String" out of Mutation.updateUser: POST /api/auth/change-email changes it, and the new address proves itself',
  },
  {
    code: 'AUTH_USER_OPEN',
    sdl: `${QUERY}type User @auth(allow: [USER]) { id: ID! email: String! }`,
    manifest: AUTH,
    at: '2:11',
    severity: 'warning',
    fix: '@auth(allow: [USER], on: [READ, CREATE]) @auth(allow: [OWNER], on: [UPDATE, DELETE])',
  },
  {
    code: 'AUTH_USER_OPEN',
    sdl: `${QUERY}type User { id: ID! email: String! isAdmin: Boolean! @default(value: false) } type Mutation { updateUser(id: ID!, isAdmin: Boolean): User }`,
    manifest: AUTH,
    at: '2:36',
    severity: 'warning',
    fix: 'isAdmin: Boolean! @default(value: false) @auth(allow: [ROLE], roles: ["Admin"], on: [CREATE, UPDATE])',
  },
  {
    code: 'AUTH_TYPE_OPEN',
    sdl: `${QUERY}${USER} type A { id: ID! b: Int user: User } type Mutation { createA(b: Int): A updateA(id: ID!, b: Int): A deleteA(id: ID!): Boolean! }`,
    manifest: AUTH,
    at: '2:43',
    severity: 'warning',
    fix: 'type A @auth(allow: [OWNER], owner: "user", on: [CREATE, UPDATE, DELETE])',
  },
  {
    code: 'AUTH_TYPE_OPEN',
    sdl: `${QUERY}${USER} type A { id: ID! } type Mutation { deleteA(id: ID!): Boolean! }`,
    manifest: AUTH,
    at: '2:43',
    severity: 'warning',
    fix: 'type A @auth(allow: [ROLE], roles: ["Admin"], on: [DELETE])',
  },
  {
    code: 'AUTH_TIMES',
    sdl: QUERY,
    manifest: 'name: x\nauth: { refresh: { idle: 60d } }',
    at: 'm2:26',
  },
  {
    code: 'AUTH_TIMES',
    sdl: QUERY,
    manifest: 'name: x\nauth: { jwt: { leeway: 2m } }',
    at: 'm2:24',
  },
  {
    code: 'THEME_CONTRAST',
    sdl: QUERY,
    manifest: 'name: x\nauth: { pages: { theme: { accent: "#ffcc00" } } }',
    at: 'm2:35',
  },
  {
    code: 'AUTH_PASSWORD_LENGTHS',
    sdl: QUERY,
    manifest: 'name: x\nauth: { password: { min: 30, max: 20 } }',
    at: 'm2:26',
  },
  {
    code: 'OAUTH_PROVIDER',
    sdl: QUERY,
    manifest: 'name: x\nauth: { oauth: { providers: { acme: { preset: oidc } } } }',
    at: 'm2:31',
  },
  {
    code: 'OAUTH_PROVIDER',
    sdl: QUERY,
    manifest:
      'name: x\nauth: { oauth: { providers: { acme: { preset: oidc, issuer: http://id.test } } } }',
    at: 'm2:61',
  },
  {
    code: 'OAUTH_PROVIDER',
    sdl: QUERY,
    manifest:
      'name: x\nauth: { oauth: { providers: { exchange: { preset: oidc, issuer: https://id.test } } } }',
    at: 'm2:31',
  },
  {
    code: 'CONSOLE_PATH_TAKEN',
    sdl: QUERY,
    manifest: 'name: x\nconsole: { path: /api/ops }',
    at: 'm2:18',
    fix: 'path: /console',
  },
  {
    code: 'CONSOLE_ROLES_WITHOUT_AUTH',
    sdl: QUERY,
    manifest: 'name: x\nconsole: { roles: [Owner] }',
    at: 'm2:12',
  },
  {
    code: 'CONSOLE_ROLE_UNKNOWN',
    sdl: QUERY,
    manifest: `${AUTH_ROLES}\nconsole: { roles: [Ownr] }`,
    at: 'm3:12',
    fix: 'Did you mean "Owner"?',
  },
  {
    code: 'CONSOLE_PERMISSION_INVALID',
    sdl: QUERY,
    manifest: `${AUTH_ROLES}\nconsole: { roles: { Owner: [everything] } }`,
    at: 'm3:21',
    fix: 'data:read',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nserver: { trusted_proxies: [10.0.0.0/40] }',
    at: 'm2:29',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nserver: { cors: [app.example.com] }',
    at: 'm2:18',
  },
  {
    code: 'CORS_WILDCARD',
    sdl: QUERY,
    manifest: 'name: x\nserver: { cors: ["*", "https://app.example.com"] }',
    at: 'm2:11',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nauth: { passkeys: { origins: [shop.example] } }',
    at: 'm2:31',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nauth: { events: { webhooks: [{ url: http://x.test, secret_env: S }] } }',
    at: 'm2:37',
  },
  {
    code: 'ADDRESS_INVALID',
    sdl: QUERY,
    manifest: 'name: x\nhosting: { domain: "a b" }',
    at: 'm2:20',
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
    code: 'AUTH_CLAIM_UNKNOWN',
    sdl: `${QUERY}type User { id: ID! email: String! } type A @auth(allow: [USER], where: { b: { claim: "compny.id" } }) { id: ID! b: String @unique }`,
    manifest: 'name: x\nauth: { extend: [company.id, teams] }',
    at: '2:87',
    fix: 'Did you mean "company.id"?',
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
    code: 'UPSERT_KEY_AMBIGUOUS',
    sdl: `${QUERY}type Mutation { upsertA(input: I!): A } input I { b: Int c: Int } type A { id: ID! b: Int @unique c: Int @unique }`,
    at: '2:17',
    fix: 'upsertA(input: I!): A @resolve(as: UPSERT, by: ["b"])',
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
    sdl: `${QUERY}union R = A | E type Mutation { createA(count: Int): R } type A { id: ID! count: Int } type E @error(code: "CONFLICT", field: "cuont") { message: String! }`,
    at: '2:95',
    fix: 'Did you mean "count"?',
    severity: 'warning',
  },
  {
    code: 'DIRECTIVE_WITHOUT_EFFECT',
    sdl: `${QUERY}type Mutation { createA(b: Int): A } type A { id: ID! b: Int } type E @error(code: "CONFLICT") { message: String! }`,
    at: '2:71',
  },
  {
    code: 'CREATE_FIELD_UNSET',
    sdl: `${QUERY}type Mutation { createA(b: Int): A } type A { id: ID! b: Int c: Int! }`,
    at: '2:17',
    severity: 'warning',
  },
  {
    code: 'TIMESTAMP_TYPE',
    sdl: `${QUERY}type A { id: ID! createdAt: String }`,
    at: '2:18',
    severity: 'hint',
  },
  { code: 'MANIFEST_SYNTAX', sdl: QUERY, manifest: 'name: x\nserver: {', at: 'm2:10' },
  {
    code: 'MANIFEST_SYNTAX',
    sdl: QUERY,
    manifest: 'name: x\nserver:\n\tport: 1',
    at: 'm3:1',
    fix: 'indent with spaces',
  },
  {
    code: 'MANIFEST_SYNTAX',
    sdl: QUERY,
    manifest: `name: x\nserver: ${'['.repeat(100)}`,
    at: 'm2:69',
  },
  {
    code: 'MANIFEST_KEY_DUPLICATE',
    sdl: QUERY,
    manifest: 'name: x\nname: y',
    at: 'm2:1',
    fix: 'keep one of the two',
  },
  {
    code: 'MANIFEST_KEY_MISSING',
    sdl: QUERY,
    manifest: 'server: {}',
    at: 'm1:1',
    fix: 'name: shop',
  },
  {
    code: 'SEARCH_FIELD',
    sdl: `${QUERY}type A @search(fields: ["titel"]) { id: ID! title: String! }`,
    at: '2:8',
  },
  {
    code: 'SEARCH_FIELD_GUARDED',
    sdl: `${QUERY}type A @search(fields: ["title"]) { id: ID! title: String! @auth(allow: [USER]) }`,
    manifest: 'name: x\nauth: {}',
    at: '2:8',
  },
  {
    code: 'SEARCH_LANGUAGE',
    sdl: `${QUERY}type A @search(fields: ["title"], language: "englsh") { id: ID! title: String! }`,
    at: '2:8',
  },
  {
    code: 'SEARCH_UNMANAGED',
    sdl: `${QUERY}type A @search(fields: ["title"]) { id: ID! title: String! }`,
    manifest: 'name: x\ndatabase: { managed: false }',
    at: '2:8',
  },
  {
    code: 'CRUD_NAME_TAKEN',
    sdl: `${QUERY}type A { id: ID! title: String } type AFilter { x: Int }`,
    manifest: 'name: x\napi: { crud: true }',
    at: '2:6',
    also: ['2:39 CRUD_NAME_TAKEN'],
  },
  {
    code: 'MANIFEST_KEY_UNKNOWN',
    sdl: QUERY,
    manifest: 'name: x\nsever: { port: 1 }',
    at: 'm2:1',
    fix: 'Did you mean "server"?',
  },
  {
    code: 'MANIFEST_KEY_UNKNOWN',
    sdl: QUERY,
    manifest: 'name: x\ndatabase: { url: data.db }',
    at: 'm2:13',
    fix: 'this is the setting DATABASE_URL: write it into .env',
  },
  {
    code: 'MANIFEST_SHAPE',
    sdl: QUERY,
    manifest: 'name: x\nserver: { port: eighty }',
    at: 'm2:17',
    fix: 'the default is 8080',
  },
  {
    code: 'MANIFEST_SHAPE',
    sdl: QUERY,
    manifest: 'name: x\napi: { graphiql: allways }',
    at: 'm2:18',
    fix: 'Did you mean "always"?',
  },
  { code: 'MANIFEST_SHAPE', sdl: QUERY, manifest: '- a', at: 'm1:1' },
  {
    code: 'MANIFEST_SECRET',
    sdl: QUERY,
    manifest: 'name: x\nauth: { jwt: { secret: hush } }',
    at: 'm2:16',
    fix: 'put it into .env as JWT_SECRET and remove it here; if it was committed, make a new one',
  },
];

describe('findings', () => {
  it.each(CASES)(
    '$code at $at: $sdl $manifest',
    ({ code, sdl, manifest, at, fix, severity, also }) => {
      const { project, diagnostics } = read(sdl, manifest ?? null);
      const mark = (finding: (typeof diagnostics)[number]) =>
        finding.at.file === 'manifest.yaml' ? `m${short(finding)}` : short(finding);
      const relevant = diagnostics.filter((finding) => finding.severity === 'error' || severity);
      expect(relevant.map(mark)).toEqual([`${at} ${code}`, ...(also ?? [])]);
      const [finding] = relevant;
      expect(finding?.severity).toBe(severity ?? 'error');
      expect(project === null).toBe(severity === undefined);
      expect(finding?.summary).toMatch(/^\S.*[^.]$/);
      expect(finding?.at.length).toBeGreaterThan(0);
      expect(finding?.fix).toEqual(fix ?? expect.any(String));
      for (const way of finding?.fixes ?? []) {
        const after = applied(sdl, way);
        const left = read(after, manifest ?? null).diagnostics;
        if (parses(sdl))
          expect(identities(after, left)).not.toContain(identities(sdl, [finding!])[0]);
      }
    },
  );

  it('are all listed in the README, and each has a case here', () => {
    const readme = readFileSync(new URL('../../schema/README.md', import.meta.url), 'utf8');
    const listed = new Set([...readme.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code));
    expect([...new Set(CASES.map(({ code }) => code))].sort()).toEqual([...listed].sort());
  });

  it('come all in one run, of both files, in the order of the text', () => {
    const { diagnostics } = read(
      'type Query { a: Nope @deprected }\ntype A { id: ID! b: Int @uniqe }',
      'name: x\nsever: 1\nserver: { port: x }',
    );
    expect(diagnostics.map(short)).toEqual([
      '1:17 TYPE_UNKNOWN',
      '1:23 DIRECTIVE_UNKNOWN',
      '2:26 DIRECTIVE_UNKNOWN',
      '2:1 MANIFEST_KEY_UNKNOWN',
      '3:17 MANIFEST_SHAPE',
    ]);
  });

  it('tell of every mistake in the syntax that can be told apart', () => {
    const { diagnostics } = read(
      'type Query { a Int }\n\ntype B { b: Int }\n\ntype C {}\n',
      'name: [',
    );
    expect(diagnostics.map(short)).toEqual([
      '1:16 SDL_SYNTAX',
      '5:9 SDL_SYNTAX',
      '1:8 MANIFEST_SYNTAX',
    ]);
  });

  it('name the scalar that has no mapping, as an error once the mappings are known', () => {
    const sdl = `${QUERY}scalar Money scalar Weight type A { id: ID! price: Money weight: Weight }`;
    const { project, diagnostics } = read(sdl, null, { Weight: 'integer' });
    expect(diagnostics.map((finding) => [short(finding), finding.severity])).toEqual([
      ['2:8 SCALAR_UNMAPPED', 'error'],
    ]);
    expect(project).toBeNull();
    expect(
      read(sdl, null, { Weight: 'integer', Money: 'text' }).project?.entities[0]?.columns[2],
    ).toMatchObject({ type: 'integer', scalar: 'Weight' });
  });
});
