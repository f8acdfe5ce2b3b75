import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

export const TABLES: readonly Case[] = [
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
    fix: 'deletedAt: DateTime\nscalar DateTime',
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
    fix: 'type Template @entity(plural: "appTemplates", table: "templates")',
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
  {
    code: 'TIMESTAMP_TYPE',
    sdl: `${QUERY}type A { id: ID! createdAt: String }`,
    at: '2:18',
    severity: 'hint',
  },
];
