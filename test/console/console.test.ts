import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../schema/reading.ts';
import { GOOD, OPERATOR, startConsole, type ConsoleServer } from './server.ts';

const PLAIN = 'type Query { a: Int }';
const HOSTED = { client: 'console', delivery: 'cookie' };
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** The document, the styles, and the scripts of sign-in and of Overview with its plots, with what they import. */
function firstLoad(files: ReadonlyMap<string, Buffer>): ReadonlySet<string> {
  const known = [...files.keys()];
  const begun = known.filter((name) =>
    /\.(html|css)$|\/(console|start|overview|plot-canvas)-\w+\.js$/.test(name),
  );
  const loaded = new Set(begun);
  for (const name of loaded)
    if (name.endsWith('.js'))
      for (const [, file] of files
        .get(name)!
        .toString()
        .matchAll(/(?:from|import)"\.\/([^"]+)"/g))
        loaded.add(`assets/${file}`);
  return loaded;
}

describe('the console section of the manifest', () => {
  const codesOf = (manifest: string) =>
    read('type Query { a: Int }', manifest)
      .diagnostics.filter(({ code }) => code.startsWith('CONSOLE'))
      .map(({ code, at }) => [code, at?.file, at?.line]);

  it.each([
    ['console: { path: / }', 'CONSOLE_PATH_TAKEN'],
    ['console: { path: /api/console }', 'CONSOLE_PATH_TAKEN'],
    ['console: { path: /graphql }', 'CONSOLE_PATH_TAKEN'],
    ['console: { path: /metrics }', 'CONSOLE_PATH_TAKEN'],
    ['console: { path: /API/console/ }', 'CONSOLE_PATH_TAKEN'],
    ['console: { path: /ops/x }\nobservability: { metrics: { path: /ops } }', 'CONSOLE_PATH_TAKEN'],
    ['console: { roles: [Owner] }', 'CONSOLE_ROLES_WITHOUT_AUTH'],
  ])('%s is %s, at its line', (line, code) => {
    expect(codesOf(`name: shop\n${line}\n`)).toEqual([[code, 'manifest.yaml', 2]]);
  });

  it.each([
    ['console: { roles: [Ownr] }', 'CONSOLE_ROLE_UNKNOWN'],
    ['console: { roles: { Owner: [everything] } }', 'CONSOLE_PERMISSION_INVALID'],
  ])('%s is %s, at its line', (line, code) => {
    const auth = 'auth: { roles: { list: [Owner, Member], first: Owner } }';
    expect(codesOf(`name: shop\n${auth}\n${line}\n`)).toEqual([[code, 'manifest.yaml', 3]]);
  });

  it.each(['//shop.example', '/ops//x'])('%s is no path', (path) => {
    const { diagnostics } = read(
      'type Query { a: Int }',
      `name: shop\nconsole: { path: ${path} }\n`,
    );
    expect(diagnostics.map(({ at }) => at?.line)).toEqual([2]);
  });

  it.each(['console: {}', 'console:', 'console: { path: /ops/ }', 'console: { host: false }'])(
    '%s is fine',
    (line) => expect(codesOf(`name: shop\n${line}\n`)).toEqual([]),
  );
});

describe('GET /api/console', () => {
  let server: ConsoleServer;
  const sign = async (email: string, more = {}) =>
    server.call('POST', '/api/auth/login', { email, password: GOOD, ...more });
  beforeAll(async () => {
    server = await startConsole();
    await server.call('POST', '/api/auth/setup', {
      token: 'setup-of-the-console-0123456789abcdef',
      email: 'owner@x.test',
      password: GOOD,
    });
    await server.call('POST', '/api/auth/register', { email: 'member@x.test', password: GOOD });
  });
  afterAll(() => server.close());

  it('says to anybody how to sign in, and nothing else', async () => {
    const { status, body } = await server.call('GET', '/api/console');
    expect([status, body]).toEqual([
      200,
      {
        name: 'shop',
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        environment: 'development',
        path: '/console',
        sign_in: { host: true, users: true, providers: [], forgot: '/auth/forgot-password' },
        caller: null,
        pages: [],
      },
    ]);
    expect((await server.call('GET', '/api/console', undefined, bearer('x.y.z'))).status).toBe(401);
  });

  it('lists every page to the operator and to an owner, and nothing to a member', async () => {
    const host = await server.call('POST', '/api/auth/login', { password: OPERATOR, ...HOSTED });
    const owner = await sign('owner@x.test', HOSTED);
    const member = await sign('member@x.test');
    const seen = await Promise.all(
      [host, owner, member].map(({ body }) =>
        server.call('GET', '/api/console', undefined, bearer(body.accessToken)),
      ),
    );
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 403]);
    expect(seen[0]!.body.caller).toMatchObject({ kind: 'host', permissions: ['*'] });
    expect(seen[1]!.body.caller).toMatchObject({
      kind: 'user',
      email: 'owner@x.test',
      role: 'Owner',
    });
    for (const { body } of seen.slice(0, 2))
      expect(body.pages.map(({ title }: { title: string }) => title)).toEqual(
        expect.arrayContaining(['Data', 'GraphQL', 'Users', 'Webhooks', 'Schema', 'Audit']),
      );
    expect((await sign('member@x.test', HOSTED)).status).toBe(403);
  });

  it('is followed by the account without another sign-in, until the session ends', async () => {
    const owner = await sign('owner@x.test', HOSTED);
    const cookies = owner.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const account = async (Cookie = cookies) => {
      const { text } = await server.call('GET', '/auth/account', undefined, { Cookie });
      return text.includes('owner@x.test') ? 'the account' : 'a sign-in';
    };
    expect(await account()).toBe('the account');
    // Nothing but the pages takes the cookie, and a sign-in that is no application's gives none.
    const { status } = await server.call('GET', '/api/auth/me', undefined, { Cookie: cookies });
    expect([status, await account('')]).toEqual([401, 'a sign-in']);
    expect(String((await sign('owner@x.test')).headers.getSetCookie())).not.toContain(
      'pages_session',
    );
    await server.call('POST', '/api/auth/logout', {}, bearer(owner.body.accessToken));
    expect(await account()).toBe('a sign-in');
  });

  it('lists Data without REST where /api/data answers', async () => {
    const titles = async (more: string) => {
      const manifest = `name: shop\nconsole: { ${more} }\n`;
      const own = await startConsole({ sdl: PLAIN, manifest });
      const { body } = await own.call('POST', '/api/auth/login', { password: OPERATOR, ...HOSTED });
      const as = bearer(body.accessToken);
      const { body: console } = await own.call('GET', '/api/console', undefined, as);
      await own.close();
      return console.pages.map(({ title }: { title: string }) => title);
    };
    expect(await titles('')).toContain('Data');
    expect(await titles('admin_data: never')).not.toContain('Data');
  });

  it('lists to a role only what its permissions read, and the routes agree', async () => {
    const owner = await sign('owner@x.test');
    const { body: member } = await sign('member@x.test');
    const given = await server.call(
      'PUT',
      `/api/auth/admin/users/${member.id}/role`,
      { role_id: 2 },
      bearer(owner.body.accessToken),
    );
    expect(given.status).toBe(200);
    const { body: support } = await sign('member@x.test', HOSTED);
    const as = bearer(support.accessToken);
    const { body } = await server.call('GET', '/api/console', undefined, as);
    expect(body.pages.map(({ title }: { title: string }) => title)).toEqual(['Data', 'GraphQL']);
    expect(body.caller.permissions).toContain('data:read');
    expect((await server.call('GET', '/api/system/schema', undefined, as)).status).toBe(403);
    const read = await server.call(
      'GET',
      '/api/system/schema',
      undefined,
      bearer(owner.body.accessToken),
    );
    expect(read.status).toBe(200);
    expect(read.body.types.find(({ name }: { name: string }) => name === 'Post')).toMatchObject({
      kind: 'entity',
      table: 'posts',
      relations: [{ field: 'author', to: 'Author', kind: 'one', inverse: 'posts' }],
    });
  });

  it('lets the operator act everywhere, by curl too', async () => {
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    const as = bearer(body.token);
    expect((await server.call('GET', '/api/auth/admin/users', undefined, as)).status).toBe(200);
    expect((await server.call('POST', '/api/authors', { name: 'Ada' }, as)).status).toBe(201);
    expect((await server.call('GET', '/api/authors')).status).toBe(200);
  });
});

describe('the token of the operator', () => {
  const NOTES = `
    type User { id: ID! email: String! @unique }
    type Note @auth(allow: [API_KEY]) { id: ID! text: String! }
    type Query { notes: [Note!]! }
  `;
  const asked = async (section: string) => {
    const manifest = `name: shop\napi: { rest: true }\nauth: {}\n${section}\n`;
    const server = await startConsole({ sdl: NOTES, manifest });
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    const as = bearer(body.token);
    const { status } = await server.call('GET', '/api/notes', undefined, as);
    const query = { query: '{ notes { id } }' };
    const { body: answer } = await server.call('POST', '/graphql', query, as);
    await server.close();
    return [status, answer.errors?.[0].extensions.code ?? 'ok'];
  };

  it('reads the data where the manifest lets them use the console, and nowhere else', async () => {
    expect(await asked('console: {}')).toEqual([200, 'ok']);
    expect(await asked('console: { host: false }')).toEqual([401, 'UNAUTHENTICATED']);
  });
});

describe('the pages', () => {
  let server: ConsoleServer;
  beforeAll(async () => {
    server = await startConsole();
  });
  afterAll(() => server.close());

  it('are one document at every path, with the policy', async () => {
    for (const path of ['/console', '/console/', '/console/data/posts?x=1', '/console/nowhere']) {
      const { status, body, headers } = await server.call('GET', path);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; .*require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(body).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
    }
  });

  it('have the policy on a refusal, too', async () => {
    for (const headers of [bearer('x.y.z'), { 'X-API-Key': 'gk_nobody' }]) {
      const refused = await server.call('GET', '/console/data', undefined, headers);
      expect(refused.status).toBe(401);
      expect(refused.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
      expect(refused.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const other = await server.call('GET', '/consolex');
    expect(other.headers.get('content-security-policy')).not.toMatch(/trusted-types/);
  });

  it('come with files that are kept for a year, packed, and 304 when nothing changed', async () => {
    const { body, headers } = await server.call('GET', '/console');
    const [, script] = /src="([^"]+)"/.exec(body)!;
    const file = await fetch(`${server.url}${script}`, { headers: { 'Accept-Encoding': 'br' } });
    expect(file.headers.get('content-encoding')).toBe('br');
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const again = await fetch(`${server.url}/console`, {
      headers: { 'If-None-Match': headers.get('etag')!, 'Cache-Control': 'max-age=0' },
    });
    expect(again.status).toBe(304);
    const other = ['GET /console/assets/x.js', 'HEAD /console', 'POST /console'].map(
      async (line) => {
        const [method, path] = line.split(' ') as [string, string];
        return (await server.call(method, path)).status;
      },
    );
    expect(await Promise.all(other)).toEqual([404, 200, 405]);
  });

  it('are built the same twice, and sign-in with Overview is below 80 kB', async () => {
    const { buildConsole } = await import('../../runtime/console/build.ts');
    const [first, second] = [await buildConsole(), await buildConsole()];
    expect([...first.keys()]).toEqual([...second.keys()]);
    for (const [name, bytes] of first) expect(bytes.equals(second.get(name)!), name).toBe(true);
    const { gzipSync } = await import('node:zlib');
    const loaded = firstLoad(first);
    expect(loaded.size).toBeGreaterThan(4);
    const size = [...loaded].reduce((sum, name) => sum + gzipSync(first.get(name)!).length, 0);
    expect(size).toBeLessThan(80_000);
  });

  it('are absent in production unless the manifest says always, and nobody signs in to them', async () => {
    const env = {
      NODE_ENV: 'production',
      APP_URL: 'https://shop.example',
      RATE_LIMIT_ENABLED: 'true',
      MIGRATE: 'on',
    };
    const own = await startConsole({ env });
    expect((await own.call('GET', '/console')).status).toBe(404);
    const refused = await own.call('POST', '/api/auth/login', { password: OPERATOR, ...HOSTED });
    expect([refused.status, refused.body]).toEqual([403, { error: 'Forbidden' }]);
    expect((await own.call('GET', '/api/console')).status).toBe(200);
    await own.close();
  });

  it('are entered in production by https only', async () => {
    const manifest = `
name: shop
server: { trusted_proxies: [127.0.0.1] }
auth: { roles: { list: [Owner, Member], first: Owner } }
console: { enabled: always }
`;
    const env = {
      NODE_ENV: 'production',
      APP_URL: 'https://shop.example',
      RATE_LIMIT_ENABLED: 'true',
      MIGRATE: 'on',
    };
    const own = await startConsole({ manifest, env });
    const login = (headers: Record<string, string>) =>
      own.call('POST', '/api/auth/login', { password: OPERATOR, ...HOSTED }, headers);
    const plain = await login({ 'X-Forwarded-For': '203.0.113.7' });
    expect([plain.status, plain.body]).toEqual([403, { error: 'The console needs https' }]);
    const secure = await login({ 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' });
    expect(secure.status).toBe(200);
    await own.close();
  });

  it('stop the start of a production server that nobody could enter', async () => {
    const env = { NODE_ENV: 'production', HOST_PASSWORD: '', RATE_LIMIT_ENABLED: 'true' };
    await expect(
      startConsole({ sdl: PLAIN, manifest: 'name: shop\nconsole: { enabled: always }\n', env }),
    ).rejects.toThrow(/HOST_PASSWORD.*console\.roles/);
  });
});

describe('a manifest without console', () => {
  it('has neither the pages nor the routes', async () => {
    const server = await startConsole({ sdl: PLAIN, manifest: 'name: shop\nauth: {}\n' });
    const paths = ['/console', '/api/console', '/api/system/schema'];
    const answers = await Promise.all(paths.map((path) => server.call('GET', path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    await server.close();
  });
});
