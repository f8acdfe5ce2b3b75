import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planRun } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { createServer, type Running } from '../../runtime/core/index.ts';
import { createDatabase } from '../engines/available.ts';
import { typecheck } from '../generator/project.ts';
import { databases } from '../graphql/harness.ts';
import { root } from '../source-files.ts';

const folder = join(root, 'examples/conduit');
const sources = readdirSync(join(folder, 'src'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(folder, 'src', name), 'utf8'));

// own-code.md §13, line 1
describe('Conduit', () => {
  it('is what a run of generate writes, and its types are right', async () => {
    const { changes, findings } = await planRun(folder, {}, disk);
    expect(findings.filter(({ severity }) => severity !== 'hint')).toEqual([]);
    expect(changes.filter(({ kind }) => kind !== 'same')).toEqual([]);
    expect(await typecheck(folder)).toEqual([]);
  });

  it('patches nothing, calls itself over HTTP nowhere, and adds no body parser', () => {
    for (const text of sources)
      expect(text).not.toMatch(/\bfetch\(|node:http|koa-body|bodyparser|busboy|@ts-|prototype/);
  });
});

describe.each(databases)('the API of Conduit on %s', (database) => {
  let running: Running;
  let drop = async () => {};
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    const made = database === 'postgres' ? await createDatabase() : null;
    if (made) drop = made.drop;
    const { app } = await import(join(folder, 'src/generated/app.ts'));
    running = await createServer(app).start('127.0.0.1:0', {
      env: {
        DATABASE_URL: made?.url ?? ':memory:',
        JWT_SECRET: 'a secret of the tests that is long enough',
        LOG_LEVEL: 'error',
      },
    });
    for (const name of ['ada', 'ben']) {
      const user = {
        username: name,
        email: `${name}@example.com`,
        password: `${name} likes looms 77`,
      };
      const { status, body } = await call('POST /api/users', { user });
      expect([status, body.user]).toMatchObject([201, { username: name, bio: null, image: null }]);
      tokens[name] = body.user.token;
    }
  });
  afterAll(async () => {
    await running?.close();
    await drop();
  });

  async function call(request: string, body?: unknown, as?: string) {
    const [method = 'GET', path = ''] = request.split(' ');
    const answer = await fetch(running.url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(as !== undefined && { authorization: `Token ${tokens[as] ?? as}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  }

  const newArticle = (title: string, tagList: readonly string[] = []) => ({
    article: { title, description: 'About it', body: 'All of it', tagList },
  });
  const publish = async (title: string, as = 'ada', tagList: readonly string[] = []) =>
    (await call('POST /api/articles', newArticle(title, tagList), as)).body.article;

  it('registers, signs in and shows the user', async () => {
    const taken = { username: 'ada2', email: 'ada@example.com', password: 'ada likes looms 78' };
    expect((await call('POST /api/users', { user: taken })).status).toBe(409);
    const empty = await call('POST /api/users', { user: { username: 'x' } });
    expect(empty.status).toBe(422);
    expect(empty.body.errors).toMatchObject({ email: ['is required'], password: ['is required'] });
    const user = { email: 'ada@example.com', password: 'ada likes looms 77' };
    const login = await call('POST /api/users/login', { user });
    expect(login).toMatchObject({ status: 200, body: { user: { username: 'ada' } } });
    const wrong = await call('POST /api/users/login', { user: { ...user, password: 'no' } });
    expect(wrong.status).toBe(401);
    expect((await call('GET /api/user', undefined, 'ada')).body.user).toEqual({
      email: 'ada@example.com',
      username: 'ada',
      bio: null,
      image: null,
      token: tokens['ada'],
    });
    expect((await call('GET /api/user')).status).toBe(401);
    expect((await call('GET /api/user', undefined, 'nonsense')).status).toBe(401);
  });

  it('changes the user, their password too', async () => {
    const change = { user: { bio: 'Weaves', image: 'http://images.example/a.png' } };
    expect((await call('PUT /api/user', change, 'ada')).body.user).toMatchObject(change.user);
    const password = 'ben likes steam 78';
    const changed = await call('PUT /api/user', { user: { password } }, 'ben');
    expect(changed.status).toBe(200);
    expect((await call('GET /api/user', undefined, 'ben')).status).toBe(401);
    tokens['ben'] = changed.body.user.token;
    expect((await call('GET /api/user', undefined, 'ben')).status).toBe(200);
    const user = { email: 'ben@example.com', password };
    expect((await call('POST /api/users/login', { user })).status).toBe(200);
  });

  it('shows profiles and follows people', async () => {
    const path = '/api/profiles/ada';
    const profile = { username: 'ada', bio: 'Weaves', image: 'http://images.example/a.png' };
    expect((await call(`GET ${path}`)).body).toEqual({ profile: { ...profile, following: false } });
    expect((await call(`POST ${path}/follow`)).status).toBe(401);
    const followed = { profile: { ...profile, following: true } };
    expect((await call(`POST ${path}/follow`, undefined, 'ben')).body).toEqual(followed);
    expect((await call(`POST ${path}/follow`, undefined, 'ben')).body).toEqual(followed);
    expect((await call(`GET ${path}`, undefined, 'ben')).body).toEqual(followed);
    expect((await call(`GET ${path}`)).body.profile.following).toBe(false);
    const left = await call(`DELETE ${path}/follow`, undefined, 'ben');
    expect(left.body.profile.following).toBe(false);
    expect((await call('GET /api/profiles/nobody')).status).toBe(404);
  });

  it('writes articles and protects those of others', async () => {
    const created = await call(
      'POST /api/articles',
      newArticle('The Loom', ['iron', 'steam']),
      'ada',
    );
    expect(created.status).toBe(201);
    const { article } = created.body;
    expect(article).toMatchObject({
      title: 'The Loom',
      tagList: ['iron', 'steam'],
      favorited: false,
      favoritesCount: 0,
      author: { username: 'ada', following: false },
    });
    expect(article.slug).toMatch(/^the-loom-[0-9a-f]{6}$/);
    expect(Date.parse(article.createdAt)).toBeGreaterThan(0);
    const path = `/api/articles/${article.slug}`;
    expect((await call(`GET ${path}`)).body.article).toEqual(article);
    const empty = await call('POST /api/articles', { article: { title: '' } }, 'ada');
    expect(empty.status).toBe(422);
    expect(Object.keys(empty.body.errors)).toEqual(expect.arrayContaining(['description', 'body']));
    expect((await call('POST /api/articles', newArticle('x'))).status).toBe(401);
    const change = { article: { body: 'Less of it', tagList: ['steam', 'wool'] } };
    expect((await call(`PUT ${path}`, change, 'ben')).status).toBe(403);
    expect((await call(`DELETE ${path}`, undefined, 'ben')).status).toBe(403);
    const changed = await call(`PUT ${path}`, change, 'ada');
    expect(changed.body.article).toMatchObject({ body: 'Less of it', slug: article.slug });
    expect(changed.body.article.tagList.toSorted()).toEqual(['steam', 'wool']);
    expect((await call('GET /api/tags')).body.tags).toEqual(['iron', 'steam', 'wool']);
    expect((await call(`DELETE ${path}`, undefined, 'ada')).status).toBe(204);
    expect((await call(`GET ${path}`)).status).toBe(404);
    expect((await call(`DELETE ${path}`, undefined, 'ada')).status).toBe(404);
  });

  it('lists articles by tag, author and favourite, newest first, with their number', async () => {
    const first = await publish('First', 'ada', ['order']);
    const second = await publish('Second', 'ben', ['order']);
    const path = `/api/articles/${first.slug}/favorite`;
    expect((await call(`POST ${path}`, undefined, 'ben')).body.article).toMatchObject({
      favorited: true,
      favoritesCount: 1,
    });
    const titles = async (query: string) => {
      const { body } = await call(`GET /api/articles?${query}`);
      return [body.articles.map(({ title }: { title: string }) => title), body.articlesCount];
    };
    expect(await titles('tag=order')).toEqual([['Second', 'First'], 2]);
    expect(await titles('tag=order&limit=1')).toEqual([['Second'], 2]);
    expect(await titles('tag=order&limit=1&offset=1')).toEqual([['First'], 2]);
    expect(await titles('author=ben')).toEqual([['Second'], 1]);
    expect(await titles('favorited=ben')).toEqual([['First'], 1]);
    expect(await titles('tag=none')).toEqual([[], 0]);
    const listed = (await call('GET /api/articles?tag=order', undefined, 'ben')).body.articles;
    expect(listed[1]).toMatchObject({ favorited: true, favoritesCount: 1 });
    expect(listed[1]).not.toHaveProperty('body');
    expect((await call('GET /api/articles?limit=many')).status).toBe(422);
    expect((await call(`DELETE ${path}`, undefined, 'ben')).body.article).toMatchObject({
      favorited: false,
      favoritesCount: 0,
    });
    await call('POST /api/profiles/ben/follow', undefined, 'ada');
    const feed = await call('GET /api/articles/feed', undefined, 'ada');
    expect(feed.body).toMatchObject({ articles: [{ slug: second.slug }], articlesCount: 1 });
    expect((await call('GET /api/articles/feed')).status).toBe(401);
  });

  it('comments, and lets nobody else remove a comment', async () => {
    const { slug } = await publish('Talked about');
    const path = `/api/articles/${slug}/comments`;
    const comment = { comment: { body: 'Well said' } };
    const made = await call(`POST ${path}`, comment, 'ben');
    expect(made).toMatchObject({
      status: 201,
      body: { comment: { body: 'Well said', author: { username: 'ben' } } },
    });
    const { id } = made.body.comment;
    expect(id).toEqual(expect.any(Number));
    expect((await call(`GET ${path}`)).body.comments).toEqual([made.body.comment]);
    expect((await call(`POST ${path}`, { comment: { body: '' } }, 'ben')).status).toBe(422);
    expect((await call(`POST ${path}`, comment)).status).toBe(401);
    expect((await call('POST /api/articles/none/comments', comment, 'ben')).status).toBe(404);
    expect((await call(`DELETE ${path}/${id}`, undefined, 'ada')).status).toBe(403);
    expect((await call(`DELETE ${path}/${id}`, undefined, 'ben')).status).toBe(204);
    expect((await call(`GET ${path}`)).body.comments).toEqual([]);
  });

  it('answers GraphQL under the same rules, and shows no address', async () => {
    const query = '{ user(username: "ada") { username email } }';
    const { body } = await call('POST /graphql', { query });
    expect(JSON.stringify(body)).not.toContain('ada@example.com');
  });
});
