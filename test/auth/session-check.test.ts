import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDatabase } from '../engines/available.ts';
import {
  asRoot,
  bearer,
  describeEachDatabase,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

/**
 * SQLite in a file reuses the last answer until somebody writes, and PostgreSQL checks all tokens
 * of a tick with one statement. SQLite in memory, as in the other tests, does neither.
 */
describeEachDatabase('§2.2 a token against a database that servers share', (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'auth-session-check-'));
  const roles = { list: ['Owner', 'Member'], default: 'Member', first: null };
  let [one, other] = [] as unknown as [TestServer, TestServer];
  let shared: { readonly url: string; drop?(): Promise<void> };
  beforeAll(async () => {
    shared =
      database === 'PostgreSQL'
        ? await createDatabase()
        : { url: `file:${join(folder, 'auth.db')}` };
    const start = () => startServer({ database, entity: USER, url: shared.url, auth: { roles } });
    one = await start();
    other = await start();
  });
  afterAll(async () => {
    await one.close();
    await other.close();
    await shared.drop?.();
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

  if (database === 'PostgreSQL')
    it('requests of one tick share a statement, and one that is not valid leaves the others alone', async () => {
      const [known1, known2, gone] = [await known(), await known(), await known()];
      await other.call('POST', '/api/auth/logout', {}, bearer(gone.accessToken));
      const statements = vi.spyOn(one.kernel.store, 'valueLater');
      const asked = [known1, gone, known2, known1, gone, known2];
      expect(await pipelined(one, asked)).toEqual([200, 401, 200, 200, 401, 200]);
      expect(statements).toHaveBeenCalledTimes(1);
      statements.mockRestore();
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

/** The statuses of requests that one packet brings, and so one tick. */
async function pipelined(
  { url }: TestServer,
  users: readonly { readonly accessToken: string }[],
): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const requests = users.map(({ accessToken }, index) => {
    const last = index === users.length - 1 ? 'Connection: close\r\n' : '';
    return `GET /api/auth/me HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${accessToken}\r\n${last}\r\n`;
  });
  socket.write(requests.join(''));
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}
