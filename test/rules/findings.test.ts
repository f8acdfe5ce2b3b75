import { describe, expect, it } from 'vitest';
import { readProject } from '@twofold/schema';

const read = (where: string) =>
  readProject({
    schema: [
      {
        file: 'schema.graphql',
        text: `scalar DateTime
          enum Kind { RED }
          type Query { a: String }
          type User { id: ID! email: String! }
          type A @auth(allow: [USER], where: ${where}) {
            id: ID! name: String size: Int kind: Kind at: DateTime a: A as: [A!]! @relation(inverse: "a")
          }`,
      },
    ],
    manifest: { file: 'manifest.yaml', text: 'name: x\nauth: {}\n' },
  });

describe('AUTH_CONDITION', () => {
  it.each([
    ['{ nam: "x" }', 'Did you mean "name"?'],
    ['{ name: { _ilike: "x" } }', 'write contains, with mode: INSENSITIVE'],
    ['{ AND: [{ name: "x" }] }', 'write and'],
    ['{ name: { equals: "x" } }', 'write eq'],
    ['{ name: { eqq: "x" } }', 'Did you mean "eq"?'],
    ['{ name: 7 }', 'eq: "text"'],
    ['{ size: "x" }', 'eq: 3'],
    ['{ size: { in: [1, "x"] } }', 'in: [3]'],
    ['{ size: { contains: "x" } }', 'eq, in, lt or gt'],
    ['{ size: { lt: null } }', 'isNull: true, or eq: null'],
    ['{ size: { isNull: 1 } }', 'isNull: true'],
    ['{ kind: GREN }', 'eq: RED'],
    ['{ at: "noon" }', 'eq: "2026-01-31T12:00:00Z"'],
    ['{ name: CALLER }', '{ id: CALLER } of the user type, or a key of it'],
    ['{ name: { claim: "" } }', '{ claim: "company.id" }'],
    ['{ as: { name: "x" } }', '{ as: { some: { … } } }, or every, none, count'],
    ['{ as: null }', '{ as: { none: {} } }'],
    ['{ as: { count: { gt: "x" } } }', 'gt: 3'],
    ['{ as: { count: { contains: 2 } } }', 'eq, in, lt or gt'],
    ['"x"', '{ published: true }'],
  ])('%s is refused once, with what to write: %s', (where, fix) => {
    const { project, diagnostics } = read(where);
    expect(project).toBeNull();
    expect(diagnostics.map(({ code, fix: text }) => [code, text])).toEqual([
      ['AUTH_CONDITION', fix],
    ]);
  });
});

describe('AUTH_UNINDEXED', () => {
  const hints = (where: string) =>
    read(where)
      .diagnostics.filter(({ code }) => code === 'AUTH_UNINDEXED')
      .map(({ summary, fix }) => [summary, fix]);

  it('names the column that no index begins with, and the index', () => {
    expect(hints('{ name: "x", kind: RED }')).toEqual([
      [
        'A condition compares A.name, which no index begins with',
        expect.stringContaining('@index(fields: ["name"])'),
      ],
    ]);
    expect(hints('{ a: { kind: RED } }')).toHaveLength(1);
    expect(hints('{ or: [{ id: "1" }, { size: 1 }] }')).toHaveLength(1);
  });

  it('stands at the type that the index belongs to', () => {
    const text = `type Query { a: String } type User { id: ID! }
      type Team { id: ID! name: String }
      type A @auth(allow: [USER], where: { team: { name: "x" } }) { id: ID! team: Team }`;
    const { diagnostics } = readProject({
      schema: [{ file: 'schema.graphql', text }],
      manifest: { file: 'manifest.yaml', text: 'name: x\nauth: {}\n' },
    });
    const hint = diagnostics.find(({ code }) => code === 'AUTH_UNINDEXED');
    expect([hint?.at.line, hint?.summary, hint?.fix]).toEqual([
      2,
      'A condition of A compares Team.name, which no index begins with',
      expect.stringContaining('type Team @index(fields: ["name"])'),
    ]);
  });

  it.each([
    '{ id: "1", name: "x" }',
    '{ a: { id: "1" } }',
    '{ as: { some: { id: "7" } } }',
    '{ not: { name: "x" } }',
  ])('%s needs none', (where) => expect(hints(where)).toEqual([]));
});
