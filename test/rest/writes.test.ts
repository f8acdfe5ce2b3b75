import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { changesOf, type Change } from '../../runtime/core/data/changes/changes.ts';
import { type Blog, startBlog } from './blog-server.ts';
import { databases } from './harness.ts';

describe.each(databases)('a REST module that is written to on %s', (database) => {
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

  describe('that creates', () => {
    it('answers 201 with the object and where it is', async () => {
      const { status, body, headers } = await server.call('POST', '/api/posts', {
        body: { title: 'one', authorId: Number(author) },
      });
      expect(status).toBe(201);
      expect(headers.get('location')).toBe('/api/posts/1');
      const read = await server.get(headers.get('location') as string);
      expect(body).toEqual(read.body);
      expect(headers.get('etag')).toBe(read.headers.get('etag'));
    });

    it('embeds in the answer what include names', async () => {
      const { body } = await server.call('POST', '/api/posts?include=author&fields=title', {
        body: { title: 'one', authorId: author },
      });
      expect(body).toEqual({
        id: '1',
        title: 'one',
        author: expect.objectContaining({ name: 'Ada' }),
      });
    });

    it.each([
      [{ authorId: '1' }, 'title is required'],
      [{ title: null, authorId: '1' }, 'title is required'],
      [{ title: 'one' }, 'authorId is required'],
      [{ title: 'o', authorId: '1' }, 'title must have at least 2 characters'],
      [{ title: 5, authorId: '1' }, 'title is not a valid String'],
      [{ title: 'one', authorId: '1', views: 'many' }, 'views is not a valid Int'],
      [{ title: 'one', authorId: '1', status: 'NEW' }, 'status must be one of DRAFT, LIVE, GONE'],
      [{ title: 'one', authorId: '1', day: '2026-13-01' }, 'day is not a valid Date'],
      [{ title: 'one', authorId: '1', words: ['a', 2] }, 'words.1 is not a valid String'],
      [{ title: 'one', authorId: '1', nope: 1 }, 'nope is not a known field'],
      [{ title: 'one', authorId: '1', input: {} }, 'input is not a known field'],
      [{ title: 'one', authorId: '1', id: 5 }, 'id is not a known field'],
      [[], 'The body must be a JSON object'],
      ['null', 'The body must be a JSON object'],
      ['{"title":', 'Invalid JSON'],
      ['', 'Invalid JSON'],
    ])('refuses %j', async (body, error) => {
      const answer = await server.call('POST', '/api/posts', { body });
      expect([answer.status, answer.body]).toEqual([400, { error }]);
      expect((await server.get('/api/posts')).body.pagination.total).toBe(0);
    });

    it('refuses arguments side by side in the same words', async () => {
      const send = async (body: object) =>
        (await server.call('POST', '/api/authors', { body })).body;
      expect(await send({ email: 'b@x.test' })).toEqual({ error: 'name is required' });
      expect(await send({ name: 'B', email: 'b@x.test', nope: 1 })).toEqual({
        error: 'nope is not a known field',
      });
      expect(await send({ name: 'B', email: 'b@x.test', home: { zip: '1' } })).toEqual({
        error: 'home.city is required',
      });
    });

    it('says 409 for what is there already, and 422 for a relation to nothing', async () => {
      const twice = await server.call('POST', '/api/authors', {
        body: { name: 'Bob', email: 'ada@x.test' },
      });
      expect([twice.status, twice.body]).toEqual([409, { error: 'email already exists' }]);
      const lost = await server.call('POST', '/api/posts', {
        body: { title: 'one', authorId: '99' },
      });
      expect([lost.status, lost.body]).toEqual([
        422,
        { error: 'authorId: there is no such Author' },
      ]);
      const tagged = await server.call('POST', '/api/posts', {
        body: { title: 'one', authorId: author, tagIds: ['5'] },
      });
      expect(tagged.status).toBe(422);
      expect((await server.get('/api/posts')).body.pagination.total).toBe(0);
    });

    it('takes JSON and nothing else', async () => {
      const as = async (type: string) =>
        (await server.call('POST', '/api/posts', { body: '{}', headers: { 'content-type': type } }))
          .status;
      expect(await as('text/plain')).toBe(415);
      expect(await as('application/x-www-form-urlencoded')).toBe(415);
      expect(await as('application/json; charset=latin1')).toBe(415);
      expect(await as('application/json; charset=utf-8')).toBe(400);
      expect(await as('application/merge-patch+json')).toBe(400);
    });

    it('bounds the size and the depth of a body', async () => {
      const large = await server.call('POST', '/api/posts', {
        body: { title: 'x'.repeat(1_100_000), authorId: author },
      });
      expect([large.status, large.body]).toEqual([413, { error: 'Request body too large' }]);
      const deep = await server.call('POST', '/api/posts', {
        body: `{"words":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      });
      expect([deep.status, deep.body]).toEqual([
        400,
        { error: 'The body is nested more than 64 levels deep' },
      ]);
      const wide = await server.call('POST', '/api/posts', {
        body: { title: 'one', authorId: author, words: Array.from({ length: 200_001 }, () => '') },
      });
      expect([wide.status, wide.body]).toEqual([
        400,
        { error: 'The body has more than 200000 values: send it in several requests' },
      ]);
    });
  });

  describe.each(['PATCH', 'PUT'])('that updates by %s', (method) => {
    it('leaves what is absent and empties what is null', async () => {
      await post('one', { subtitle: 'old', score: 1 });
      const { status, body, headers } = await server.call(method, '/api/posts/1', {
        body: { subtitle: null, views: 3 },
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ title: 'one', subtitle: null, views: 3, score: 1 });
      expect((await server.get('/api/posts/1')).headers.get('etag')).toBe(headers.get('etag'));
    });

    it('takes back the id of the object, and no other', async () => {
      await post('one');
      expect(
        (await server.call(method, '/api/posts/1', { body: { id: '1', title: 'new' } })).body.title,
      ).toBe('new');
      const other = await server.call(method, '/api/posts/1', { body: { id: '2', title: 'bad' } });
      expect([other.status, other.body]).toEqual([400, { error: 'id is not the one in the path' }]);
    });

    it('refuses what is wrong', async () => {
      await post('one');
      const send = async (body: object, path = '/api/posts/1') => {
        const answer = await server.call(method, path, { body });
        return [answer.status, answer.body.error];
      };
      expect(await send({ title: 'x' })).toEqual([400, 'title must have at least 2 characters']);
      expect(await send({ title: null })).toEqual([400, 'title is required']);
      expect(await send({ createdAt: '2026-01-01T00:00:00Z' })).toEqual([
        400,
        'createdAt is not a known field',
      ]);
      expect(await send({ authorId: '99' })).toEqual([422, 'authorId: there is no such Author']);
      expect(await send({ title: 'two' }, '/api/posts/9')).toEqual([404, 'Post not found']);
      expect(await send({ title: 'two' }, '/api/posts/x')).toEqual([400, 'Invalid id format']);
    });

    it('does so only to the object that the client saw', async () => {
      await post('one');
      const tag = (await server.get('/api/posts/1')).headers.get('etag') as string;
      const first = await server.call(method, '/api/posts/1', {
        body: { title: 'mine' },
        headers: { 'if-match': tag },
      });
      expect(first.status).toBe(200);
      const second = await server.call(method, '/api/posts/1', {
        body: { title: 'yours' },
        headers: { 'if-match': tag },
      });
      expect([second.status, second.body]).toEqual([412, { error: 'It was changed since' }]);
      expect((await server.get('/api/posts/1')).body.title).toBe('mine');
      expect(
        (
          await server.call(method, '/api/posts/1', {
            body: { title: 'any' },
            headers: { 'if-match': '*' },
          })
        ).status,
      ).toBe(200);
      expect(
        (
          await server.call(method, '/api/posts/1', {
            body: { title: 'weak' },
            headers: { 'if-match': `W/${first.headers.get('etag')}` },
          })
        ).status,
      ).toBe(412);
      expect(
        (
          await server.call(method, '/api/posts/9', {
            body: { title: 'none' },
            headers: { 'if-match': '"x"' },
          })
        ).status,
      ).toBe(404);
    });

    it('lets one of many win that saw the same object', async () => {
      await post('one');
      const tag = (await server.get('/api/posts/1')).headers.get('etag') as string;
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          server.call(method, '/api/posts/1', {
            body: { title: `by ${index}` },
            headers: { 'if-match': tag },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        200, 412, 412, 412, 412, 412, 412, 412,
      ]);
    });
  });

  describe('that removes', () => {
    it('answers 204, and 404 the second time', async () => {
      await post('one');
      const { status, text } = await server.call('DELETE', '/api/posts/1');
      expect([status, text]).toEqual([204, '']);
      const again = await server.call('DELETE', '/api/posts/1');
      expect([again.status, again.body]).toEqual([404, { error: 'Post not found' }]);
    });

    it('keeps what something else needs', async () => {
      await post('one');
      const { status, body } = await server.call('DELETE', `/api/authors/${author}`);
      expect([status, body]).toEqual([409, { error: 'a related row is still in use' }]);
    });

    it('looks at If-Match', async () => {
      await post('one');
      expect(
        (await server.call('DELETE', '/api/posts/1', { headers: { 'if-match': '"x"' } })).status,
      ).toBe(412);
      const tag = (await server.get('/api/posts/1')).headers.get('etag') as string;
      expect(
        (await server.call('DELETE', '/api/posts/1', { headers: { 'if-match': tag } })).status,
      ).toBe(204);
    });
  });

  it('tells of its changes like a mutation', async () => {
    const changes: Change[] = [];
    const end = changesOf(server.store).subscribe((change) => void changes.push(change as Change));
    await post('one');
    await server.call('PATCH', '/api/posts/1', { body: { title: 'two' } });
    await server.call('DELETE', '/api/posts/1');
    end();
    expect(changes.map(({ entity, kind, id }) => `${entity} ${kind} ${id}`)).toEqual([
      'Post created 1',
      'Post updated 1',
      'Post deleted 1',
    ]);
    expect(changes[2]?.row).toMatchObject({ title: 'two' });
  });
});
