import { describe, expect, it } from 'vitest';
import { read } from '../schema/reading.ts';

/** The words of Hasura and Prisma that graphql-2 §5 lists, where they stand, and ours. */
const OF_A_FIELD = [
  ['_eq', 'eq'],
  ['equals', 'eq'],
  ['_neq', 'ne'],
  ['_in', 'in'],
  ['_nin', 'notIn'],
  ['_gt', 'gt'],
  ['_gte', 'gte'],
  ['_lt', 'lt'],
  ['_lte', 'lte'],
  ['_like', 'contains'],
  ['_ilike', 'contains, with mode: INSENSITIVE'],
  ['_is_null', 'isNull'],
  ['array_contains', 'has'],
  ['not', 'ne'],
] as const;
const OF_A_ROW = [
  ['_and', 'and'],
  ['AND', 'and'],
  ['_or', 'or'],
  ['OR', 'or'],
  ['_not', 'not'],
  ['NOT', 'not'],
  ['is', 'the filter itself, without is'],
  ['isNot', 'not'],
  ['order_by', 'orderBy'],
] as const;

const findings = (words: string, row = '') =>
  read(
    `type Query { posts(where: PostFilter, limit: Int): [Post!]! open: [Post!]! @resolve(as: LIST) }
     type Post { id: ID! title: String }
     input PostFilter { title: Words ${row} }
     input Words { ${words} }`,
    null,
  );
const found = (words: string, row?: string) => {
  const { project, diagnostics } = findings(words, row);
  const operation = project?.operations.find(({ name }) => name === 'posts');
  return {
    stub: operation?.action.kind,
    words: diagnostics
      .filter(({ code }) => code === 'FILTER_WORD')
      .map(({ summary, fix, why, severity }) => ({ summary, fix, why, severity })),
  };
};

describe('graphql-2 acceptance 4: words of Hasura and Prisma', () => {
  it.each(OF_A_FIELD)('%s of a field is a finding that names %s', (word, ours) => {
    expect(found(`eq: String ${word}: String`)).toEqual({
      stub: 'custom',
      words: [
        {
          summary: `Words.${word} is no word that we know`,
          fix: `write ${ours}`,
          why: 'Query.posts is yours to write with it',
          severity: 'warning',
        },
      ],
    });
  });

  it.each(OF_A_ROW)('%s of a row is a finding that names %s', (word, ours) => {
    const { stub, words } = found('eq: String', `${word}: [PostFilter!]`);
    expect(stub).toBe('custom');
    expect(words.map(({ summary, fix }) => [summary, fix])).toEqual([
      [`PostFilter.${word} is no word that we know`, `write ${ours}`],
    ]);
  });

  it('an input with nothing but foreign words has a finding for each of them', () => {
    expect(
      found('_eq: String _ilike: String _regex: String').words.map(({ summary }) => summary),
    ).toEqual([
      'Words._eq is no word that we know',
      'Words._ilike is no word that we know',
      'Words._regex is no word that we know',
    ]);
  });

  it('a filter of a count has its words too', () => {
    const { diagnostics } = read(
      `type Query { posts(where: P): [Post!]! }
       type Post { id: ID! notes: [Note!]! noteCount: Int! @count(relation: "notes") } type Note { id: ID! post: Post! }
       input P { noteCount: W } input W { eq: Int _gt: Int }`,
      null,
    );
    expect(diagnostics.map(({ code, fix }) => [code, fix])).toEqual([['FILTER_WORD', 'write gt']]);
  });

  it('Hasura’s argument order_by is a finding, and the list is a stub', () => {
    const { project, diagnostics } = read(
      'type Query { posts(order_by: [O!]): [Post!]! } type Post { id: ID! title: String } input O { title: D } enum D { ASC DESC }',
      null,
    );
    expect(project?.operations[0]?.action.kind).toBe('custom');
    expect(diagnostics.map(({ code, fix }) => [code, fix])).toEqual([
      ['FILTER_WORD', 'write orderBy'],
    ]);
  });

  it('a filter that leads to a foreign word is a stub too, wherever it is used', () => {
    const { project, diagnostics } = read(
      `type Query { posts(where: P): [Post!]! users(where: U): [User!]! }
       type Post { id: ID! title: String author: User } type User { id: ID! name: String posts: [Post!]! }
       input U { posts: Ps name: W } input Ps { some: P } input P { author: U title: X } input W { eq: String } input X { _eq: String }`,
      null,
    );
    expect(project?.operations.map(({ action }) => action.kind)).toEqual(['custom', 'custom']);
    const [finding] = diagnostics.filter(({ code }) => code === 'FILTER_WORD');
    expect(finding?.why).toBe('Query.posts and Query.users are yours to write with it');
  });
});
