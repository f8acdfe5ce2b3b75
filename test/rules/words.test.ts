import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { insert } from '../filters/project.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { person } from './random-conditions.ts';

/** Conditions with the words of filters about case, lists, JSON, objects and groups, by type. */
const RULES: readonly (readonly [where: string, ids: readonly number[], as?: Principal])[] = [
  ['{ title: { eq: "ÉCLAIR", mode: INSENSITIVE } }', [1]],
  ['{ title: { startsWith: "éc", mode: INSENSITIVE } }', [1]],
  ['{ not: { title: { contains: "É", mode: INSENSITIVE } } }', [2, 3]],
  ['{ title: { in: ["BOOKS"], mode: INSENSITIVE } }', [2, 3]],
  ['{ title: { or: [{ eq: "books" }, { isNull: true }] } }', [3]],
  ['{ tags: { has: "a" } }', [1]],
  ['{ tags: { hasSome: ["a", "z"] } }', [1]],
  ['{ tags: { hasEvery: ["a", "b"] } }', [1]],
  ['{ tags: { isEmpty: true } }', [2]],
  ['{ tags: { isEmpty: false } }', [1]],
  ['{ tags: { eq: ["a", "b"] } }', [1]],
  ['{ tags: null }', [3]],
  ['{ not: { tags: { has: "a" } } }', [2, 3]],
  ['{ meta: { path: ["plan", "0"], eq: "pro" } }', [1]],
  ['{ meta: { path: ["seats"], gte: 5 } }', [1]],
  ['{ meta: { path: ["seats"], eq: "5" } }', []],
  ['{ meta: { path: ["seats"], isNull: true } }', [2, 3]],
  ['{ meta: { path: ["plan"], has: "pro" } }', [1]],
  ['{ place: { city: "Lyon" } }', [1]],
  ['{ place: { city: { startsWith: "l", mode: INSENSITIVE } } }', [1]],
  ['{ place: { zip: { lt: 2 } } }', [1]],
  ['{ place: { tags: { has: "x" } } }', [1]],
  ['{ place: { inner: { city: "Soho" } } }', [1]],
  ['{ place: null }', [3]],
  ['{ place: { isNull: false } }', [1, 2]],
  ['{ place: { or: [{ zip: 1 }, { zip: 2 }] } }', [1, 2]],
  ['{ tags: { has: { claim: "tag" } } }', [1], person(1, { tag: 'a' })],
  ['{ tags: { has: { claim: "tag" } } }', [1], person(1, { tag: ['z', 'b'] })],
  ['{ tags: { has: { claim: "tag" } } }', [], person(1, { tag: 7 })],
  ['{ not: { tags: { has: { claim: "tag" } } } }', [], person(1, {})],
  ['{ meta: { path: ["seats"], eq: { claim: "seats" } } }', [1], person(1, { seats: 5 })],
  ['{ meta: { path: ["seats"], eq: { claim: "seats" } } }', [], person(1, { seats: '5' })],
  ['{ place: { zip: { claim: "zip" } } }', [2], person(1, { zip: [2, 3] })],
  [
    '{ title: { eq: { claim: "title" }, mode: INSENSITIVE } }',
    [2, 3],
    person(1, { title: 'bOOKS' }),
  ],
  ['{ kids: { every: { tags: { isEmpty: false } } } }', [2, 3]],
  ['{ kids: { some: { meta: { path: ["n"], gt: 1 } } } }', [1]],
];

const SDL = `
  scalar JSON enum Mode { INSENSITIVE }
  type User { id: ID! email: String! }
  type Place { city: String zip: Int tags: [String!] inner: Place }
  type Kid { id: ID! tags: [String!] meta: JSON ${RULES.map((_, at) => `row${at}: Row${at}`).join(' ')} }
  ${RULES.map(
    ([where], at) =>
      `type Row${at} @table(name: "row${at}") @auth(allow: [PUBLIC], where: ${where}) { id: ID! title: String tags: [String!] meta: JSON place: Place kids: [Kid!]! }`,
  ).join('\n')}
  type Query { ${RULES.map((_, at) => `row${at}s: [Row${at}!]! @resolve(as: LIST)`).join(' ')} }
  type Mutation { createRow5(title: String, tags: [String!]): Row5! updateRow5(id: ID!, tags: [String!]): Row5 deleteRow5(id: ID!): Boolean! }
`;

describe.each(databases)(
  'graphql-2 §3: the where of a rule has the words of filters on %s',
  (database) => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer(SDL, {
        database,
        manifest: 'name: words\napi: { access: public }\nauth: {}\n',
      });
      for (const at of RULES.keys()) {
        await insert(server.store, `row${at}`, [
          {
            title: 'Éclair',
            tags: ['a', 'b'],
            meta: { plan: ['pro'], seats: 5 },
            place: { city: 'Lyon', zip: 1, tags: ['x'], inner: { city: 'Soho' } },
          },
          { title: 'Books', tags: [], meta: 'text', place: { zip: 2 } },
          { title: 'books' },
        ]);
      }
      const kids = RULES.findIndex(([where]) => where.includes('kids'));
      await insert(server.store, 'kids', [
        { tags: [], [`row${kids}_id`]: 1 },
        { tags: ['a'], [`row${kids}_id`]: 2 },
        { meta: { n: 2 }, [`row${kids + 1}_id`]: 1 },
        { meta: { n: '2' }, [`row${kids + 1}_id`]: 2 },
      ]);
    });
    afterAll(() => server.close());

    it.each(RULES.map(([where, ids, as], at) => [where, ids, as, at] as const))(
      '%s shows %j',
      async (_, ids, as, at) => {
        const { data, errors } = await server.query(`{ row${at}s { id } }`, {}, as);
        if (errors) expect(errors[0].extensions.code).toMatch(/^(FORBIDDEN|UNAUTHENTICATED)$/);
        expect((data?.[`row${at}s`] ?? []).map(({ id }: any) => Number(id))).toEqual(ids);
      },
    );

    it('a write is judged by the words, before and after', async () => {
      const code = async (text: string) => {
        const { errors } = await server.query(`mutation { ${text} }`);
        return errors?.[0]?.extensions.code;
      };
      expect(await code('createRow5(tags: ["z"]) { id }')).toBe('FORBIDDEN');
      expect(await code('createRow5(tags: ["a"]) { id }')).toBeUndefined();
      expect(await code('updateRow5(id: 1, tags: ["z"]) { id }')).toBe('FORBIDDEN');
      expect(await code('updateRow5(id: 1, tags: ["a", "z"]) { id }')).toBeUndefined();
      expect((await server.query('mutation { deleteRow5(id: 2) }')).data.deleteRow5).toBe(false);
    });
  },
);
