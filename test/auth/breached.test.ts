import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
} from './harness.ts';

/** A list of breached passwords as Have I Been Pwned serves it, on loopback. */
async function startList(breached: readonly string[]) {
  const asked: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = [];
  const state: { answer: ((response: ServerResponse) => void) | null } = { answer: null };
  const hashes = breached.map((text) =>
    createHash('sha1').update(text).digest('hex').toUpperCase(),
  );
  const http = createServer((request, response) => {
    asked.push({ url: request.url!, headers: request.headers });
    if (state.answer) return state.answer(response);
    const prefix = request.url!.split('/').at(-1)!;
    const found = hashes
      .filter((hash) => hash.startsWith(prefix))
      .map((hash) => `${hash.slice(5)}:42`);
    const padding = `${'0'.repeat(34)}A:0`;
    response.end([`${'F'.repeat(35)}:1`, ...found, padding].join('\r\n'));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/range/`,
    asked,
    state,
    close: () => (http.closeAllConnections(), new Promise((resolve) => http.close(resolve))),
  };
}

const FRESH = 'nimble otter juggles 47 lanterns';

describeEachDatabase('auth-2 §1 password.breached', (database) => {
  let list: Awaited<ReturnType<typeof startList>>;
  let server: TestServer;
  const start = (onFailure: 'allow' | 'refuse') =>
    startServer({ database, auth: { password: { breached: { url: list.url, onFailure } } } });
  beforeAll(async () => {
    list = await startList([GOOD]);
    server = await start('allow');
  });
  afterAll(async () => {
    await server.close();
    await list.close();
  });

  it('refuses a breached password wherever one is chosen: register, change, reset, strength', async () => {
    const error = { error: 'Password is too common' };
    const refused = await server.register('breached@x.test');
    expect([refused.status, refused.body]).toEqual([400, error]);
    const { accessToken } = (await server.register('fresh@x.test', { password: FRESH })).body;
    const change = { current_password: FRESH, new_password: GOOD };
    const changed = await server.call(
      'POST',
      '/api/auth/change-password',
      change,
      bearer(accessToken),
    );
    expect([changed.status, changed.body]).toEqual([400, error]);
    await server.call('POST', '/api/auth/forgot-password', { email: 'fresh@x.test' });
    const link = () => /reset-password\?token=([\w-]+)/.exec(server.logs.join())?.[1];
    await expect.poll(link).toBeDefined();
    const reset = (new_password: string) =>
      server.call('POST', '/api/auth/reset-password', { token: link(), new_password });
    expect((await reset(GOOD)).body).toEqual(error);
    expect((await reset(BETTER)).status).toBe(200);
    const strength = await server.call('POST', '/api/auth/password-strength', { password: GOOD });
    expect(strength.body).toEqual({ score: 0, acceptable: false, reason: error.error });
  });

  it('only five hex digits of a SHA-1 leave, with padding asked for, and padding is no password', async () => {
    list.asked.length = 0;
    await server.call('POST', '/api/auth/password-strength', { password: GOOD });
    const hash = createHash('sha1').update(GOOD).digest('hex').toUpperCase();
    expect(list.asked.map(({ url }) => url)).toEqual([`/range/${hash.slice(0, 5)}`]);
    expect(list.asked[0]!.headers).toMatchObject({ 'add-padding': 'true' });
    expect(JSON.stringify(list.asked)).not.toMatch(new RegExp(hash.slice(5, 15), 'i'));
    list.state.answer = (response) => void response.end(`${hash.slice(5)}:0\r\n`);
    const padded = await server.call('POST', '/api/auth/password-strength', { password: GOOD });
    expect(padded.body.acceptable).toBe(true);
    list.state.answer = null;
  });

  const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'an error': (response) => void response.writeHead(500).end(),
    'a redirect': (response) => void response.writeHead(302, { Location: list.url }).end(),
    'a page': (response) => void response.end('<html>portal</html>'),
    'two MiB': (response) => void response.end(`${'F'.repeat(35)}:1\r\n`.repeat(60_000)),
    'a cut line': (response) => void response.destroy(),
  };
  it.each(Object.keys(FAILURES))(
    '%s as an answer: the password is taken or refused as the manifest says',
    async (name) => {
      const strict = await start('refuse');
      list.state.answer = FAILURES[name]!;
      const allowed = await server.register();
      const refused = await strict.register();
      list.state.answer = null;
      expect([allowed.status, refused.status, refused.body]).toEqual([
        201,
        503,
        { error: 'Service unavailable' },
      ]);
      expect(refused.headers.get('Retry-After')).toBe('10');
      expect(await strict.rows('users')).toEqual([]);
      for (const logs of [server.logs, strict.logs])
        expect(logs.join()).toContain('the list of breached passwords did not answer');
      expect(server.logs.join()).not.toContain(GOOD);
      await strict.close();
    },
  );

  it('a list that hangs is waited for two seconds', async () => {
    list.state.answer = () => {};
    const begun = Date.now();
    expect((await server.register()).status).toBe(201);
    expect(Date.now() - begun).toBeLessThan(5000);
    list.state.answer = null;
  });
});

describe('auth-2 §1 password.breached of the manifest', () => {
  it('is off by default: nothing is asked', async () => {
    const { DEFAULT_AUTH } = await import('../../runtime/auth/base/defaults.ts');
    expect([DEFAULT_AUTH.password.breached, DEFAULT_AUTH.account]).toEqual([
      null,
      { delete: true, grace: 14 * 24 * 60 * 60_000 },
    ]);
  });
});
