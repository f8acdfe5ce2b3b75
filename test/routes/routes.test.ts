import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import * as v from 'valibot';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AppError, failure } from '../../runtime/core/errors.ts';
import { databases } from '../graphql/harness.ts';
import { closeAll, serveRoutes } from './harness.ts';

afterEach(closeAll);

describe('the answer of an own route', () => {
  it('is what its function returns, or ctx.body, or 204', async () => {
    const { ask } = await serveRoutes((router) => {
      router.get('/returned', () => ({ a: 1 }));
      router.get('/body', (ctx) => {
        ctx.status = 201;
        ctx.body = { b: 2 };
      });
      router.get('/nothing', () => {});
      router.get('/null', () => null);
      router.get('/async', async () => 'text');
      router.get('/first', (ctx) => ctx.throw(418, 'short'));
    });
    expect(await ask('GET /returned')).toMatchObject({ status: 200, body: { a: 1 } });
    expect(await ask('GET /body')).toMatchObject({ status: 201, body: { b: 2 } });
    expect(await ask('GET /nothing')).toMatchObject({ status: 204, body: '' });
    expect(await ask('GET /null')).toMatchObject({ status: 204, body: '' });
    expect(await ask('GET /async')).toMatchObject({ status: 200, body: 'text' });
    expect(await ask('GET /first')).toMatchObject({ status: 418, body: { error: 'short' } });
  });

  it('comes from the next function that matches, and is 404 when none has one', async () => {
    const { ask } = await serveRoutes((router) => {
      router.get('/a/:x', (_ctx, next) => next());
      router.get('/a/b', () => 'b');
    });
    expect((await ask('GET /a/b')).body).toBe('b');
    expect((await ask('GET /a/c')).status).toBe(404);
    expect((await ask('POST /a/b')).status).toBe(405);
  });

  it('has the headers that protect browsers', async () => {
    const { ask } = await serveRoutes((router) => void router.get('/a', () => 'a'));
    expect((await ask('GET /a')).headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('the body of an own route', () => {
  it('is checked against an input type of the schema, with every problem in one answer', async () => {
    const { ask } = await serveRoutes((router) => {
      router.post('/login', { body: 'Wrapped' }, (ctx) => ctx.request.body);
    });
    expect(
      (await ask('POST /login', { body: { user: { email: 'a', password: 'b' } } })).body,
    ).toEqual({
      user: { email: 'a', password: 'b', remember: false },
    });
    const wrong = await ask('POST /login', { body: { user: { email: 1, x: 2 }, tags: [3] } });
    expect(wrong.status).toBe(400);
    expect(wrong.body.error).toBe('user.email is not a valid String');
    expect(wrong.body.extensions.errors.map(({ field }: { field: string }) => field)).toEqual([
      'user.email',
      'user.password',
      'user.x',
      'tags.0',
    ]);
    expect((await ask('POST /login')).body.error).toBe('user is required');
  });

  it('is checked against @constraint too, wherever it stands, together with the types', async () => {
    let calls = 0;
    const { ask } = await serveRoutes((router) => {
      router.post('/signup', { body: 'Signup' }, (ctx) => ((calls += 1), ctx.request.body));
      router.get('/signup', { query: 'Signup' }, (ctx) => ctx.query);
    });
    const self = { email: 'no', tags: ['a', 'b', 'c'], age: 18 };
    const body = { email: 'a@b.example', tags: ['longer'], age: 17, self, more: 1 };
    const wrong = await ask('POST /signup', { body });
    expect([wrong.status, calls]).toEqual([400, 0]);
    expect(wrong.body.extensions.errors).toEqual([
      { field: 'tags', message: 'tags must have at most 5 characters' },
      { field: 'age', message: 'age must be at least 18' },
      { field: 'self.email', message: 'self.email must be a valid email' },
      { field: 'self.tags', message: 'self.tags must have at most 2 items' },
      { field: 'more', message: 'more is not a known field' },
    ]);
    expect((await ask('GET /signup?email=a@b.example&age=17')).body.error).toBe(
      'age must be at least 18',
    );
    const right = { email: 'a@b.example', tags: ['a'], age: 18 };
    expect((await ask('POST /signup', { body: right })).body).toEqual(right);
    expect(calls).toBe(1);
  });

  it('may be a form, whose text is coerced', async () => {
    const { ask } = await serveRoutes((router) => {
      router.post('/page', { body: 'Page' }, (ctx) => ctx.request.body);
    });
    const type = 'application/x-www-form-urlencoded';
    const { body } = await ask('POST /page', { type, body: 'limit=3&kinds=NEWS&draft=true' });
    expect(body).toEqual({ limit: 3, offset: 0, kinds: ['NEWS'], draft: true });
  });

  it('is checked by zod and by valibot, which are no dependency of the server', async () => {
    const { ask } = await serveRoutes((router) => {
      const zod = z.strictObject({ email: z.email(), age: z.coerce.number().min(18) });
      router.post('/zod', { body: zod }, (ctx) => ({ age: ctx.request.body.age + 1 }));
      const valibot = v.strictObject({ name: v.pipe(v.string(), v.minLength(2)) });
      router.post('/valibot', { body: valibot }, (ctx) => ctx.request.body.name);
    });
    expect((await ask('POST /zod', { body: { email: 'a@b.example', age: '40' } })).body).toEqual({
      age: 41,
    });
    const wrong = await ask('POST /zod', { body: { email: 'x', age: 2 } });
    expect(wrong.status).toBe(400);
    expect(wrong.body.extensions.errors).toMatchObject([{ field: 'email' }, { field: 'age' }]);
    expect((await ask('POST /valibot', { body: { name: 'Ada' } })).body).toBe('Ada');
    expect((await ask('POST /valibot', { body: { name: 'A' } })).status).toBe(400);
  });

  it('is a Buffer with raw, and parsed as it is without an option', async () => {
    const { ask } = await serveRoutes((router) => {
      router.post('/raw', { body: 'raw' }, (ctx) => ({
        bytes: Buffer.isBuffer(ctx.request.body) && ctx.request.body.toString('hex'),
      }));
      router.post('/any', (ctx) => ({ got: ctx.request.body ?? null }));
    });
    expect((await ask('POST /raw', { body: '{"a" :1}' })).body).toEqual({
      bytes: Buffer.from('{"a" :1}').toString('hex'),
    });
    expect((await ask('POST /any', { body: { a: [1] } })).body).toEqual({ got: { a: [1] } });
    expect((await ask('POST /any')).body).toEqual({ got: null });
    const form = { type: 'application/x-www-form-urlencoded', body: 'a=1&a=2&b=x' };
    expect((await ask('POST /any', form)).body).toEqual({ got: { a: ['1', '2'], b: 'x' } });
  });

  it('is refused when it is too large, no JSON, compressed, or of another type', async () => {
    const manifest = 'server: { body_limit: 100B }';
    const { ask } = await serveRoutes(
      (router) => {
        router.post('/any', (ctx) => ctx.request.body);
        router.post('/raw', { body: 'raw' }, () => 'ok');
        router.post('/login', { body: 'LoginBody' }, () => 'ok');
      },
      { manifest },
    );
    const long = { a: 'x'.repeat(200) };
    for (const path of ['/any', '/raw', '/login'])
      expect(await ask(`POST ${path}`, { body: long })).toMatchObject({
        status: 413,
        body: { error: 'Request body too large' },
      });
    for (const body of ['{', '{"__proto__":{}}'])
      expect(await ask('POST /any', { body })).toMatchObject({
        status: 400,
        body: { error: 'Invalid JSON' },
      });
    const gzip = { body: {}, headers: { 'content-encoding': 'gzip' } };
    expect((await ask('POST /any', gzip)).status).toBe(415);
    expect((await ask('POST /login', { body: 'x', type: 'text/plain' })).status).toBe(415);
    const form = new FormData();
    form.set('a', 'b');
    expect((await ask('POST /any', { body: form })).status).toBe(415);
  });
});

describe('the query of an own route', () => {
  it('is coerced to its input type, and what is unknown is refused', async () => {
    const { ask } = await serveRoutes((router) => {
      router.get('/list', { query: 'Page' }, (ctx) => ctx.query);
      router.get('/zod', { query: z.object({ n: z.coerce.number() }) }, (ctx) => ctx.query.n + 1);
    });
    expect((await ask('GET /list?limit=5&kinds=NEWS&kinds=STORY')).body).toEqual({
      limit: 5,
      offset: 0,
      kinds: ['NEWS', 'STORY'],
    });
    const wrong = await ask('GET /list?limit=many&colour=red');
    expect(wrong.status).toBe(400);
    expect(wrong.body.extensions.errors).toEqual([
      { field: 'limit', message: 'limit is not a valid Int' },
      { field: 'colour', message: 'colour is not a known field' },
    ]);
    expect((await ask('GET /zod?n=1')).body).toBe(2);
  });
});

describe('an error of an own route', () => {
  it('keeps status, text and headers when the caller may see it, and is masked when not', async () => {
    const { ask, lines } = await serveRoutes((router) => {
      router.get('/app', () => {
        throw failure.conflict('taken', { headers: { 'X-Why': 'name' } });
      });
      router.get('/koa', (ctx) => ctx.throw(403, 'No entry', { headers: { 'X-Why': 'closed' } }));
      router.get('/assert', (ctx) => {
        // A statement, which TypeScript takes for an assertion where the function is one.
        ctx.assert(false, 402, 'Pay first');
      });
      router.get('/exposed', (ctx) => ctx.throw(503, 'Back at noon', { expose: true }));
      router.get('/hidden', (ctx) => ctx.throw(409, 'secret', { expose: false }));
      router.get('/bug', () => {
        throw new Error('secret bug', { cause: new Error('secret cause') });
      });
    });
    const app = await ask('GET /app');
    expect(app).toMatchObject({ status: 409, body: { error: 'taken' } });
    expect(app.headers.get('x-why')).toBe('name');
    const koa = await ask('GET /koa');
    expect(koa).toMatchObject({ status: 403, body: { error: 'No entry' } });
    expect(koa.headers.get('x-why')).toBe('closed');
    expect(await ask('GET /assert')).toMatchObject({ status: 402, body: { error: 'Pay first' } });
    expect(await ask('GET /exposed')).toMatchObject({
      status: 503,
      body: { error: 'Back at noon' },
    });
    expect(await ask('GET /hidden')).toMatchObject({ status: 409, body: { error: 'Conflict' } });
    expect(await ask('GET /bug')).toMatchObject({
      status: 500,
      body: { error: 'Internal server error' },
    });
    expect(lines.join('')).toContain('secret bug');
    expect(lines.join('')).toContain('secret cause');
  });

  it('is caught by a router.use above it, also one of reading and checking', async () => {
    const { ask } = await serveRoutes((router) => {
      router.use(async (ctx, next) => {
        try {
          await next();
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          ctx.status = 422;
          ctx.body = { errors: { body: [error.message] } };
        }
      });
      router.post('/login', { body: 'LoginBody' }, () => 'ok');
    });
    expect(await ask('POST /login', { body: '{' })).toMatchObject({
      status: 422,
      body: { errors: { body: ['Invalid JSON'] } },
    });
    expect((await ask('POST /login', { body: { email: 'a' } })).body).toEqual({
      errors: { body: ['password is required'] },
    });
  });

  it('of a stream before its first byte is 404 for a missing file, and else a masked 500', async () => {
    const { ask } = await serveRoutes((router) => {
      router.get('/missing', () => createReadStream('/nowhere/at/all'));
      router.get('/late', async (ctx) => {
        ctx.body = createReadStream('/nowhere/at/all');
        await new Promise((resolve) => setTimeout(resolve, 20));
      });
      router.get(
        '/fails',
        () =>
          new Readable({
            read() {
              this.destroy(new Error('secret'));
            },
          }),
      );
      router.get('/empty', () => Readable.from([]));
      router.get('/file', () => createReadStream(new URL(import.meta.url)));
    });
    for (const path of ['/missing', '/late'])
      expect(await ask(`GET ${path}`)).toMatchObject({ status: 404, body: { error: 'Not found' } });
    expect(await ask('GET /fails')).toMatchObject({
      status: 500,
      body: { error: 'Internal server error' },
    });
    expect(await ask('GET /empty')).toMatchObject({ status: 200, body: '' });
    expect((await ask('GET /file')).body).toContain('createReadStream');
  });
});

describe.each(databases)('an own route on %s', (database) => {
  it('reads and writes rows, and undoes them with its error', async () => {
    const { ask } = await serveRoutes(
      (router) => {
        router.post('/articles', { body: 'NewArticle' }, (ctx) =>
          ctx.transaction(async () => {
            const article = await ctx.data.article.create({ data: ctx.request.body });
            if (article.title === 'Teapot') ctx.throw(418, 'no coffee');
            return article;
          }),
        );
        router.get('/articles/:slug', (ctx) =>
          ctx.data.article.findUnique({ where: { slug: ctx.params.slug } }),
        );
      },
      { database },
    );
    const post = (slug: string, title: string) =>
      ask('POST /articles', { body: { slug, title } }).then(({ status, body }) => [status, body]);
    const made = [200, { id: expect.anything(), slug: 'a', title: 'A' }];
    expect(await post('a', 'A')).toEqual(made);
    expect(await post('a', 'Again')).toEqual([409, { error: 'slug already exists' }]);
    expect(await post('b', 'Teapot')).toEqual([418, { error: 'no coffee' }]);
    expect((await ask('GET /articles/a')).body).toEqual(made[1]);
    expect((await ask('GET /articles/b')).status).toBe(204);
  });

  it('comes first: it answers instead of a generated one, and the start says so', async () => {
    const { ask, lines } = await serveRoutes(
      (router) => {
        router.get('/api/articles/:slug', (ctx) => ({ own: ctx.params.slug }));
        router.get('/api/{*rest}', (_ctx, next) => next());
      },
      { manifest: 'api: { rest: true }', database },
    );
    expect((await ask('GET /api/articles/7')).body).toEqual({ own: '7' });
    expect((await ask('GET /api/articles')).body).toMatchObject({ data: [] });
    expect((await ask('GET /api/health')).body).toMatchObject({ status: 'ok' });
    const warnings = lines.filter((line) => line.includes('answers instead'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('GET /api/articles/:slug');
    expect(warnings[0]).toContain('GET /api/articles/:id');
  });
});

describe('own routes and those of the server', () => {
  it.each(['/graphql', '/api/auth/login', '/api/oauth/x', '/api/health', '/api/system/jobs'])(
    'cannot take the fixed path %s: the server does not start and names the route',
    async (path) => {
      const started = serveRoutes((router) => void router.post(path, () => 'mine'));
      await expect(started).rejects.toThrow(`POST ${path}`);
    },
  );

  it('leave a fixed path to the server when a parameter would match it', async () => {
    const { ask } = await serveRoutes((router) => {
      router.all('/{*path}', () => 'a page');
    });
    expect((await ask('GET /about')).body).toBe('a page');
    expect((await ask('GET /api/health')).body).toMatchObject({ status: 'ok' });
    const query = { body: { query: '{ articles { id } }' } };
    expect((await ask('POST /graphql', query)).body).toEqual({ data: { articles: [] } });
  });

  it.each([
    [{ body: 'Nothing' }, 'no input type Nothing'],
    [{ limit: 'often' }, '20/1m'],
    [{ body: 'raw', upload: true }, 'body or upload'],
  ])('with wrong options %j stop the start', async (options, text) => {
    const started = serveRoutes((router) => void router.post('/x', options as object, () => 1));
    await expect(started).rejects.toThrow(text);
  });
});

describe('a limit of an own route', () => {
  it('refuses what is above it, with 429 and Retry-After', async () => {
    const { ask } = await serveRoutes((router) => {
      router.get('/few', { limit: '2/1m' }, () => 'ok');
      router.get('/other', { limit: '2/1m' }, () => 'ok');
    });
    const statuses = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await ask('GET /few')).status);
    expect(statuses).toEqual([200, 200, 429]);
    expect((await ask('GET /few')).headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await ask('GET /other')).status).toBe(200);
  });
});

describe('middleware before authentication', () => {
  it('runs for GraphQL, REST and routes, inside the error boundary and after the request id', async () => {
    const seen: string[] = [];
    const { ask } = await serveRoutes((router) => void router.get('/own', () => 'own'), {
      manifest: 'api: { rest: true }',
      before: async (ctx, next) => {
        seen.push(`${ctx.path} ${ctx.principal.kind} ${ctx.id.length > 0}`);
        if (ctx.path === '/closed') throw failure.forbidden('closed');
        await next();
      },
    });
    await ask('GET /own');
    await ask('GET /api/articles');
    await ask('POST /graphql', { body: { query: '{ __typename }' } });
    expect(await ask('GET /closed')).toMatchObject({ status: 403, body: { error: 'closed' } });
    expect(seen).toEqual([
      '/own anonymous true',
      '/api/articles anonymous true',
      '/graphql anonymous true',
      '/closed anonymous true',
    ]);
  });
});

describe('the served OpenAPI document', () => {
  it('has own routes with parameters, body and answer as declared', async () => {
    const { ask } = await serveRoutes(
      (router) => {
        const options = {
          body: 'LoginBody',
          query: 'Page',
          response: 'Article',
          summary: 'Signs in',
          tags: ['sign-in'],
          auth: 'user',
        } as const;
        router.post('/api/own/:slug', options, () => 'ok');
        router.post('/api/signup', { body: 'Signup' }, () => 'ok');
        router.post('/api/zod', { body: z.object({ n: z.number() }) }, () => 'ok');
      },
      { manifest: 'api: { rest: true }' },
    );
    const { paths } = (await ask('GET /api/openapi.json')).body;
    const { post } = paths['/api/own/{slug}'];
    expect(post).toMatchObject({ summary: 'Signs in', tags: ['sign-in'] });
    expect(post.parameters.map(({ name }: { name: string }) => name)).toEqual([
      'slug',
      'limit',
      'offset',
      'kinds',
      'draft',
    ]);
    const { schema } = post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['email', 'password']);
    const signup = paths['/api/signup'].post.requestBody.content['application/json'].schema;
    expect(signup.properties).toMatchObject({
      email: { type: 'string', format: 'email' },
      tags: { type: 'array', maxItems: 2, items: { type: 'string', maxLength: 5 } },
      age: { type: 'integer', minimum: 18 },
    });
    expect(post.responses[200].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Article',
    });
    expect(Object.keys(post.responses)).toEqual(['200', '400', '401', '403', '413', '415']);
    expect(
      paths['/api/zod'].post.requestBody.content['application/json'].schema.properties,
    ).toMatchObject({ n: { type: 'number' } });
  });

  it('has them without REST too, and leaves its own path to a route of the project', async () => {
    const { ask } = await serveRoutes((router) => {
      router.post('/login', { body: 'LoginBody' }, () => 'ok');
      router.get('/api', () => 'mine');
    });
    const { paths } = (await ask('GET /api/openapi.json')).body;
    const { schema } = paths['/login'].post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['email', 'password']);
    expect(Object.keys(paths)).not.toContain('/api/articles');
    expect((await ask('GET /api')).body).toBe('mine');
  });
});
