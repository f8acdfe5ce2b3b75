import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Blog, startBlog } from './blog-server.ts';
import { databases } from './harness.ts';

describe.each(databases)('a REST module that is read on %s', (database) => {
  let blog: Blog;
  let server: Blog['server'];
  let author: string;
  beforeAll(async () => void ({ server } = blog = await startBlog(database)));
  beforeEach(async () => {
    await blog.reset();
    ({ author } = blog);
  });
  afterAll(() => server.close());

  const post = (title: string, more: object = {}) => blog.post(title, more);
  const titles = async (query: string) =>
    (await server.get(`/api/posts?${query}`)).body.data.map(
      ({ title }: { title: string }) => title,
    );

  describe('that lists', () => {
    it('answers with a page and how many there are', async () => {
      for (const title of ['one', 'two', 'three', 'four', 'five']) await post(title);
      const { status, body, headers } = await server.get('/api/posts?page=2&limit=2');
      expect(status).toBe(200);
      expect(body.data.map(({ title }: { title: string }) => title)).toEqual(['three', 'four']);
      expect(body.pagination).toEqual({ total: 5, page: 2, page_size: 2, total_pages: 3 });
      expect(headers.get('cache-control')).toBe('private');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('has 20 in a page, and none behind the last', async () => {
      for (let index = 0; index < 21; index++) await post(`post ${index}`);
      expect((await server.get('/api/posts')).body).toMatchObject({
        pagination: { total: 21, page: 1, page_size: 20, total_pages: 2 },
      });
      expect((await server.get('/api/posts?page=9')).body).toEqual({
        data: [],
        pagination: { total: 21, page: 9, page_size: 20, total_pages: 2 },
      });
    });

    it('says that an empty table has no pages', async () => {
      expect((await server.get('/api/posts')).body).toEqual({
        data: [],
        pagination: { total: 0, page: 1, page_size: 20, total_pages: 0 },
      });
    });

    it('shows what the schema shows, with ids as text and the keys of its relations', async () => {
      await post('one', {
        price: '1.50',
        hits: '9007199254740993',
        day: '2026-02-03',
        words: ['a', 'b'],
        score: 0.5,
        published: true,
      });
      const { body } = await server.get('/api/posts');
      expect(body.data[0]).toEqual({
        id: '1',
        title: 'one',
        status: 'DRAFT',
        views: 0,
        score: 0.5,
        published: true,
        subtitle: null,
        price: '1.50',
        hits: '9007199254740993',
        day: '2026-02-03',
        words: ['a', 'b'],
        authorId: author,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
      });
    });

    it('sorts by a field in both directions', async () => {
      for (const [title, score] of [
        ['b', 1],
        ['c', null],
        ['a', 2],
      ] as const)
        await post(`t${title}`, { score });
      expect(await titles('sort=title')).toEqual(['ta', 'tb', 'tc']);
      expect(await titles('sort=title&order=desc')).toEqual(['tc', 'tb', 'ta']);
      expect(await titles('sort=score&order=asc')).toEqual(['tb', 'ta', 'tc']);
      expect(await titles('sort=score&order=DESC')).toEqual(['tc', 'ta', 'tb']);
      expect(await titles('order=desc')).toEqual(['ta', 'tc', 'tb']);
    });

    it('filters with the words of GraphQL', async () => {
      await post('alpha', {
        views: 1,
        published: true,
        status: 'LIVE',
        day: '2026-01-01',
        price: '2',
        hits: '5',
      });
      await post('beta', {
        views: 2,
        published: false,
        subtitle: 'x',
        day: '2026-01-02',
        price: '10',
        hits: '6',
      });
      await post('gamma', { views: 3, subtitle: 'y', status: 'GONE' });
      const cases: Record<string, string[]> = {
        'title=beta': ['beta'],
        'title_eq=beta': ['beta'],
        'title_ne=beta': ['alpha', 'gamma'],
        'title_in=alpha,gamma': ['alpha', 'gamma'],
        'title_notIn=alpha': ['beta', 'gamma'],
        'title_contains=et': ['beta'],
        'title_startsWith=g': ['gamma'],
        'title_endsWith=a': ['alpha', 'beta', 'gamma'],
        'title_gt=b': ['beta', 'gamma'],
        'views=2': ['beta'],
        'views_gt=1': ['beta', 'gamma'],
        'views_gte=2&views_lt=3': ['beta'],
        'views_lte=1': ['alpha'],
        'views_in=1,3': ['alpha', 'gamma'],
        'published=true': ['alpha'],
        'published_isNull=true': ['gamma'],
        'subtitle_isNull=false': ['beta', 'gamma'],
        'subtitle_in=x&subtitle_in=y': ['beta', 'gamma'],
        'status=LIVE': ['alpha'],
        'status_in=LIVE,GONE': ['alpha', 'gamma'],
        'day_gt=2026-01-01': ['beta'],
        'price_gt=3': ['beta'],
        'hits=5': ['alpha'],
        'id=2': ['beta'],
        'id_in=1,3': ['alpha', 'gamma'],
        'id_gt=1': ['beta', 'gamma'],
        'id=x': [],
        'createdAt_lt=2000-01-01T00:00:00Z': [],
        'createdAt_gt=2000-01-01T00:00:00Z&title=beta': ['beta'],
      };
      for (const [query, expected] of Object.entries(cases))
        expect([query, await titles(query)]).toEqual([query, expected]);
      expect(await titles(`authorId=${author}&title=beta`)).toEqual(['beta']);
      expect(await titles('authorId=99')).toEqual([]);
    });

    it('counts only what the filter leaves', async () => {
      for (const title of ['aa', 'ab', 'ba']) await post(title);
      expect((await server.get('/api/posts?title_startsWith=a&limit=1')).body.pagination).toEqual({
        total: 2,
        page: 1,
        page_size: 1,
        total_pages: 2,
      });
    });

    it('takes a text for what it is, whatever stands in it', async () => {
      const title = `a,b'"%_\\ ${'é'.repeat(3)} --`;
      await post(title);
      expect(await titles(`title=${encodeURIComponent(title)}`)).toEqual([title]);
      expect(await titles(`title_in=${encodeURIComponent(title)}&title_in=other`)).toEqual([title]);
      expect(await titles('title_contains=%25%25')).toEqual([]);
    });

    it('embeds relations, and relations of those', async () => {
      const tag = (await server.call('POST', '/api/tags', { body: { label: 'red' } })).body.id;
      const { id } = await post('one', { tagIds: [tag] });
      await server.call('POST', '/api/comments', { body: { text: 'hi', postId: id } });
      const { body } = await server.get(
        '/api/posts?include=author,comments.post,tags&fields=title',
      );
      expect(body.data[0]).toEqual({
        id,
        title: 'one',
        author: {
          id: author,
          name: 'Ada',
          email: 'ada@x.test',
          age: null,
          home: { city: 'Rome', zip: null },
        },
        comments: [
          {
            id: '1',
            text: 'hi',
            postId: id,
            post: expect.objectContaining({ title: 'one', status: 'DRAFT' }),
          },
        ],
        tags: [{ id: tag, label: 'red' }],
      });
    });

    it('shows only the fields that are asked for, and the id', async () => {
      await post('one');
      expect((await server.get('/api/posts?fields=title,author.name')).body.data).toEqual([
        { id: '1', title: 'one', author: { id: author, name: 'Ada' } },
      ]);
      expect((await server.get('/api/posts?fields=views')).body.data).toEqual([
        { id: '1', views: 0 },
      ]);
      expect((await server.get('/api/posts?fields=id,tags')).body.data).toEqual([
        { id: '1', tags: [] },
      ]);
    });

    it.each([
      ['page=0', 'Invalid page number'],
      ['page=-1', 'Invalid page number'],
      ['page=x', 'Invalid page number'],
      ['page=1.5', 'Invalid page number'],
      ['page=', 'Invalid page number'],
      ['page=99999999999999999999', 'Invalid page number'],
      ['page=2000000000', 'Invalid page number'],
      ['page=1&page=2', 'Invalid page number'],
      ['limit=0', 'Invalid limit number'],
      ['limit=abc', 'Invalid limit number'],
      ['limit=101', 'Invalid limit number'],
      ['limit=1e2', 'Invalid limit number'],
      ['sort=title&order=up', "Invalid sort order. Use 'asc' or 'desc'"],
      ['order=', "Invalid sort order. Use 'asc' or 'desc'"],
      ['titel=x', 'Unknown query parameter: titel'],
      ['title_like=x&foo=1', 'Unknown query parameters: title_like, foo'],
      ['words=x', 'Unknown query parameter: words'],
      ['__proto__=1', 'Unknown query parameter: __proto__'],
      ['views=many', 'views is not a valid Int'],
      ['views=', 'views is not a valid Int'],
      ['views=1.5', 'views is not a valid Int'],
      ['views_in=1,x', 'views_in is not a valid Int'],
      ['views=99999999999', 'views is not a valid Int'],
      ['published=yes', 'published must be true or false'],
      ['status=NEW', 'status must be one of DRAFT, LIVE, GONE'],
      ['day=2026-02-30', 'day is not a valid Date'],
      ['createdAt_gt=yesterday', 'createdAt_gt is not a valid DateTime'],
      ['price=cheap', 'price is not a valid Decimal'],
      ['subtitle_isNull=1', 'subtitle_isNull must be true or false'],
      ['title=a&title=b', 'title is given more than once'],
      ['fields=nope', 'fields: Post has no field nope'],
      ['fields=author.nope', 'fields: Author has no field nope'],
      ['include=title', 'include: Post has no relation title'],
      ['include=nope', 'include: Post has no relation nope'],
      ['include=author{id}', 'include: "author{id}" is no name'],
      [
        'include=author.posts.author.posts.author.posts.author',
        'include: author.posts.author.posts.author.posts.author leads deeper than 6 levels',
      ],
    ])('refuses %s', async (query, error) => {
      const { status, body } = await server.get(`/api/posts?${query}`);
      expect([status, body]).toEqual([400, { error }]);
    });

    it('names the fields that it can sort by', async () => {
      const { status, body } = await server.get('/api/posts?sort=words');
      expect(status).toBe(400);
      expect(body.error).toMatch(/^Invalid sort field\. Use one of id, title, status/);
    });

    it('refuses what would come to too much', async () => {
      const { status, body } = await server.get(
        '/api/posts?limit=100&include=comments.post.comments.post.comments',
      );
      expect(status).toBe(400);
      expect(body.error).toMatch(
        /^the request may come to \d+ objects, 50000 are allowed: include less, or ask for a smaller limit$/,
      );
    });
  });

  describe('that gets one', () => {
    it('answers with the object and its ETag', async () => {
      const made = await post('one');
      const { status, body, headers } = await server.get('/api/posts/1');
      expect([status, body]).toEqual([200, made]);
      expect(headers.get('etag')).toMatch(/^"[\w-]{27}"$/);
      expect(headers.get('cache-control')).toBe('private');
      expect(headers.get('vary')).toContain('Authorization');
    });

    it('saves the body of what the client has already', async () => {
      await post('one');
      const tag = (await server.get('/api/posts/1')).headers.get('etag') as string;
      const same = await server.call('GET', '/api/posts/1', {
        headers: { 'if-none-match': `"other", W/${tag}` },
      });
      expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', tag]);
      expect(
        (await server.call('GET', '/api/posts/1', { headers: { 'if-none-match': '"other"' } }))
          .status,
      ).toBe(200);
      expect(
        (
          await server.call('GET', '/api/posts/1?fields=title', {
            headers: { 'if-none-match': tag },
          })
        ).status,
      ).toBe(200);
    });

    it('embeds and selects as a list does', async () => {
      await post('one');
      expect((await server.get('/api/posts/1?include=author&fields=title')).body).toEqual({
        id: '1',
        title: 'one',
        author: expect.objectContaining({ name: 'Ada' }),
      });
      expect((await server.get('/api/posts/1?title=x')).body).toEqual({
        error: 'Unknown query parameter: title',
      });
    });

    it('says which kind of thing is not there', async () => {
      const { status, body } = await server.get('/api/posts/77');
      expect([status, body]).toEqual([404, { error: 'Post not found' }]);
    });

    it.each(['x', '1x', '-1', '1.5', '%E0%A4%A', '99999999999999999999999', '1%3B2', '%00'])(
      'refuses the id %s',
      async (id) => {
        const { status, body } = await server.get(`/api/posts/${id}`);
        expect([status, body]).toEqual([400, { error: 'Invalid id format' }]);
      },
    );

    it('answers HEAD without a body', async () => {
      await post('one');
      const { status, text, headers } = await server.call('HEAD', '/api/posts/1');
      expect([status, text]).toEqual([200, '']);
      expect(headers.get('etag')).toMatch(/^"/);
    });
  });

  it('has no call that the schema does not have', async () => {
    const refused = await server.call('PATCH', '/api/authors/1', { body: {} });
    expect([refused.status, refused.body, refused.headers.get('allow')]).toEqual([
      405,
      { error: 'Method not allowed' },
      'GET, HEAD, DELETE, OPTIONS',
    ]);
    expect((await server.get('/api/comments')).headers.get('allow')).toBe('POST, OPTIONS');
    expect((await server.get('/api/comments/1')).status).toBe(404);
    expect((await server.get('/api/places')).status).toBe(404);
    expect((await server.get('/api/posts/1/comments')).status).toBe(404);
    expect((await server.call('OPTIONS', '/api/posts')).headers.get('allow')).toBe(
      'GET, HEAD, POST, OPTIONS',
    );
    expect(
      (
        await server.call('POST', '/api/comments', {
          body: { text: 'x', postId: (await post('one')).id },
        })
      ).headers.get('location'),
    ).toBeNull();
  });

  it('reads in one statement, whatever is embedded', async () => {
    await post('one');
    const count = async (path: string) => {
      server.statements();
      expect((await server.get(path)).status).toBe(200);
      return server.statements().length;
    };
    expect(await count('/api/posts')).toBe(1);
    expect(
      await count(
        '/api/posts?include=author.posts,comments,tags.posts&title_contains=o&sort=title&page=1&limit=4',
      ),
    ).toBe(1);
    expect(await count('/api/posts/1?include=author,comments.post')).toBe(1);
  });
});
