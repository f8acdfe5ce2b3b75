import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createDocumentCache } from '../../runtime/core/graphql/document-cache.ts';
import { readDocument } from '../../runtime/core/graphql/document.ts';
import { databases, projectOf, startServer } from './harness.ts';

const SDL = `
  type User { id: ID! name: String! friend: User posts: [Post!]! }
  type Post { id: ID! title: String! author: User! }
  input TextFilter { eq: String in: [String!] } input UserFilter { name: TextFilter and: [UserFilter!] or: [UserFilter!] not: UserFilter posts: PostMany }
  input PostMany { some: PostFilter } input PostFilter { title: TextFilter author: UserFilter }
  type Query { user(id: ID!): User users(where: UserFilter): [User!]! }
`;
const project = projectOf(SDL);
const rules = {
  schema: buildSchema(project.sdl),
  limits: project.api.limits,
  introspection: true,
  suggestions: false,
};
const codes = (text: string) =>
  readDocument(text, rules).errors?.map(({ extensions }) => extensions['code']) ?? 'right';
const repeated = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ');

describe('a document', () => {
  it('has as many lines as it may have words, whichever way they end', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      expect([
        codes(`{ __typename }${end.repeat(1999)}`),
        codes(`{ __typename }${end.repeat(2000)}`),
      ]).toEqual(['right', ['TOO_MANY_TOKENS']]);
    }
    expect(codes(`{ __typename } #${'\u2028'.repeat(3000)}`)).toBe('right');
    expect(readDocument('\n'.repeat(5000), rules).errors?.[0]).toMatchObject({
      message: 'the document has more than 2000 lines',
      extensions: { value: 2001, limit: 2000 },
    });
  });

  it('is measured before it is validated, and what nothing spreads as well', () => {
    const deep = (levels: number): string =>
      levels === 0 ? '{ nothing }' : `{ friend ${deep(levels - 1)} }`;
    expect(codes(`{ user(id: 1) ${deep(12)} }`)).toEqual(['TOO_DEEP']);
    expect(codes(`{ user(id: 1) ${deep(2)} }`)).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(
      codes(`{ __typename } fragment F on User { ${repeated(31, (index) => `a${index}: name`)} }`),
    ).toEqual(['TOO_MANY_ALIASES']);
    expect(
      codes(`{ __typename } fragment F on User { ${repeated(25, () => 'friend { id }')} }`),
    ).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(
      codes(
        '{ user(id: 1) { ...A } } fragment A on User { friend { ...B } } fragment B on User { friend { ...A } }',
      ),
    ).toEqual(['GRAPHQL_VALIDATION_FAILED']);
  });

  it('is told of twenty mistakes at most, with their places and without the document that they are in', () => {
    const { errors = [] } = readDocument(
      `{\n  user(id: 1) { ${repeated(300, (index) => `x${index}`)} }\n}`,
      rules,
    );
    expect(errors).toHaveLength(21);
    expect(errors[0]).toMatchObject({
      message: 'Cannot query field "x0" on type "User".',
      locations: [{ line: 2, column: 17 }],
    });
    expect(errors.filter(({ nodes }) => nodes !== undefined)).toEqual([]);
  });
});

describe('a document that was refused', () => {
  it('is not looked at again, and pushes out none that is used', () => {
    const cache = createDocumentCache({ ...rules, entries: 5 });
    const used = cache.get('{ __typename }');
    const { errors } = cache.get('{ nothing }');
    expect(cache.get('{ nothing }').errors).toBe(errors);
    for (let index = 0; index < 500; index += 1) cache.get(`{ nothing${index} }`);
    expect(cache.get('{ nothing }').errors).not.toBe(errors);
    expect(cache.get('{ nothing }').errors).toEqual(errors);
    expect([cache.get('{ __typename }').prepared === used.prepared, cache.size]).toEqual([true, 1]);
  });

  it('is forgotten when they are long, before there are many', () => {
    const cache = createDocumentCache(rules);
    const long = (index: number) => `{ nothing${index} } #${'x'.repeat(500_000)}`;
    const { errors } = cache.get(long(0));
    for (let index = 1; index < 4; index += 1) cache.get(long(index));
    expect(cache.get(long(3)).errors).toBe(cache.get(long(3)).errors);
    expect(cache.get(long(0)).errors).not.toBe(errors);
  });
});

describe.each(databases)('a filter on %s', (database) => {
  it('may name so many fields and operators and no more, in a variable too', async () => {
    // What its hops cost is another limit's matter.
    const manifest = 'name: names\napi: { limits: { cost: 1000000000 } }\n';
    const server = await startServer(SDL, { database, manifest });
    try {
      const ask = async (where: unknown) => {
        const { data, errors } = await server.query(
          'query ($where: UserFilter) { users(where: $where) { id } }',
          { where },
        );
        return errors ? [errors[0].extensions.code, errors[0].extensions.limit] : data.users.length;
      };
      const of = (count: number, item: unknown) => Array.from({ length: count }, () => item);
      for (const kind of ['and', 'or']) {
        expect([
          await ask({ [kind]: of(449, { name: { eq: 'a' } }) }),
          await ask({ [kind]: of(450, { name: { eq: 'a' } }) }),
        ]).toEqual([0, ['TOO_COSTLY', 900]]);
        expect([await ask({ [kind]: of(899, {}) }), await ask({ [kind]: of(900, {}) })]).toEqual([
          0,
          ['TOO_COSTLY', 900],
        ]);
      }
      expect(
        await ask({
          and: of(500, {
            posts: { some: { author: { posts: { some: { title: { eq: 'a' } } } } } },
          }),
        }),
      ).toEqual(['TOO_COSTLY', 900]);
      expect(
        await ask({
          and: of(100, {
            posts: { some: { author: { posts: { some: { title: { eq: 'a' } } } } } },
          }),
        }),
      ).toBe(0);
      expect(await ask({ name: { in: of(10_000, 'a') } })).toBe(0);
      server.statements();
      await ask({ and: of(30_000, { name: { eq: 'a' } }) });
      expect(server.statements()).toEqual([]);
    } finally {
      await server.close();
    }
  });
});

describe.runIf(databases.length > 1)('PostgreSQL', () => {
  it('compiles nothing, and has no more than four relations of a filter to put in an order', async () => {
    const server = await startServer(SDL, { database: 'postgres' });
    try {
      expect(await server.store.query('show jit', [])).toEqual([{ jit: 'off' }]);
      server.statements();
      await server.query(
        '{ users(where: { and: [{ posts: { some: {} } }, { posts: { some: {} } }, { posts: { some: {} } }, { posts: { some: {} } }, { posts: { some: {} } }, { posts: { some: {} } }] }) { id } }',
      );
      const [text = ''] = server.statements();
      expect([text.match(/exists \(/g)?.length, text.match(/\) is true\)/g)?.length]).toEqual([
        6, 2,
      ]);
    } finally {
      await server.close();
    }
  });
});
