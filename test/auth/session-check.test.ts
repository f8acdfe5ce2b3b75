import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asRoot, bearer, startServer, type TestServer, USER } from './harness.ts';

/** In a file, tokens are judged at once and from the answer of the last time while nobody has written; in memory they are not. */
describe('§2.2 a token against a database in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'auth-session-check-'));
  const roles = { list: ['Owner', 'Member'], default: 'Member', first: null };
  let [one, other] = [] as unknown as [TestServer, TestServer];
  beforeAll(async () => {
    const start = () =>
      startServer({
        database: 'SQLite',
        entity: USER,
        url: `file:${join(folder, 'auth.db')}`,
        auth: { roles },
      });
    one = await start();
    other = await start();
  });
  afterAll(async () => {
    await one.close();
    await other.close();
    rmSync(folder, { recursive: true });
  });

  const me = async (server: TestServer, token: string) =>
    (await server.call('GET', '/api/auth/me', undefined, bearer(token))).status;
  /** Signs in, and has both servers know the token well. */
  const known = async () => {
    const { body } = await one.register();
    for (const server of [one, other, one, other])
      expect(await me(server, body.accessToken)).toBe(200);
    return body as { id: number; accessToken: string; email: string; refreshToken: string };
  };
  const endings: Record<string, (user: Awaited<ReturnType<typeof known>>) => Promise<unknown>> = {
    'logs out': ({ accessToken }) =>
      other.call('POST', '/api/auth/logout', {}, bearer(accessToken)),
    'logs out everywhere': ({ accessToken }) =>
      other.call('POST', '/api/auth/logout-all', {}, bearer(accessToken)),
    'is disabled': ({ id }) =>
      other.call('POST', `/api/auth/admin/users/${id}/disable`, undefined, asRoot),
    'is deleted': ({ id }) =>
      other.call('DELETE', `/api/auth/admin/users/${id}`, undefined, asRoot),
    'is deleted by a statement of somebody else': ({ id }) =>
      other.kernel.store.db.deleteFrom('users').where('id', '=', id).execute(),
    'has the token on the blacklist': ({ accessToken }) =>
      other.call('POST', '/api/auth/admin/tokens/revoke', { token: accessToken }, asRoot),
    'gets another role': ({ id }) =>
      other.call('PUT', `/api/auth/admin/users/${id}/role`, { role_id: 1 }, asRoot),
  };
  for (const [what, end] of Object.entries(endings)) {
    it(`the next request is 401 on every server when the user ${what} on one of them`, async () => {
      const user = await known();
      await end(user);
      expect([await me(one, user.accessToken), await me(other, user.accessToken)]).toEqual([
        401, 401,
      ]);
    });
  }

  it('of many requests at once none gets what another one is given', async () => {
    const users = await Promise.all(Array.from({ length: 8 }, () => known()));
    const asked = Array.from({ length: 200 }, (_, index) => users[index % users.length]!);
    const answers = await Promise.all(
      asked.map(({ accessToken }) =>
        one.call('GET', '/api/auth/me', undefined, bearer(accessToken)),
      ),
    );
    expect(answers.map(({ body }) => body.id)).toEqual(asked.map(({ id }) => id));
  });

  it('a session that idles out ends without anybody writing', async () => {
    const user = await known();
    one.advance(23 * 3_600_000);
    expect(await me(one, user.accessToken)).toBe(200);
    await one.kernel.store.db
      .updateTable('auth_sessions')
      .set({ idle_expires_at: one.kernel.now() + 1000 })
      .where('user_id', '=', user.id)
      .execute();
    expect(await me(one, user.accessToken)).toBe(200);
    one.advance(1000);
    expect(await me(one, user.accessToken)).toBe(401);
  });
});
