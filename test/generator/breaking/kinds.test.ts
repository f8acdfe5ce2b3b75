import { BreakingChangeType, buildSchema, DangerousChangeType, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { apiChanges } from '../../../generator/breaking/api/api-changes.ts';
import { renamesOf } from '../../../generator/breaking/api/renames.ts';
import type { Change } from '../../../generator/breaking/change.ts';
import { KINDS } from './kinds.ts';
import { recorded, served } from './schemas.ts';

interface Given {
  readonly before: string;
  readonly after: string;
  readonly documents?: readonly string[];
  readonly mandatory?: boolean;
  readonly today?: string;
}

function changesOf({
  before,
  after,
  documents = [],
  mandatory = false,
  today = '2026-11-23',
}: Given): Change[] {
  const [base, head] = [served(before), served(after)];
  return apiChanges({
    base,
    head,
    mandatory,
    today,
    documents: documents.map(recorded),
    renames: renamesOf([{ file: 'schema.graphql', text: after }], base.schema, head.schema),
  });
}

describe('breaking: the kinds of graphql', () => {
  it('are all here', () => {
    const codes = [...Object.keys(BreakingChangeType), ...Object.keys(DangerousChangeType)];
    expect(KINDS.map(({ code }) => code).toSorted()).toEqual(codes.toSorted());
  });

  it.each(KINDS)('$code: its level follows from who uses it', (kind) => {
    const { code, coordinate, before, after, uses, leaves } = kind;
    const level = code in BreakingChangeType ? 'breaking' : 'dangerous';
    for (const text of [uses, leaves])
      expect(validate(buildSchema(before), parse(text))).toEqual([]);
    const find = (more: Partial<Given>) =>
      changesOf({ before, after, ...more }).find(
        (change) => change.code === code && change.coordinate === coordinate,
      );
    expect(find({})).toMatchObject({ level });
    expect(find({})).not.toHaveProperty('usedBy');
    expect(find({ documents: [uses] })).toMatchObject({ level, usedBy: [{ operation: 'Uses' }] });
    expect(find({ documents: [leaves] })).toMatchObject({ level });
    expect(find({ documents: [leaves] })).not.toHaveProperty('usedBy');
    expect(find({ documents: [leaves, uses], mandatory: true })).toMatchObject({
      level,
      usedBy: [{ operation: 'Uses' }],
    });
    expect(find({ documents: [leaves], mandatory: true })).toMatchObject({
      level: 'safe',
      unused: true,
    });
  });
});

describe('breaking: the day of a removal', () => {
  const before =
    'type Query { a: Int b: Int @deprecated(reason: "Removal on 2026-06-01.") c(d: Int @deprecated(reason: "Removal on 2026-06-01.")): Int }';
  const after = 'type Query { a: Int c: Int }';
  const levels = (more: Partial<Given>) =>
    changesOf({ before, after, ...more }).map(({ coordinate, level }) => `${coordinate} ${level}`);

  it('makes a removal dangerous from then on, and breaking before', () => {
    expect(levels({ today: '2026-06-01' })).toEqual(['Query.b dangerous', 'Query.c(d:) dangerous']);
    expect(levels({ today: '2026-05-31' })).toEqual(['Query.b breaking', 'Query.c(d:) breaking']);
    expect(changesOf({ before, after, today: '2026-05-31' })[0]?.fix).toContain(
      'deprecate it first',
    );
  });

  it('does not count where a document still uses it', () => {
    expect(levels({ documents: ['query Uses { b }'] })).toEqual([
      'Query.b breaking',
      'Query.c(d:) dangerous',
    ]);
  });

  it('holds for types that only such members led to', () => {
    const old =
      'type Query { a: Int b: Old @deprecated(reason: "2026-06-01") } type Old { x: Older } type Older { y: Float }';
    const changes = changesOf({ before: old, after: 'type Query { a: Int }' });
    expect(new Set(changes.map(({ level }) => level))).toEqual(new Set(['dangerous']));
    expect(
      changesOf({
        before: `${old} extend type Query { c: Older }`,
        after: 'type Query { a: Int }',
      }).find(({ coordinate }) => coordinate === 'Older')?.level,
    ).toBe('breaking');
  });
});

describe('breaking: @renamed', () => {
  it('is one change of a field, and of what is made of it', () => {
    const changes = changesOf({
      before:
        'type Post { id: ID body: String } input CreatePostInput { body: String! } type Query { posts: [Post] } type Mutation { createPost(input: CreatePostInput!): Post setPost(body: String!): Post }',
      after:
        'directive @renamed(from: String) on FIELD_DEFINITION type Post { id: ID text: String @renamed(from: "body") } input CreatePostInput { text: String! } type Query { posts: [Post] } type Mutation { createPost(input: CreatePostInput!): Post setPost(text: String!): Post }',
      documents: ['query Uses { posts { body } }', 'query Leaves { posts { id } }'],
    }).filter(({ code }) => !code.startsWith('DIRECTIVE'));
    expect(changes.map(({ code, coordinate }) => `${code} ${coordinate}`)).toEqual([
      'FIELD_RENAMED Post.body',
      'FIELD_RENAMED CreatePostInput.body',
      'ARG_RENAMED Mutation.setPost(body:)',
    ]);
    expect(changes[0]?.usedBy).toMatchObject([{ operation: 'Uses' }]);
  });

  it('is one change of a type, and of the names that are made of it', () => {
    const changes = changesOf({
      before:
        'type User { id: ID } input UserFilter { id: ID } type Query { users(where: UserFilter): [User] user(id: ID): User }',
      after:
        'directive @renamed(from: String) on OBJECT type Account @renamed(from: "User") { id: ID } input AccountFilter { id: ID } type Query { accounts(where: AccountFilter): [Account] account(id: ID): Account }',
    }).filter(({ code }) => !code.startsWith('DIRECTIVE'));
    expect(changes.map(({ code, coordinate }) => `${code} ${coordinate}`).toSorted()).toEqual([
      'FIELD_RENAMED Query.user',
      'FIELD_RENAMED Query.users',
      'TYPE_RENAMED User',
      'TYPE_RENAMED UserFilter',
    ]);
  });
});
