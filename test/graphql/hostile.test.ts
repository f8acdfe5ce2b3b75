import { describe, expect, it } from 'vitest';
import { databases, startServer } from './harness.ts';

const RELATIONS = 9;
const to = (type: string) =>
  Array.from({ length: RELATIONS }, (_, index) => `r${index}: ${type}`).join(' ');
const SDL = `
  type Alpha { id: ID! name: String! ${to('Beta')} }
  type Beta { id: ID! name: String! ${to('Gamma')} }
  type Gamma { id: ID! name: String! ${Array.from({ length: 70 }, (_, index) => `text${index}: String`).join(' ')} }
  input AlphaFilter { name: NameFilter not: AlphaFilter and: [AlphaFilter!] }
  input NameFilter { eq: String in: [String!] contains: String }
  type Query { alphas(where: AlphaFilter): [Alpha!]! gammas(limit: Int): [Gamma!]! gamma(id: ID!): Gamma }
  type Mutation { createGamma(name: String!): Gamma! }
`;
const WIDE = (project: any) => ({
  ...project,
  api: { ...project.api, limits: { ...project.api.limits, tokens: 100_000, aliases: 1000 } },
});

describe.each(databases)('hostile and unusual requests on %s', (database) => {
  const start = () => startServer(SDL, { database, change: WIDE });

  it('may join more tables than the database takes in one join, and select more fields than its functions take', async () => {
    const server = await start();
    try {
      await server.store.db.insertInto('gammas').values({ name: 'c', text69: 'last' }).execute();
      await server.store.db.insertInto('betas').values({ name: 'b', r0_id: 1, r8_id: 1 }).execute();
      await server.store.db
        .insertInto('alphas')
        .values({ name: 'a', r0_id: 1, r8_id: 1 })
        .execute();
      const level = (depth: number): string =>
        depth === 0
          ? '{ name }'
          : `{ name ${Array.from({ length: RELATIONS }, (_, index) => `r${index} ${level(depth - 1)}`).join(' ')} }`;
      const { data } = await server.query(`{ alphas ${level(2)} }`);
      expect([data.alphas[0].r0.r0.name, data.alphas[0].r8.r8.name, data.alphas[0].r1]).toEqual([
        'c',
        'c',
        null,
      ]);
      const fields = Array.from(
        { length: 70 },
        (_, index) => `text${index} again${index}: text${index}`,
      ).join(' ');
      const wide = await server.query(`{ gammas { ${fields} } }`);
      expect(Object.keys(wide.data.gammas[0])).toHaveLength(140);
      expect(wide.data.gammas[0]).toMatchObject({ text0: null, text69: 'last', again69: 'last' });
    } finally {
      await server.close();
    }
  });

  it('may nest a filter so deep and no deeper', async () => {
    const server = await start();
    try {
      const nested = (levels: number) =>
        '{ not: '.repeat(levels) + '{ name: { eq: "a" } }' + ' }'.repeat(levels);
      expect(
        (await server.query(`{ alphas(where: ${nested(36)}) { id } }`)).errors,
      ).toBeUndefined();
      expect((await server.query(`{ alphas(where: ${nested(400)}) { id } }`)).errors).toMatchObject(
        [{ extensions: { code: 'TOO_DEEP', limit: 40 } }],
      );
    } finally {
      await server.close();
    }
  });

  it('never reach the SQL with their text', async () => {
    const server = await start();
    try {
      const texts = [
        `'; drop table gammas; --`,
        `" or 1=1 --`,
        `%_\\`,
        `$1 ? :x @y`,
        '\u2028\u0001',
        'é'.normalize('NFD'),
        '😀'.repeat(50),
        '{"$":"User"}',
      ];
      for (const name of texts) {
        const { data } = await server.query(
          'mutation ($name: String!) { createGamma(name: $name) { name } }',
          { name },
        );
        expect(data.createGamma.name).toBe(name);
        const found = await server.query(
          'query ($name: String!) { alphas(where: { name: { contains: $name, in: [$name] } }) { id } }',
          { name },
        );
        expect(found).toEqual({ data: { alphas: [] } });
      }
      expect((await server.query('{ gammas(limit: 50) { id } }')).data.gammas).toHaveLength(
        texts.length,
      );
      const nul = await server.query(
        'mutation ($name: String!) { createGamma(name: $name) { id } }',
        { name: 'a\u0000b' },
      );
      expect(nul.errors?.[0].extensions.code ?? 'stored').toMatch(/BAD_USER_INPUT|stored/);
    } finally {
      await server.close();
    }
  });

  it('get an answer to whatever they send', async () => {
    const server = await start();
    try {
      const bodies = [
        '',
        'null',
        '1',
        '"x"',
        '[]',
        '{',
        '{}',
        '{"query":1}',
        '{"query":""}',
        '{"query":"{"}',
        '{"query":"{ __typename }","variables":[]}',
        '{"query":"{ __typename }","operationName":"X"}',
        '{"query":"fragment F on Alpha { ...F } { alphas { ...F } }"}',
        '{"query":"subscription { x }"}',
        '\ufeff{}',
        '{"query":"query A { __typename } query B { __typename }"}',
        '{"query":"{ gamma(id: \\"99999999999999999999999\\") { id } }"}',
        '{"query":"{ gammas(limit: 99999999999) { id } }"}',
        '{"query":"query ($x: Nope) { __typename }"}',
      ];
      for (const body of bodies) {
        const { status, body: answer } = await server.call('POST', '/graphql', {
          body,
          headers: {
            accept: 'application/graphql-response+json',
            'content-type': 'application/json',
          },
        });
        expect([body, status < 500, typeof answer === 'object']).toEqual([body, true, true]);
      }
      for (const query of [
        '?query=',
        '?query={__typename}&variables=x',
        '?query={__typename}&variables=[]',
        '?%ff',
        '?query=%E0%A4%A',
      ]) {
        expect((await server.call('GET', `/graphql${query}`)).status).toBeLessThan(500);
      }
      expect(server.lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    } finally {
      await server.close();
    }
  });
});
