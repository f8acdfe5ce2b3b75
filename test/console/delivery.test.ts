import { measureFirstLoad } from '../bench/console/first-load.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

/** What the contract has every answer of the pages carry. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=()',
};
const PRODUCTION = {
  NODE_ENV: 'production',
  APP_URL: 'https://shop.example',
  RATE_LIMIT_ENABLED: 'true',
  MIGRATE: 'on',
};

describe('what the server sends of the console', () => {
  let server: ConsoleServer;
  let script: string;
  beforeAll(async () => {
    server = await startConsole();
    script = /src="([^"]+)"/.exec((await server.call('GET', '/console')).text)![1]!;
  });
  afterAll(() => server?.close());

  it('has the same headers in every answer', async () => {
    const asked = [
      ...[`GET /console 200`, 'HEAD /console/data 200', `GET ${script} 200`],
      ...['GET /console/modules/list.json 200', 'GET /console/assets/none.js 404'],
      ...['GET /console/modules/none.ts 404', 'POST /console 405', 'DELETE /console/data 405'],
    ];
    for (const line of asked) {
      const [method = '', path = '', expected] = line.split(' ');
      const { status, headers } = await server.call(method, path);
      const given = Object.keys(HEADERS).map((name) => [name, headers.get(name)]);
      expect([line, Object.fromEntries(given)]).toEqual([line, HEADERS]);
      expect([line, status]).toEqual([line, Number(expected)]);
    }
  });

  it('is packed as the browser asks for it', async () => {
    const get = (encoding: string) =>
      fetch(server.url + script, { headers: { 'Accept-Encoding': encoding } });
    const [plain, gzip, brotli] = await Promise.all(['identity', 'gzip', 'gzip, br'].map(get));
    const encodings = [plain, gzip, brotli].map((each) => each!.headers.get('content-encoding'));
    expect(encodings).toEqual([null, 'gzip', 'br']);
    const texts = await Promise.all([plain, gzip, brotli].map((each) => each!.text()));
    expect(texts[0]).toMatch(/import/);
    expect(texts).toEqual([texts[0], texts[0], texts[0]]);
    expect(gzip!.headers.get('vary')).toContain('Accept-Encoding');
  });
});

it('the first load, of document, scripts, styles and fonts, is at most 80 kB', async () => {
  const [first] = await measureFirstLoad();
  expect(first!.value).toBeGreaterThan(30);
  expect(first!.value).toBeLessThanOrEqual(80);
});

it.each([
  ['', {}, 200],
  ['admin_data: never', {}, 404],
  ['', PRODUCTION, 404],
  ['admin_data: development', PRODUCTION, 404],
  ['admin_data: always', PRODUCTION, 200],
])('/api/data with "%s" and %o is %i', async (section, env, status) => {
  const manifest = `name: shop\napi: { rest: true }\nauth: {}\nconsole: { ${section} }\n`;
  const sdl = 'type User { id: ID! email: String! } type Query { users: [User!]! }';
  const server = await startConsole({ sdl, manifest, env });
  const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
  const as = { Authorization: `Bearer ${body.token}` };
  const paths = ['/api/data', '/api/data/users'];
  const answers = await Promise.all(paths.map((path) => server.call('GET', path, undefined, as)));
  await server.close();
  expect(answers.map((answer) => answer.status)).toEqual([status, status]);
});

it('the logged link signs in for ten minutes', async () => {
  const enter = async (minutes: number) => {
    let time = Date.now();
    const server = await startConsole({ now: () => time });
    const [, code] = /Console: \S+#code=([\w-]+)/.exec(server.logs.join(''))!;
    time += minutes * 60_000;
    const login = { code, client: 'console', delivery: 'cookie' };
    const { status, body } = await server.call('POST', '/api/auth/login', login);
    await server.close();
    return [status, body.error];
  };
  expect(await enter(9.9)).toEqual([200, undefined]);
  expect(await enter(10.1)).toEqual([400, 'Invalid or expired token']);
});
