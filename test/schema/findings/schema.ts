import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

export const SCHEMA: readonly Case[] = [
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
  { code: 'SCALAR_UNMAPPED', sdl: `${QUERY}scalar Money`, at: '2:8', severity: 'hint' },
];
