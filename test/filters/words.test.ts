import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { insert, SDL } from './project.ts';

describe.each(databases)('graphql-2 §5: the words of filters on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: 'name: words\napi: { access: public }\n',
    });
    await insert(server.store, 'people', [{ name: 'Ada' }, { name: 'Émile' }, { name: 'ΟΔΟΣ' }]);
    await insert(server.store, 'posts', [
      {
        title: 'Straße',
        status: 'LIVE',
        views: 1,
        tags: ['a', 'b'],
        numbers: [1, 2],
        flags: [true],
        states: ['LIVE'],
        author_id: 1,
        meta: {
          a: [{ b: 'x' }, { b: 1 }],
          n: 10,
          s: '10',
          t: true,
          nil: null,
          list: ['1', 1, { k: 1 }],
          'q"u.o$t[0]': 'odd',
          0: 'zero',
        },
        place: {
          city: 'London',
          zip: 1,
          big: '9007199254740993',
          price: '1.50',
          open: true,
          at: '2026-01-01T00:00:00.000Z',
          tags: ['x'],
          inner: { city: 'Soho' },
          meta: { deep: [1] },
          status: 'DRAFT',
        },
      },
      {
        title: 'ÉCLAIR',
        status: 'DRAFT',
        views: null,
        tags: [],
        numbers: [],
        flags: [false],
        states: [],
        author_id: 2,
        meta: 'text',
        place: { city: null, zip: 2 },
      },
      { title: 'éclair', views: 3, tags: ['A'], author_id: 3, meta: 5 },
      { title: 'ПРИВЕТ', tags: ['b', 'a', 'b'], meta: [] },
      { title: null, meta: null },
    ]);
    await insert(server.store, 'comments', [
      { text: 'one', post_id: 1 },
      { text: 'two', post_id: 1 },
      { text: 'one', post_id: 2 },
    ]);
  });
  afterAll(() => server.close());

  const found = async (where: unknown): Promise<number[]> => {
    const { data, errors } = await server.query(
      'query ($where: PostFilter) { posts(where: $where) { id } }',
      { where },
    );
    if (errors) throw new Error(JSON.stringify(errors));
    return data.posts.map(({ id }: any) => Number(id));
  };
  const I = { mode: 'INSENSITIVE' };

  it.each<[string, unknown, number[]]>([
    ['the case of Latin letters', { title: { eq: 'éCLAIR', ...I } }, [2, 3]],
    ['accents count', { title: { eq: 'eclair', ...I } }, []],
    ['Cyrillic', { title: { contains: 'привет', ...I } }, [4]],
    ['Greek, with its two sigmas', { author: { name: { startsWith: 'οδοσ', ...I } } }, [3]],
    ['lists of values', { title: { in: ['STRASSE', 'STRAßE', null], ...I } }, [1, 5]],
    ['not among values', { title: { notIn: ['éclair'], ...I } }, [1, 4, 5]],
    ['order', { title: { lt: 'T', ...I } }, [1]],
    ['without it, case counts', { title: { contains: 'clair', mode: 'SENSITIVE' } }, [3]],
    ['null is no mode', { title: { contains: 'clair', mode: null } }, [3]],
    ['groups beside it', { title: { ...I, or: [{ eq: 'ÉCLAIR' }, { eq: 'привет' }] } }, [2, 3, 4]],
    ['not beside it', { title: { ...I, not: { eq: 'ÉCLAIR' } } }, [1, 4, 5]],
    ['alone it says nothing', { title: I }, [1, 2, 3, 4, 5]],
  ])('mode: INSENSITIVE: %s', async (_, where, ids) => {
    expect(await found(where)).toEqual(ids);
  });

  it.each<[unknown, number[]]>([
    [{ tags: { has: 'a' } }, [1, 4]],
    [{ tags: { not: { has: 'a' } } }, [2, 3, 5]],
    [{ tags: { hasSome: ['A', 'b'] } }, [1, 3, 4]],
    [{ tags: { hasSome: [] } }, []],
    [{ tags: { hasEvery: ['b', 'a'] } }, [1, 4]],
    [{ tags: { hasEvery: [] } }, [1, 2, 3, 4]],
    [{ tags: { isEmpty: true } }, [2]],
    [{ tags: { isEmpty: false } }, [1, 3, 4]],
    [{ tags: { not: { isEmpty: true } } }, [1, 3, 4, 5]],
    [{ tags: { eq: ['a', 'b'] } }, [1]],
    [{ tags: { eq: ['b', 'a'] } }, []],
    [{ tags: { eq: [] } }, [2]],
    [{ tags: { ne: ['a', 'b'] } }, [2, 3, 4, 5]],
    [{ tags: { eq: null } }, [5]],
    [{ tags: null }, [5]],
    [{ tags: { isNull: false } }, [1, 2, 3, 4]],
    [{ numbers: { has: 2 } }, [1]],
    [{ numbers: { hasEvery: [1, 2] } }, [1]],
    [{ flags: { has: true } }, [1]],
    [{ flags: { hasSome: [false] } }, [2]],
    [{ flags: { eq: [true] } }, [1]],
    [{ states: { has: 'LIVE' } }, [1]],
    [{ states: { isEmpty: true } }, [2]],
  ])('lists of scalars and enums: %j', async (where, ids) => {
    expect(await found(where)).toEqual(ids);
  });

  it.each<[unknown, number[]]>([
    [{ path: ['a', '0', 'b'], eq: 'x' }, [1]],
    [{ path: ['a', '1', 'b'], eq: 1 }, [1]],
    [{ path: ['a', '1', 'b'], eq: '1' }, []],
    [{ path: ['n'], eq: 10 }, [1]],
    [{ path: ['s'], eq: 10 }, []],
    [{ path: ['s'], gt: '0' }, [1]],
    [{ path: ['s'], gt: 0 }, []],
    [{ path: ['n'], gt: 9.5 }, [1]],
    [{ path: ['n'], gt: '0' }, []],
    [{ path: ['n'], in: ['10', 10] }, [1]],
    [{ path: ['n'], in: ['10', null] }, [2, 3, 4, 5]],
    [{ path: ['n'], notIn: [10] }, [2, 3, 4, 5]],
    [{ path: ['n'], ne: 10 }, [2, 3, 4, 5]],
    [{ path: ['nil'], isNull: true }, [1, 2, 3, 4, 5]],
    [{ path: ['n'], isNull: false }, [1]],
    [{ path: ['n'], eq: null }, [2, 3, 4, 5]],
    [{ path: ['t'], eq: true }, [1]],
    [{ path: ['q"u.o$t[0]'], startsWith: 'o' }, [1]],
    [{ path: ['0'], eq: 'zero' }, [1]],
    [{ path: ['a', '0'], eq: { b: 'x' } }, [1]],
    [{ path: ['list'], has: 1 }, [1]],
    [{ path: ['list'], has: '1' }, [1]],
    [{ path: ['list'], has: 2 }, []],
    [{ path: ['list'], has: { k: 1 } }, [1]],
    [{ path: ['list'], hasSome: [2, '1'] }, [1]],
    [{ path: ['list'], hasEvery: [1, '1'] }, [1]],
    [{ path: ['list'], isEmpty: false }, [1]],
    [{ isEmpty: true }, [4]],
    [{ eq: 5 }, [3]],
    [{ eq: 'TEXT', mode: 'INSENSITIVE' }, [2]],
    [{ contains: 'EX', mode: 'INSENSITIVE' }, [2]],
    [{ contains: 'EX' }, []],
    [{ in: ['TEXT', 5], mode: 'INSENSITIVE' }, [2, 3]],
    [{ isNull: true }, [5]],
    [{ path: ['s'], not: { eq: '10' } }, [2, 3, 4, 5]],
    [{ path: [], eq: 5 }, [3]],
    [{ path: null, eq: 5 }, [3]],
  ])('JSON: %j', async (meta, ids) => {
    expect(await found({ meta })).toEqual(ids);
  });

  it.each<[unknown, number[]]>([
    [{ city: { startsWith: 'L' } }, [1]],
    [{ city: { eq: 'LONDON', ...I } }, [1]],
    [{ city: { isNull: true } }, [2, 3, 4, 5]],
    [{ city: { ne: 'London' } }, [2, 3, 4, 5]],
    [{ zip: { gte: 2 } }, [2]],
    [{ zip: { in: [1, null] } }, [1, 3, 4, 5]],
    [{ big: { eq: '9007199254740993' } }, [1]],
    [{ big: { eq: '9007199254740992' } }, []],
    [{ big: { lt: '10000000000000000' } }, [1]],
    [{ price: { eq: '1.5' } }, [1]],
    [{ price: { gt: '1.4' } }, [1]],
    [{ open: { eq: true } }, [1]],
    [{ open: { ne: true } }, [2, 3, 4, 5]],
    [{ at: { lt: '2026-01-01T02:00:00+01:00' } }, [1]],
    [{ at: { eq: '2026-01-01T01:00:00+01:00' } }, [1]],
    [{ tags: { has: 'x' } }, [1]],
    [{ tags: { isEmpty: true } }, []],
    [{ inner: { city: { eq: 'Soho' } } }, [1]],
    [{ inner: null }, [2, 3, 4, 5]],
    [{ inner: { isNull: false } }, [1]],
    [{ meta: { path: ['deep', '0'], eq: 1 } }, [1]],
    [{ status: { eq: 'DRAFT' } }, [1]],
    [{ isNull: true }, [3, 4, 5]],
    [{ or: [{ zip: { eq: 1 } }, { zip: { eq: 2 } }] }, [1, 2]],
    [{ not: { zip: { eq: 1 } } }, [2, 3, 4, 5]],
    [null, [3, 4, 5]],
    [{}, [1, 2, 3, 4, 5]],
  ])('an object without id: %j', async (place, ids) => {
    expect(await found({ place })).toEqual(ids);
  });

  it.each<[unknown, number[]]>([
    [{ author: null }, [4, 5]],
    [{ author: { isNull: true } }, [4, 5]],
    [{ author: { isNull: false } }, [1, 2, 3]],
    [{ author: { not: { isNull: false } } }, [4, 5]],
    [{ author: { or: [{ isNull: true }, { name: { eq: 'Ada' } }] } }, [1, 4, 5]],
    [{ author: { isNull: true, name: { eq: 'Ada' } } }, []],
    [{ author: {} }, [1, 2, 3]],
    [{ comments: { none: {} } }, [3, 4, 5]],
    [{ comments: { every: { text: { eq: 'one' } } } }, [2, 3, 4, 5]],
    [{ comments: { count: { gte: 2 } } }, [1]],
    [{ comments: { count: { eq: 0 } } }, [3, 4, 5]],
    [{ comments: { count: { in: [1, 2] } } }, [1, 2]],
    [{ comments: { count: { not: { eq: 0 } }, some: { text: { eq: 'two' } } } }, [1]],
    [{ author: { posts: { or: [{ count: { gt: 1 } }, { some: { views: { eq: 3 } } }] } } }, [3]],
    [{ and: [] }, [1, 2, 3, 4, 5]],
    [{ or: [] }, []],
    [{ not: { or: [] } }, [1, 2, 3, 4, 5]],
    [{ title: { and: [], or: [] } }, []],
    [{ id: { contains: '3' } }, [3]],
  ])('relations and groups: %j', async (where, ids) => {
    expect(await found(where)).toEqual(ids);
  });

  it.each([
    [{ title: { contains: null } }, 'title.contains'],
    [{ tags: { has: null } }, 'tags.has'],
    [{ tags: { hasSome: ['a', null] } }, 'tags.hasSome'],
    [{ meta: { lt: null } }, 'meta.lt'],
    [{ meta: { path: ['a'], lt: true } }, 'meta.lt'],
    [{ meta: { path: ['a'], lt: { a: 1 } } }, 'meta.lt'],
    [{ place: { zip: { lt: null } } }, 'place.zip.lt'],
  ])('%j is BAD_USER_INPUT', async (where, field) => {
    const { errors } = await server.query(
      'query ($where: PostFilter) { posts(where: $where) { id } }',
      { where },
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });
});
