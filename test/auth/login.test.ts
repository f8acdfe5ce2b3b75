import bcrypt from 'bcrypt';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { LOGIN } from '../../runtime/auth/flows/shapes.ts';
import { failure } from '../../runtime/core/errors.ts';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

describeEachDatabase('§2.3 login', (database) => {
  let server: TestServer;
  let hook: (email: string) => unknown = () => undefined;
  beforeAll(async () => {
    server = await startServer({
      database,
      entity: USER,
      options: { hooks: { beforeLogin: ({ user }) => hook(user.email) } },
    });
  });
  afterAll(() => server.close());
  afterEach(() => {
    hook = () => undefined;
    vi.restoreAllMocks();
  });

  it('50 parallel wrong logins cost five compares: five times 401 and 45 times 423', async () => {
    await server.register('many@x.test');
    const compare = vi.spyOn(bcrypt, 'compare');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => server.login('many@x.test', 'wrong password')),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(401), count(423)]).toEqual([5, 45]);
    expect(compare).toHaveBeenCalledTimes(5);
    const locked = answers.find(({ status }) => status === 423)!;
    expect(locked.body).toEqual({ error: 'Account locked' });
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await server.login('many@x.test')).status).toBe(423);
  });

  it('an address is read without the spaces around it, by every route that takes one', async () => {
    expect((await server.register('  spaced@x.test ')).status).toBe(201);
    for (const email of ['spaced@x.test', ' Spaced@X.test', 'spaced@x.test\n'])
      expect([email, (await server.login(email)).status]).toEqual([email, 200]);
    expect((await server.register('spaced@x.test ')).status).toBe(409);
    expect((await server.login('spaced @x.test')).status).toBe(401);
    const made = await server.call(
      'POST',
      '/api/auth/admin/users',
      { email: ' made@x.test ' },
      asRoot,
    );
    expect([made.status, made.body.email]).toEqual([201, 'made@x.test']);
    for (const path of ['forgot-password', 'resend-verification'])
      expect(
        (await server.call('POST', `/api/auth/${path}`, { email: ' made@x.test ' })).status,
      ).toBe(200);
  });

  it('an address that nobody has is locked in the same way', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => server.login('nobody-many@x.test', 'wrong password')),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 423)).toHaveLength(15);
  });

  it('64 parallel right logins of one user all succeed', async () => {
    await server.register('right@x.test');
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => server.login('right@x.test')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(64).fill(200));
    expect(new Set(answers.map(({ body }) => body.accessToken)).size).toBe(64);
  });

  it('somebody without a password, and a wrong address, cost a compare like everybody', async () => {
    const { body } = await server.register('nopass@x.test');
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ password: null })
      .where('user_id', '=', body.id)
      .execute();
    const compare = vi.spyOn(bcrypt, 'compare');
    expect((await server.login('nopass@x.test', '')).status).toBe(400);
    expect((await server.login('nopass@x.test', 'x')).status).toBe(401);
    expect((await server.login('nobody@x.test', 'x')).status).toBe(401);
    expect(compare).toHaveBeenCalledTimes(2);
  });

  it('a cheaper old hash is made up for and replaced on login', async () => {
    const stronger = await startServer({ database, options: { bcryptCost: 5 } });
    const { body } = await stronger.register('old@x.test');
    const set = (password: string) =>
      stronger.kernel.store.db
        .updateTable('auth_users')
        .set({ password })
        .where('user_id', '=', body.id)
        .execute();
    await set(await bcrypt.hash(GOOD, 4));
    const compare = vi.spyOn(bcrypt, 'compare');
    expect((await stronger.login('old@x.test', 'wrong')).status).toBe(401);
    expect(compare).toHaveBeenCalledTimes(2);
    expect((await stronger.login('old@x.test')).status).toBe(200);
    expect((await stronger.rows('auth_users'))[0]!['password']).toMatch(/^\$2b\$05\$/);
    await set((await bcrypt.hash(GOOD, 5)).replace('$2b$', '$2y$'));
    expect((await stronger.login('old@x.test')).status).toBe(200);
    expect((await stronger.rows('auth_users'))[0]!['password']).toMatch(/^\$2b\$05\$/);
    await stronger.close();
  });

  it('disabled is told only after the right password', async () => {
    const { body } = await server.register('off@x.test');
    await server.call('POST', `/api/auth/admin/users/${body.id}/disable`, undefined, asRoot);
    expect([
      (await server.login('off@x.test', 'wrong')).status,
      (await server.login('off@x.test')).text,
    ]).toEqual([401, '{"error":"Account disabled"}']);
    await server.call('POST', `/api/auth/admin/users/${body.id}/enable`, undefined, asRoot);
    expect((await server.login('off@x.test')).status).toBe(200);
  });

  it('the login hook denies with its text, denies when it throws, and gives no token', async () => {
    await server.register('hook@x.test');
    hook = () => {
      throw failure.forbidden('Not on Sundays');
    };
    const denied = await server.login('hook@x.test');
    expect([denied.status, denied.text]).toEqual([403, '{"error":"Not on Sundays"}']);
    hook = () => {
      throw failure.conflict('Pay first');
    };
    const unpaid = await server.login('hook@x.test');
    expect([unpaid.status, unpaid.text]).toEqual([409, '{"error":"Pay first"}']);
    hook = () => {
      throw new Error('the hook is broken');
    };
    expect([
      (await server.login('hook@x.test')).status,
      (await server.login('hook@x.test')).text,
    ]).toEqual([403, '{"error":"Forbidden"}']);
    expect((await server.login('hook@x.test', 'wrong')).status).toBe(401);
    const attempts = (await server.rows('auth_login_attempts')).filter(
      ({ reason }) => reason === 'hook_denied',
    );
    expect(attempts.length).toBeGreaterThanOrEqual(3);
  });

  it('a late hook denies after two seconds', async () => {
    await server.register('late@x.test');
    hook = () => new Promise(() => {});
    const begun = Date.now();
    expect((await server.login('late@x.test')).status).toBe(403);
    expect(Date.now() - begun).toBeLessThan(4000);
  });

  it('a missing field is named', async () => {
    const post = (body: unknown) => server.call('POST', '/api/auth/login', body);
    expect((await post({})).body).toEqual({ error: 'email is required' });
    expect((await post({ email: 'a@x.test' })).body).toEqual({ error: 'password is required' });
    expect((await post({ password: 'x' })).body).toEqual({ error: 'email is required' });
    expect((await post({ email: 7, password: 'x' })).body).toEqual({
      error: 'email must be string',
    });
    expect((await post([])).text).toBe('{"error":"Invalid request"}');
    expect((await post('{"email":')).body).toEqual({ error: 'Invalid JSON' });
  });

  it('the body is JSON and at most 16 KiB, whatever it pretends to be', async () => {
    const raw = (body: string, type: string) =>
      server.call('POST', '/api/auth/login', body, { 'Content-Type': type });
    const text = JSON.stringify({ email: 'a@x.test', password: 'x' });
    expect((await raw(text, 'text/plain')).status).toBe(415);
    expect(
      (await raw('email=a@x.test&password=x', 'application/x-www-form-urlencoded')).body,
    ).toEqual({ error: 'Unsupported media type' });
    const large = await raw(
      JSON.stringify({ email: 'a@x.test', password: 'x'.repeat(17_000) }),
      'application/json',
    );
    expect([large.status, large.text]).toEqual([413, '{"error":"Request body too large"}']);
  });

  it('hostile addresses are plain failures', async () => {
    for (const email of [
      "' or 1=1 --",
      'a@x.test\u0000',
      'a\uFF20x.test',
      '\ud800@x.test',
      'a'.repeat(250),
      '\u212A@x.test',
    ]) {
      expect((await server.login(email, 'x')).status, JSON.stringify(email)).toBe(401);
    }
  });

  it('the address is found in any case', async () => {
    await server.register('Case@X.test');
    expect((await server.login('cASE@x.TEST')).body.email).toBe('Case@X.test');
  });

  it('an answer is never cached', async () => {
    expect((await server.login('right@x.test')).headers.get('cache-control')).toBe('no-store');
    expect((await server.call('GET', '/api/auth/me')).headers.get('cache-control')).toBe(
      'no-store',
    );
  });

  it('an attempt is logged with a mask and an HMAC, never with what was typed', async () => {
    const typed = 'MyPasswordByMistake1!';
    await server.login(typed, 'x');
    const rows = JSON.stringify(await server.rows('auth_login_attempts'));
    expect(rows).not.toContain(typed);
    expect(rows).toContain('n***@x.test');
  });
});

describeEachDatabase('§2.3 settings of login', (database) => {
  it('require_api_key wants a key on login and takes no wrong one anywhere', async () => {
    const server = await startServer({ database, auth: { requireApiKey: true } });
    expect((await server.register('key@x.test')).body).toEqual({ error: 'API key required' });
    const body = { email: 'key@x.test', password: GOOD };
    expect((await server.call('POST', '/api/auth/register', body, asRoot)).status).toBe(201);
    expect((await server.login('key@x.test', GOOD, asRoot)).status).toBe(200);
    expect((await server.login('key@x.test', GOOD)).status).toBe(401);
    expect((await server.login('key@x.test', GOOD, { 'X-API-Key': 'wrong' })).body).toEqual({
      error: 'Invalid API key',
    });
    await server.close();
  });

  it('require_api_key is asked by every route that gives a login object', async () => {
    const server = await startServer({
      database,
      auth: {
        requireApiKey: true,
        emailSignIn: 'both',
        roles: { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' },
        oauth: { providers: [{ name: 'google', preset: 'google', options: { id_token: true } }] },
      },
      env: {
        GOOGLE_CLIENT_ID: 'shop',
        GOOGLE_CLIENT_SECRET: 'hush',
        GOOGLE_REDIRECT_URL: 'http://127.0.0.1:1/api/oauth/google/callback',
      },
    });
    const text = 'a text that is long enough for each of the fields';
    const fields = ['email', 'password', 'token', 'refreshToken', 'idToken', 'nonce', 'code'];
    const body = {
      ...Object.fromEntries(fields.map((field) => [field, text])),
      ticket: text,
    };
    // The callback needs none: its flow was begun with a key, as its cookie shows. A passkey is in
    // corrections.test.ts, and an administrator who acts as a user is signed in.
    const others = ['oauthCallback', 'passkeyLogin', 'impersonate'];
    const asking = authFlows.filter(
      ({ id, responses }) =>
        !others.includes(id) &&
        Object.values<{ schema?: object }>(responses).some(({ schema }) => schema === LOGIN),
    );
    const answers = [];
    for (const { id, method, path } of asking)
      answers.push([
        id,
        (await server.call(method, path.replace(':provider', 'google'), body)).text,
      ]);
    expect(Object.fromEntries(answers)).toEqual(
      Object.fromEntries(
        [
          'login',
          'refresh',
          'completeEmailSignIn',
          'register',
          'setup',
          'oauthIdToken',
          'oauthExchange',
          'secondFactor',
        ].map((id) => [id, '{"error":"API key required"}']),
      ),
    );
    await server.close();
  });

  it('require_verified_email refuses an unproved address after the right password', async () => {
    const server = await startServer({ database, auth: { requireVerifiedEmail: true } });
    expect((await server.register('new@x.test')).status).toBe(202);
    expect((await server.login('new@x.test')).body).toEqual({ error: 'Email not verified' });
    expect((await server.login('new@x.test', 'wrong')).body).toEqual({
      error: 'Invalid credentials',
    });
    await server.close();
  });

  it('a full hash queue answers 503 with Retry-After and leaves nobody locked', async () => {
    const server = await startServer({
      database,
      auth: { password: { hashConcurrency: 1, hashQueue: 1 } },
      options: { bcryptCost: 10 },
    });
    await server.register('busy@x.test');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => server.login(`busy${index}@x.test`, 'x')),
    );
    const busy = answers.filter(({ status }) => status === 503);
    expect(busy.length).toBeGreaterThan(0);
    expect(busy[0]!.body).toEqual({ error: 'Service unavailable' });
    expect(busy[0]!.headers.get('retry-after')).toBe('1');
    expect((await server.login('busy@x.test')).status).toBe(200);
    await server.close();
  });

  it('unknown, known and password-less take the same time, within noise', async () => {
    const server = await startServer({
      database,
      auth: { lockout: { attempts: 1000, hardAfter: 100_000 } },
      options: { bcryptCost: 10 },
    });
    const { body } = await server.register('known@x.test');
    const other = await server.register('nopass@x.test');
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ password: null })
      .where('user_id', '=', other.body.id)
      .execute();
    const kinds = ['known@x.test', 'unknown@x.test', 'nopass@x.test'];
    const best = [Infinity, Infinity, Infinity];
    // In turns, so that what else the machine does hits all alike; the quickest of each is the least disturbed.
    for (let round = 0; round < 12; round += 1) {
      for (const [index, email] of kinds.entries()) {
        const begun = performance.now();
        await server.login(email, 'wrong password');
        best[index] = Math.min(best[index]!, performance.now() - begun);
      }
    }
    // On a quiet machine within 10 %. Without the decoy the difference is 50-fold, which no load of others hides.
    for (const time of best) expect(time / best[0]!).toBeGreaterThan(0.2);
    for (const time of best) expect(time / best[0]!).toBeLessThan(5);
    expect(
      (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).status,
    ).toBe(200);
    await server.close();
  });
});
