import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { createLog } from '../../runtime/core/config/log.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../../runtime/core/errors.ts';
import { clientIp, requestContext } from '../../runtime/core/http/request-context.ts';
import { errorBoundary } from '../../runtime/core/http/error-boundary.ts';
import { validator } from '../../runtime/auth/base/validator.ts';
import { type Guards, mountRoutes } from '../../runtime/core/http/mount.ts';
import { bindRoutes, reply } from '../../runtime/core/http/route.ts';
import type { Kernel } from '../../runtime/core/module.ts';

const base = { tag: 'test', summary: 'a test', responses: {} } as const;
const schema = {
  type: 'object',
  required: ['email'],
  properties: {
    email: { type: 'string' },
    age: { type: 'integer', minimum: 1 },
    kind: { enum: ['a', 'b'] },
  },
} as const;
const specs = [
  {
    ...base,
    id: 'open',
    method: 'GET',
    path: '/open/:name',
    access: 'public',
    query: { tail: { type: 'integer', default: 100 } },
  },
  { ...base, id: 'closed', method: 'GET', path: '/closed', access: 'nobody' },
  {
    ...base,
    id: 'save',
    method: 'POST',
    path: '/save',
    access: 'public',
    body: { kind: 'json', schema, limit: 100 },
  },
  { ...base, id: 'bug', method: 'GET', path: '/bug', access: 'public' },
  { ...base, id: 'rest', method: 'GET', path: '/files/*path', access: 'public' },
] as const;

const lines: string[] = [];
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const log = createLog({ level: 'info' }, { write: (line) => void lines.push(line) });
  const kernel = { project: { server: { trustedProxies: [] } }, log } as unknown as Kernel;
  const router = new Router();
  const routes = bindRoutes(specs, {
    open: ({ params, query, context }) =>
      reply(200, { ...params, ...query, id: context.id }, { 'X-Extra': 'yes' }),
    closed: () => reply(200),
    save: ({ body }) => reply(201, body),
    bug: () => {
      throw new Error('the password is hunter2');
    },
    rest: ({ params }) => reply(200, params),
  });
  const guards: Guards = {
    nobody: () => {
      throw failure.unauthenticated(undefined, { headers: { 'WWW-Authenticate': 'Bearer' } });
    },
  };
  mountRoutes(router, routes, guards, validator);
  const koa = new Koa();
  koa.use(errorBoundary(log)).use(requestContext(kernel));
  koa.use(ownRoutes());
  koa.use(router.routes() as never).use(router.allowedMethods() as never);
  const server = createServer(koa.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => new Promise((resolve) => void server.close(() => resolve()));
});

afterAll(async () => close());

/** Routes as people write them, with what Koa offers for errors. */
function ownRoutes(): Koa.Middleware {
  const own = new Router();
  own.get('/own/entry', (ctx) => ctx.throw(403, 'No entry'));
  own.get('/own/sign-in', (ctx) => ctx.assert(null, 401, 'Sign in', realm));
  own.get('/own/hidden', (ctx) => ctx.throw(409, 'a secret', { expose: false }));
  own.get('/own/later', (ctx) => ctx.throw(503, 'the key is hunter2', { headers: retry }));
  own.get('/own/slow', () => {
    throw Object.assign(new Error('canceling statement due to statement timeout'), {
      severity: 'ERROR',
      code: '57014',
    });
  });
  own.get('/own/bug', () => {
    throw Object.assign(new Error('the key is hunter2'), { status: 200 });
  });
  return own.routes() as unknown as Koa.Middleware;
}

const realm = { headers: { 'WWW-Authenticate': 'Basic realm="own"' } };
const retry = { 'Retry-After': '7' };

const post = (body: string, type = 'application/json') =>
  fetch(`${url}/save`, { method: 'POST', body, headers: { 'Content-Type': type } });
const answer = async (response: Response) => [response.status, await response.json()];

describe('a route', () => {
  it('gets its parameters and its query, coerced and with defaults', async () => {
    const response = await fetch(`${url}/open/a%20b?tail=5`, {
      headers: { 'X-Request-Id': 'abc-1' },
    });
    expect(await answer(response)).toEqual([200, { name: 'a b', tail: 5, id: 'abc-1' }]);
    expect(response.headers.get('x-extra')).toBe('yes');
    expect(response.headers.get('x-request-id')).toBe('abc-1');
    expect(await (await fetch(`${url}/open/a`)).json()).toMatchObject({ tail: 100 });
  });

  it('refuses a query that is not of the right type', async () => {
    expect(await answer(await fetch(`${url}/open/a?tail=x`))).toEqual([
      400,
      { error: 'tail must be integer' },
    ]);
  });

  it('takes the rest of a path as one parameter', async () => {
    expect(await answer(await fetch(`${url}/files/a/b.txt`))).toEqual([200, { path: 'a/b.txt' }]);
  });

  it('is 404 for a parameter that no database keeps as text', async () => {
    expect(await answer(await fetch(`${url}/open/a%00`))).toEqual([404, { error: 'Not found' }]);
  });

  it('asks its guard first and passes on the guard’s headers', async () => {
    const response = await fetch(`${url}/closed`);
    expect(await answer(response)).toEqual([401, { error: 'Unauthorized' }]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('answers 404 and 405 in JSON', async () => {
    expect(await answer(await fetch(`${url}/nowhere`))).toEqual([404, { error: 'Not found' }]);
    const response = await fetch(`${url}/save`);
    expect(await answer(response)).toEqual([405, { error: 'Method not allowed' }]);
    expect(response.headers.get('allow')).toContain('POST');
  });

  it('does not take a request id that could forge a log line', async () => {
    const response = await fetch(`${url}/open/a`, { headers: { 'X-Request-Id': 'a b' } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a body', () => {
  it('is checked, and the first problem is named', async () => {
    expect(await answer(await post('{"email":"a@b.test"}'))).toEqual([201, { email: 'a@b.test' }]);
    expect(await answer(await post('{}'))).toEqual([400, { error: 'email is required' }]);
    expect(await answer(await post('{"email":1}'))).toEqual([
      400,
      { error: 'email must be string' },
    ]);
    expect(await answer(await post('{"email":"a","age":0}'))).toEqual([
      400,
      { error: 'age must be >= 1' },
    ]);
    expect(await answer(await post('{"email":"a","kind":"c"}'))).toEqual([
      400,
      { error: 'kind must be one of a, b' },
    ]);
  });

  it('is refused when it is no JSON, empty, too large or of another type', async () => {
    expect(await answer(await post('{"password":"hunter2"'))).toEqual([
      400,
      { error: 'Invalid JSON' },
    ]);
    expect(await answer(await post(''))).toEqual([400, { error: 'Invalid JSON' }]);
    expect(await answer(await post('[]'))).toEqual([400, { error: 'Invalid request' }]);
    expect(await answer(await post('"text"'))).toEqual([400, { error: 'Invalid JSON' }]);
    expect(await answer(await post(`{"email":"${'x'.repeat(200)}"}`))).toEqual([
      413,
      { error: 'Request body too large' },
    ]);
    expect(await answer(await post('{"email":"a"}', 'text/plain'))).toEqual([
      415,
      { error: 'Unsupported media type' },
    ]);
    expect(await answer(await post('email=a', 'application/x-www-form-urlencoded'))).toEqual([
      415,
      { error: 'Unsupported media type' },
    ]);
  });

  it('cannot reach a prototype', async () => {
    const [status] = await answer(await post('{"email":"a","__proto__":{"admin":true}}'));
    expect(status).toBe(400);
    expect(({} as { admin?: boolean }).admin).toBe(undefined);
  });

  it('never reaches the log', async () => {
    await post('{"password":"hunter2"');
    expect(lines.join('')).not.toContain('hunter2"');
  });
});

describe('a bug', () => {
  it('is masked, and logged with the request id', async () => {
    const response = await fetch(`${url}/bug`, { headers: { 'X-Request-Id': 'bug-1' } });
    expect(await answer(response)).toEqual([500, { error: 'Internal server error' }]);
    expect(lines.some((line) => line.includes('bug-1') && line.includes('http.test'))).toBe(true);
  });
});

describe('an error that Koa makes for a route of one’s own', () => {
  const own = (path: string) => fetch(`${url}/own/${path}`);

  it('keeps the status, the text and the headers that are meant for the caller', async () => {
    expect(await answer(await own('entry'))).toEqual([403, { error: 'No entry' }]);
    const response = await own('sign-in');
    expect(response.headers.get('WWW-Authenticate')).toBe('Basic realm="own"');
    expect(await answer(response)).toEqual([401, { error: 'Sign in' }]);
  });

  it('keeps the status with its usual text where the text is not for the caller', async () => {
    expect(await answer(await own('hidden'))).toEqual([409, { error: 'Conflict' }]);
    const response = await own('later');
    expect(response.headers.get('Retry-After')).toBe('7');
    expect(await answer(response)).toEqual([503, { error: 'Service Unavailable' }]);
    expect(lines.some((line) => line.includes('/own/later'))).toBe(true);
  });

  it('is 503 when PostgreSQL ended the statement, because of a time limit of its own', async () => {
    expect(await answer(await own('slow'))).toEqual([
      503,
      { error: 'The database ended what took too long' },
    ]);
  });

  it('is masked when its status is none of an error', async () => {
    expect(await answer(await own('bug'))).toEqual([500, { error: 'Internal server error' }]);
  });
});

describe('the caller’s address', () => {
  const ip = (trusted: string[], peer: string, forwarded?: string) =>
    clientIp(trusted)({
      socket: { remoteAddress: peer },
      headers: { 'x-forwarded-for': forwarded },
    } as unknown as IncomingMessage);

  it('is the peer unless the peer is trusted', () => {
    expect(ip([], '203.0.113.9', '1.2.3.4')).toBe('203.0.113.9');
    expect(ip(['10.0.0.0/8'], '203.0.113.9', '1.2.3.4')).toBe('203.0.113.9');
    expect(ip([], '::ffff:203.0.113.9')).toBe('203.0.113.9');
  });

  it('is the nearest hop that is not trusted, never one made up further left', () => {
    expect(ip(['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 203.0.113.9, 10.2.3.4')).toBe('203.0.113.9');
    expect(ip(['10.0.0.1'], '::ffff:10.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
    expect(ip(['fd00::/8'], 'fd00::1', '2001:db8::7')).toBe('2001:db8::7');
    expect(ip(['10.0.0.0/8'], '10.0.0.1', 'nonsense')).toBe('10.0.0.1');
  });

  it('needs proxies that can be understood', () => {
    expect(() => clientIp(['everyone'])).toThrow(/neither an address nor a CIDR/);
    expect(() => clientIp(['10.0.0.0/x'])).toThrow(/neither an address nor a CIDR/);
  });
});
