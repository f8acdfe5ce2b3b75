import type { Case } from './case.ts';
import { QUERY } from '../reading.ts';

export const RELATIONS: readonly Case[] = [
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
    sdl: `${QUERY}type A @table(name: "a", key: ["x", "y"]) { id: ID! x: String! y: String! bs: [B!]! }
type B { id: ID! a: A @relation(columns: ["ax", "ay"], references: ["x", "y"]) }`,
    at: '3:23',
    fix: 'remove references: they are the key',
  },
  {
    code: 'RELATION_ARGUMENT',
    sdl: `${QUERY}type A { id: ID! x: String! y: String! bs: [B!]! }
type B { id: ID! a: A @relation(columns: ["ax", "ay"], references: ["x", "y"]) }`,
    at: '3:23',
    fix: 'name one field, or write fields for the columns in place of a',
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
];
