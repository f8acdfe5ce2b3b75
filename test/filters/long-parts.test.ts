import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';

const SDL = `
  scalar JSON
  enum CaseMode { SENSITIVE INSENSITIVE }
  input TextFilter { eq: String contains: String mode: CaseMode }
  input JsonFilter { path: [String!] contains: String }
  input PostFilter { body: TextFilter facts: JsonFilter not: PostFilter }
  type Post { id: ID! body: String facts: JSON }
  type Query { posts(where: PostFilter): [Post!]! }
`;
const QUERY = 'query ($where: PostFilter) { posts(where: $where) { id } }';

/** The piece that the first row has once, over the edge of what is looked through at a time. */
const PART = `b${'Ä'.repeat(4998)}c`;

/** Milliseconds: PostgreSQL looks for seconds and is to be ended, SQLite for a few hundredths of one. */
const TIME: Readonly<Record<string, number>> = { sqlite: 2000, postgres: 400 };

describe.each(databases)('a long text that contains looks for, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      change: (project) => ({
        ...project,
        api: { ...project.api, limits: { ...project.api.limits, time: TIME[database]! } },
      }),
    });
    for (const body of [`${'x'.repeat(19_990)}${PART}y`, 'Ä'.repeat(30_000), '', null])
      await server.store.db
        .insertInto('posts')
        .values({ body, facts: JSON.stringify({ text: body }) })
        .execute();
  });
  afterAll(() => server.close());

  const found = async (where: object) => {
    const { data, errors } = await server.query(QUERY, { where });
    return errors?.[0] ?? data.posts.map(({ id }: any) => Number(id));
  };

  it.each([
    ['as it is', { body: { contains: PART } }, [1]],
    ['in any case', { body: { contains: PART.toLowerCase(), mode: 'INSENSITIVE' } }, [1]],
    ['of the wrong case', { body: { contains: PART.toLowerCase() } }, []],
    ['in a document', { facts: { path: ['text'], contains: PART } }, [1]],
    ['that no row may have', { not: { body: { contains: PART } } }, [2, 3, 4]],
    ['of 65 bytes at the end', { body: { contains: `${'Ä'.repeat(40)}cy` } }, [1]],
  ])('is found where it is, %s', async (_, where, ids) => {
    expect(await found(where)).toEqual(ids);
  });

  it('is refused beyond 5,000 characters, after a shorter one too', async () => {
    expect(await found({ body: { contains: PART } })).toEqual([1]);
    for (const where of [
      { body: { contains: `${PART}y` } },
      { body: { contains: `${PART}y`, mode: 'INSENSITIVE' } },
      { facts: { path: ['text'], contains: `${PART}y` } },
    ])
      expect(await found(where)).toMatchObject({
        message: expect.stringMatching(/may have 5000 characters: look for a part/),
        extensions: { code: 'BAD_USER_INPUT', limit: 5000 },
      });
    expect(await found({ body: { eq: `${PART}y` } })).toEqual([]);
  });

  it('is ended at the time limit, whatever the texts are', async () => {
    await server.store.db
      .updateTable('posts')
      .set({ body: 'a'.repeat(3_000_000) })
      .execute();
    const begun = performance.now();
    const where = { body: { contains: `b${'a'.repeat(4999)}` } };
    const { errors } = await server.query(QUERY, { where });
    // SQLite looks for it in linear time.
    const code = database === 'sqlite' ? undefined : 'TIMEOUT';
    expect(errors?.[0].extensions.code).toBe(code);
    expect(performance.now() - begun).toBeLessThan(3000);
    expect(await server.query('{ posts { id } }')).toMatchObject({
      data: { posts: { length: 4 } },
    });
  });
});
