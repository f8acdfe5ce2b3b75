import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Running } from '../../runtime/core/index.ts';
import { createFront, type Front } from './front.ts';
import { clientOf, listOf, PASSWORD, register, startServer } from './server.ts';

const home = mkdtempSync(join(tmpdir(), 'client-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The module that a front end imports; its types are held by other tests. */
async function load(changes: Parameters<typeof clientOf>[0] = {}): Promise<any> {
  const folder = mkdtempSync(join(home, 'out-'));
  for (const [name, text] of Object.entries(clientOf(changes)))
    writeFileSync(join(folder, name), text);
  return import(/* @vite-ignore */ pathToFileURL(join(folder, 'index.ts')).href);
}

const email = 'ada@example.com';

describe('the client and a server', () => {
  let server: Running;
  let module: any;
  beforeAll(async () => {
    server = await startServer();
    await register(server.url, email);
    module = await load();
  });
  afterAll(() => server.close());

  it('signs in, asks by the hash, then with the text, and signs out', async () => {
    const sent: any[] = [];
    const ended = vi.fn();
    const api = module.createClient({
      url: server.url,
      onSignOut: ended,
      fetch: (url: URL, init: RequestInit) => {
        if (url.pathname === '/graphql') sent.push(JSON.parse(String(init.body)));
        return fetch(url, init);
      },
    });
    expect(api.session).toBe(null);
    expect((await api.signIn({ email, password: PASSWORD })).email).toBe(email);
    await api.request(module.AddDocument, { title: 'One' });
    expect(await api.request(module.PostsDocument)).toEqual({ posts: [{ id: '1', title: 'One' }] });
    expect(await api.request(module.PostsDocument)).toEqual({ posts: [{ id: '1', title: 'One' }] });
    expect(sent.slice(-3).map((body) => 'query' in body)).toEqual([false, true, false]);
    const { queryKey, queryFn } = api.queryOptions(module.PostsDocument, { limit: 1 });
    expect(queryKey).toEqual(['Posts', { limit: 1 }]);
    expect(await queryFn({ signal: new AbortController().signal })).toMatchObject({ posts: [{}] });
    const { accessToken } = api.session;
    await api.signOut();
    expect([api.session, ended.mock.calls.length]).toEqual([null, 1]);
    const { status } = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: '{"query":"{ posts { id } }"}',
    });
    expect(status).toBe(401);
  });

  it('throws what an answer says, and no token stands in it', async () => {
    const api = module.createClient({ url: server.url });
    await expect(api.request(module.PostsDocument)).rejects.toMatchObject({
      name: 'ApiError',
      code: 'UNAUTHENTICATED',
      requestId: expect.any(String),
    });
    const session = await api.signIn({ email, password: PASSWORD });
    const wrong = await api.result(module.PostDocument, { id: 'x'.repeat(9) });
    expect(wrong.data ?? {}).toEqual({ post: null });
    const bad = await api
      .request(module.PostsDocument, { limit: 'many' })
      .catch((error: any) => error);
    expect(bad).toMatchObject({ code: 'BAD_USER_INPUT', errors: [{}] });
    await expect(api.fetch('/api/nothing')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      status: 404,
    });
    await expect(api.fetch('/api/health', { method: 'DELETE' })).rejects.toMatchObject({
      code: 'METHOD_NOT_ALLOWED',
      status: 405,
    });
    expect(JSON.stringify([bad, bad.message, bad.stack])).not.toContain(session.accessToken);
    await expect(api.fetch('http://127.0.0.1:1/x')).rejects.toThrow('is not the server');
    const gone = new AbortController();
    gone.abort();
    await expect(
      api.request(module.PostsDocument, {}, { signal: gone.signal }),
    ).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('tells which lists of an answer are cut', async () => {
    const cut = [{ path: ['posts'], size: 2, lists: 1 }];
    const answers = [
      { data: { posts: [] }, extensions: { cut } },
      { data: { posts: [] }, extensions: { other: 1 } },
      { data: { posts: [] } },
    ];
    const api = module.createClient({
      url: server.url,
      fetch: async () => Response.json(answers.shift()),
    });
    expect(await api.result(module.PostsDocument)).toEqual({
      data: { posts: [] },
      errors: [],
      cut,
    });
    expect((await api.result(module.PostsDocument)).cut).toEqual([]);
    expect((await api.result(module.PostsDocument)).cut).toEqual([]);
  });

  it('asks for headers at each request, and says how long to wait; a 429 is not sent again', async () => {
    const sent: RequestInit[] = [];
    let asked = 0;
    const api = module.createClient({
      url: `${server.url}/a/path`,
      headers: async () => ({ 'x-asked': String((asked += 1)), 'x-first': 'client' }),
      fetch: async (url: URL, init: RequestInit) => {
        expect(url.origin).toBe(server.url);
        sent.push(init);
        const headers = { 'retry-after': '7', 'x-request-id': 'r1' };
        return Response.json({ error: 'too many' }, { status: 429, headers });
      },
    });
    const refused = { code: 'RATE_LIMITED', status: 429, retryAfter: 7, requestId: 'r1' };
    await expect(api.request(module.PostsDocument)).rejects.toMatchObject(refused);
    const own = { headers: { 'X-First': 'call' } };
    await expect(api.result(module.PostsDocument, {}, own)).rejects.toMatchObject(refused);
    await expect(api.fetch('/api/x', { method: 'POST', body: 'x' })).rejects.toMatchObject(refused);
    const seen = sent.map(({ headers }) => new Headers(headers));
    expect(seen.map((headers) => [headers.get('x-asked'), headers.get('x-first')])).toEqual([
      ['1', 'client'],
      ['2', 'call'],
      ['3', 'client'],
    ]);
  });

  it('renews a token with less than 10 s left before it asks, and an upload is sent once more', async () => {
    const seen: string[] = [];
    const loginOf = (accessToken: string, left: number) => ({
      id: 1,
      email,
      accessToken,
      exp: Date.now() / 1000 + left,
      refreshToken: 'r',
    });
    let renewed = 0;
    const api = module.createClient({
      url: server.url,
      fetch: async ({ pathname }: URL, { headers, body }: RequestInit) => {
        const token = new Headers(headers).get('authorization');
        seen.push(`${pathname} ${token}${body instanceof FormData ? ' form' : ''}`);
        if (pathname === '/api/auth/login') return Response.json(loginOf('old', 9));
        if (pathname === '/api/auth/refresh') return Response.json(loginOf(`new${renewed++}`, 60));
        return token === 'Bearer new1' ? new Response('ok') : new Response('', { status: 401 });
      },
    });
    await api.signIn({ email, password: PASSWORD });
    const body = new FormData();
    body.set('file', new Blob(['x']));
    expect(await (await api.fetch('/api/avatar', { method: 'POST', body })).text()).toBe('ok');
    expect(seen).toEqual([
      '/api/auth/login null',
      '/api/auth/refresh null',
      '/api/avatar Bearer new0 form',
      '/api/auth/refresh null',
      '/api/avatar Bearer new1 form',
    ]);
  });

  it('is signed out by signOut also while the session is being renewed', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: answer, resolve } = Promise.withResolvers<Response>();
    const api = module.createClient({
      url: server.url,
      fetch: async ({ pathname }: URL) => {
        const login = { id: 1, email, accessToken: 'a', exp: 1, refreshToken: 'r' };
        if (pathname === '/api/auth/login') return Response.json(login);
        if (pathname !== '/api/auth/refresh') return new Response('{}', { status: 200 });
        begin();
        return answer;
      },
    });
    await api.signIn({ email, password: PASSWORD });
    const asked = api.request(module.PostsDocument).catch(({ code }: { code: string }) => code);
    await begun;
    await api.signOut();
    resolve(Response.json({ id: 1, email, accessToken: 'b', exp: 9e9, refreshToken: 's' }));
    expect([await asked, api.session]).toEqual(['UNAUTHENTICATED', null]);
  });

  it.each(['body', 'cookie'] as const)(
    'keeps the session in memory where a browser blocks its storage: delivery %s',
    async (delivery) => {
      const own = await load({ server: { graphql: '/graphql', delivery } });
      const window = Object.defineProperty({}, 'localStorage', {
        get: () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError');
        },
      });
      vi.stubGlobal('window', window);
      const api = own.createClient({ url: server.url });
      await api.signIn({ email, password: PASSWORD });
      expect(await api.request(own.PostsDocument)).toMatchObject({ posts: [{}] });
      await api.signOut();
      vi.unstubAllGlobals();
      expect(api.session).toBe(null);
    },
  );

  it('gives the step that is left', async () => {
    const answers = [
      {
        status: 202,
        body: { next: 'second_factor', ticket: 't1', methods: ['totp'], expires_in: 300 },
      },
      { status: 200, body: { id: 1, email, accessToken: 'a.b.c', exp: 9e9, refreshToken: 'r' } },
    ];
    const asked: unknown[] = [];
    const api = module.createClient({
      url: server.url,
      fetch: async (url: URL, init: RequestInit) => {
        asked.push([url.pathname, JSON.parse(String(init.body))]);
        const { status, body } = answers.shift()!;
        return Response.json(body, { status });
      },
    });
    expect(await api.signIn({ email, password: PASSWORD })).toMatchObject({
      next: 'second_factor',
    });
    expect(api.session).toBe(null);
    expect(await api.continueSignIn({ code: '123456' })).toMatchObject({ email });
    expect(asked[1]).toEqual(['/api/auth/second-factor', { ticket: 't1', code: '123456' }]);
    expect(api.session.email).toBe(email);
  });

  it.each(['string', 'ast'] as const)(
    'runs by hash alone where the list is mandatory: %s',
    async (format) => {
      const root = mkdtempSync(join(home, 'root-'));
      writeFileSync(join(root, 'documents.json'), JSON.stringify(listOf(format === 'ast')));
      vi.spyOn(process, 'cwd').mockReturnValue(root);
      const strict = await startServer({
        manifest: 'api: { access: public, trusted_documents: {} }\n',
      });
      vi.restoreAllMocks();
      const own = await load({ format, send: 'hash-only' });
      const api = own.createClient({ url: strict.url });
      expect(await api.request(own.AddDocument, { title: 'x' })).toMatchObject({
        createPost: { title: 'x' },
      });
      const other = {
        ...own.PostsDocument,
        hash: '0'.repeat(64),
        __meta__: { hash: '0'.repeat(64) },
      };
      await expect(api.request(other)).rejects.toMatchObject({ code: 'DOCUMENT_NOT_TRUSTED' });
      if (format === 'string')
        expect(JSON.stringify(clientOf({ send: 'hash-only' }))).not.toContain('query Posts');
      expect(own.hashOf(own.PostsDocument)).toBe(
        own.PostsDocument.hash ?? own.PostsDocument.__meta__.hash,
      );
      await strict.close();
    },
  );
});

describe('a subscription', () => {
  it('goes on after a restart of the server, and ends its connection when the loop is left', async () => {
    const module = await load({ server: { graphql: '/graphql', delivery: null } });
    const settings = {
      manifest: 'api: { access: public }\n',
      env: { DATABASE_URL: `file:${join(home, 'app.db')}` },
    };
    let server = await startServer(settings);
    const front: Front = await createFront(() => server.url, {});
    const onReconnect = vi.fn();
    const api = module.createClient({ url: front.url, onReconnect });
    const add = (title: string) => api.request(module.AddDocument, { title });
    const events = api.subscribe(module.AddedDocument);
    const first = events.next();
    await expect.poll(front.streams).toBe(1);
    await add('before');
    expect((await first).value).toMatchObject({ postCreated: { title: 'before' } });
    const second = events.next();
    await server.close();
    server = await startServer(settings);
    await expect.poll(() => onReconnect.mock.calls.length, { timeout: 5_000 }).toBe(1);
    await expect.poll(front.streams).toBe(1);
    await add('after');
    expect((await second).value).toMatchObject({ postCreated: { title: 'after' } });
    await events.return(undefined);
    await expect.poll(front.streams, { timeout: 1_000 }).toBe(0);
    expect(onReconnect).toHaveBeenCalledTimes(1);
    await front.close();
    await server.close();
  });
});

describe('what is between the client and the server', () => {
  let other: Server;
  let module: any;
  beforeAll(async () => void (module = await load()));
  afterEach(() => void other.close());

  async function answer(listener: RequestListener): Promise<string> {
    other = createServer(listener).listen(0, '127.0.0.1');
    await new Promise((done) => other.once('listening', done));
    return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  }

  it('is the code of the status when a route answers as JSON that it is not written yet', async () => {
    const url = await answer((_, to) =>
      to.writeHead(501, { 'content-type': 'application/json' }).end('{"error":"not yet"}'),
    );
    const api = module.createClient({ url });
    await expect(api.fetch('/api/x')).rejects.toMatchObject({
      code: 'NOT_IMPLEMENTED',
      message: 'not yet',
    });
  });

  it.each([200, 502])("is NETWORK when it answers %s with a proxy's page", async (status) => {
    const url = await answer((_, to) =>
      to.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
    );
    const api = module.createClient({ url });
    await expect(api.request(module.PostsDocument)).rejects.toMatchObject({
      code: 'NETWORK',
      status,
    });
  });

  it('is TIMEOUT when nothing answers, and NETWORK when nothing is there', async () => {
    const url = await answer(() => {});
    const late = module.createClient({ url, timeout: 20 });
    await expect(late.request(module.PostsDocument)).rejects.toMatchObject({ code: 'TIMEOUT' });
    other.closeAllConnections();
    const away = module.createClient({ url: 'http://127.0.0.1:1' });
    await expect(away.request(module.PostsDocument)).rejects.toMatchObject({
      code: 'NETWORK',
      status: 0,
    });
  });

  it('is TIMEOUT when an answer stops half-way, but for one that the caller of fetch reads', async () => {
    const url = await answer((_, to) => {
      to.writeHead(200, { 'content-type': 'application/json' }).write('{"data":');
      setTimeout(() => to.end('{}}'), 300);
    });
    const late = module.createClient({ url, timeout: 100 });
    await expect(late.request(module.PostsDocument)).rejects.toMatchObject({ code: 'TIMEOUT' });
    await expect(late.result(module.PostsDocument)).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(await (await late.fetch('/api/x')).json()).toEqual({ data: {} });
    const left = new AbortController();
    const asked = late.request(module.PostsDocument, {}, { signal: left.signal });
    setTimeout(() => left.abort(), 20);
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is TIMEOUT when a renewal stops half-way, which keeps the session and holds nobody up', async () => {
    const login = { id: 1, email, accessToken: 'new', exp: 9e9, refreshToken: 's' };
    let asked = 0;
    const url = await answer(({ url: path }, to) => {
      to.writeHead(200, { 'content-type': 'application/json' });
      if (path === '/graphql') to.end('{"data":{"posts":[]}}');
      else if (++asked === 1) to.write('{"id":');
      else to.end(JSON.stringify(login));
    });
    const expired = { ...login, accessToken: 'old', exp: 1, refreshToken: 'r' };
    let text: string = JSON.stringify({ at: 1, session: expired });
    const storage = { get: () => text, set: (next: string) => (text = next), remove: () => {} };
    const api = module.createClient({ url, storage, timeout: 100 });
    const both = [api.request(module.PostsDocument), api.fetch('/api/x')];
    const codes = both.map((each) => each.catch(({ code }: { code: string }) => code));
    expect(await Promise.all(codes)).toEqual(['TIMEOUT', 'TIMEOUT']);
    expect(api.session.accessToken).toBe('old');
    expect(await api.request(module.PostsDocument)).toEqual({ posts: [] });
    expect([asked, api.session.accessToken]).toEqual([2, 'new']);
  });

  it('never gets the token after a redirect to another origin', async () => {
    const seen: string[] = [];
    const stranger = createServer((from, to) => {
      seen.push(String(from.headers.authorization));
      to.end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((done) => stranger.once('listening', done));
    const { port } = stranger.address() as AddressInfo;
    const url = await answer((_, to) =>
      to.writeHead(307, { location: `http://localhost:${port}/graphql` }).end(),
    );
    const session = { id: 1, email, accessToken: 'secret.token', exp: 9e9, refreshToken: 'r' };
    const text = JSON.stringify({ at: 1, session });
    const storage = { get: () => text, set: () => {}, remove: () => {} };
    const api = module.createClient({ url, storage });
    expect(api.session.email).toBe(email);
    await expect(api.request(module.PostsDocument)).rejects.toMatchObject({ code: 'NETWORK' });
    expect(seen).toEqual([]);
    stranger.close();
  });
});
