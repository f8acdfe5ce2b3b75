import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Blog, startBlog } from './blog-server.ts';
import { databases } from './harness.ts';
import { sendRaw, wireText } from './hostile.ts';

describe.each(databases)('HTTP as REST speaks it on %s', (database) => {
  let blog: Blog;
  let server: Blog['server'];
  beforeAll(async () => void ({ server } = blog = await startBlog(database)));
  beforeEach(() => blog.reset());
  afterAll(() => server.close());

  it('is JSON, whatever Accept and Prefer say', async () => {
    await blog.post('one');
    for (const headers of [
      { accept: 'text/html' },
      { accept: 'application/xml;q=1, */*;q=0' },
      { accept: 'nonsense' },
      { prefer: 'return=minimal' },
      { 'accept-encoding': 'x-none' },
    ]) {
      const {
        status,
        headers: given,
        body,
      } = await server.call('GET', '/api/posts/1', { headers });
      expect([headers, status, given.get('content-type'), body?.title]).toEqual([
        headers,
        200,
        'application/json; charset=utf-8',
        'one',
      ]);
    }
  });

  it('has HEAD for whatever has GET, with the same headers and no body', async () => {
    await blog.post('one');
    for (const path of [
      '/api/posts',
      '/api/posts/1',
      '/api/posts?limit=1&include=author',
      '/api/posts/9',
      '/api/posts?page=0',
      '/api/nothing',
    ]) {
      const [head, get] = [await server.call('HEAD', path), await server.call('GET', path)];
      const shown = ({ status, headers }: typeof get) => [
        path,
        status,
        headers.get('content-type'),
        headers.get('content-length'),
        headers.get('etag'),
        headers.get('cache-control'),
      ];
      expect([shown(head), head.text]).toEqual([shown(get), '']);
    }
  });

  it('says what it allows, to OPTIONS and with every 405', async () => {
    const allowed = async (method: string, path: string) => {
      const answer = await server.call(method, path);
      return [answer.status, answer.headers.get('allow'), answer.body];
    };
    expect(await allowed('OPTIONS', '/api/posts')).toEqual([204, 'GET, HEAD, POST, OPTIONS', null]);
    expect(await allowed('OPTIONS', '/api/posts/1')).toEqual([
      204,
      'GET, HEAD, PATCH, PUT, DELETE, OPTIONS',
      null,
    ]);
    expect(await allowed('DELETE', '/api/posts')).toEqual([
      405,
      'GET, HEAD, POST, OPTIONS',
      { error: 'Method not allowed' },
    ]);
    expect(await allowed('PROPFIND', '/api/posts/1')).toEqual([
      405,
      'GET, HEAD, PATCH, PUT, DELETE, OPTIONS',
      { error: 'Method not allowed' },
    ]);
  });

  it('pages through everything once, whatever the order is', async () => {
    for (let index = 0; index < 23; index++)
      await blog.post(`post ${index % 4}`, { score: index % 3 === 0 ? null : index % 5 });
    for (const order of [
      '',
      '&sort=title',
      '&sort=score&order=desc',
      '&sort=score',
      '&order=desc',
    ]) {
      const first = await server.get(`/api/posts?limit=5${order}`);
      const pages = await Promise.all(
        Array.from({ length: first.body.pagination.total_pages + 1 }, (_, index) =>
          server.get(`/api/posts?limit=5&page=${index + 1}${order}`),
        ),
      );
      expect([order, pages.map(({ body }) => body.data.length)]).toEqual([
        order,
        [5, 5, 5, 5, 3, 0],
      ]);
      expect([
        order,
        new Set(pages.flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id))).size,
      ]).toEqual([order, 23]);
    }
  });

  it('takes text of any characters, and refuses the one that a database cannot keep', async () => {
    for (const title of [
      '\u{1f3f3}\ufe0f\u200d\u{1f308}',
      'e\u0301',
      '\u202eabc',
      'a\tb\r\n',
      '\ufeffx',
      "'; drop table posts; --",
      '\uffff\ufffd',
    ]) {
      const made = await blog.post(title);
      expect([
        title,
        made.title,
        (await server.get(`/api/posts?title=${encodeURIComponent(title)}`)).body.data.map(
          ({ id }: { id: string }) => id,
        ),
      ]).toEqual([title, title, [made.id]]);
    }
    const nul = await server.call('POST', '/api/posts', {
      body: { title: 'a\u0000b', authorId: blog.author },
    });
    if (nul.status === 201)
      expect((await server.get(`/api/posts/${nul.body.id}`)).body.title).toBe('a\u0000b');
    else
      expect([nul.status, nul.body]).toEqual([
        422,
        { error: 'a value is out of range or not of its type' },
      ]);
    const asked = await server.get('/api/posts?title=a%00b');
    expect([asked.status < 500, asked.body]).toEqual([true, expect.anything()]);
  });

  it('knows no member that its objects do not have, though JavaScript has it', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype']) {
      const body = `{"title":"one","authorId":"${blog.author}","${name}":{"polluted":true}}`;
      const made = await server.call('POST', '/api/posts', { body });
      expect([name, made.status, made.body]).toEqual([
        name,
        400,
        { error: `${name} is not a known field` },
      ]);
      for (const query of [
        `${name}=1`,
        `sort=${name}`,
        `fields=${name}`,
        `include=${name}`,
        `${name}_eq=1`,
      ])
        expect([query, (await server.get(`/api/posts?${query}`)).status]).toEqual([query, 400]);
      expect((await server.get(`/api/${name}`)).status).toBe(404);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('reads a body that comes in pieces, and none that stops in the middle', async () => {
    const chunked = (text: string) =>
      `POST /api/tags HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${text}`;
    expect(
      await sendRaw(server.url, chunked('5\r\n{"lab\r\n9\r\nel":"red"\r\n1\r\n}\r\n0\r\n\r\n')),
    ).toMatchObject({ status: 201 });
    const large = await sendRaw(
      server.url,
      wireText({
        method: 'POST',
        target: '/api/tags',
        headers: ['Content-Type: application/json'],
        body: `{"label":"${'x'.repeat(1 << 20)}"}`,
      }),
    );
    expect(large).toMatchObject({ status: 413, body: '{"error":"Request body too large"}' });
    expect((await server.get('/api/tags')).body.pagination.total).toBe(1);
  });
});
