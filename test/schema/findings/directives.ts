import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

export const DIRECTIVES: readonly Case[] = [
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
    code: 'DIRECTIVE_WITHOUT_EFFECT',
    sdl: `${QUERY}type Mutation { createA(b: Int): A } type A { id: ID! b: Int } type E @error(code: "CONFLICT") { message: String! }`,
    at: '2:71',
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
];
