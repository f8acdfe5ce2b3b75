import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asRoot, bearer, BETTER, describeEachDatabase, type TestServer, USER } from './harness.ts';
import { startProcess, startProcesses, type ServerProcess } from './processes.ts';

const OPTIONS = {
  entity: USER,
  auth: { roles: { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' } },
} as const;

/** After how many statements a process is killed. A process takes seconds to start, so they are few. */
const KILLED_AFTER = { SQLite: [1, 6], PostgreSQL: [4] } as const;

type Row = Record<string, any>;

/** A flow that is killed: what goes before it, its call, and what is there when all of it is. */
interface Flow {
  prepare(server: TestServer, email: string): Promise<Row>;
  call(node: ServerProcess, email: string, prepared: Row): Promise<{ readonly status: number }>;
  effects(server: TestServer, email: string, prepared: Row): Promise<readonly boolean[]>;
}

const find = async (server: TestServer, table: string, match: Row): Promise<Row | undefined> =>
  (await server.rows(table)).find((row) =>
    Object.entries(match).every(([name, value]) => row[name] === value),
  );
const happened = async (server: TestServer, type: string, userId: unknown) =>
  (await server.events(type)).some(({ user_id }) => user_id === userId);
const linkToken = async (server: TestServer, path: string) => {
  const found = () =>
    [...server.logs.join('').matchAll(new RegExp(`${path}\\?token=([\\w-]+)`, 'g'))].at(-1)?.[1];
  await expect.poll(found).toBeDefined();
  return found()!;
};

/** An account with a second session and a key. */
async function account(server: TestServer, email: string): Promise<Row> {
  const { body } = await server.register(email);
  const made = { name: 'k', scopes: [] };
  const { body: key } = await server.call(
    'POST',
    '/api/auth/api-keys',
    made,
    bearer(body.accessToken),
  );
  return { id: body.id, token: body.accessToken, key: key.id };
}
const ended = async (server: TestServer, { id, key }: Row) => [
  (await find(server, 'auth_sessions', { user_id: id }))!['revoked_at'] !== null,
  (await find(server, 'auth_api_keys', { id: key }))!['revoked_at'] !== null,
];

const FLOWS: Readonly<Record<string, Flow>> = {
  register: {
    prepare: async () => ({}),
    call: (node, email) => node.call('POST', '/api/auth/register', { email, password: BETTER }),
    effects: async (server, email) => {
      const user = await find(server, 'users', { email });
      return [
        user !== undefined,
        (await find(server, 'auth_users', { user_id: user?.['id'] })) !== undefined,
        (await find(server, 'auth_sessions', { user_id: user?.['id'] })) !== undefined,
        await happened(server, 'user.registered', user?.['id']),
      ];
    },
  },
  reset: {
    prepare: async (server, email) => {
      const made = await account(server, email);
      const side = await find(server, 'auth_users', { user_id: made['id'] });
      await server.call('POST', '/api/auth/forgot-password', { email });
      await expect.poll(() => happened(server, 'password.reset_requested', made['id'])).toBe(true);
      return {
        ...made,
        before: side!['password'],
        link: await linkToken(server, 'reset-password'),
      };
    },
    call: (node, _, { link }) =>
      node.call('POST', '/api/auth/reset-password', { token: link, new_password: BETTER }),
    effects: async (server, _, prepared) => [
      (await find(server, 'auth_users', { user_id: prepared['id'] }))!['password'] !==
        prepared['before'],
      (await find(server, 'auth_one_time_tokens', { user_id: prepared['id'], kind: 'reset' }))![
        'used_at'
      ] !== null,
      ...(await ended(server, prepared)),
      await happened(server, 'password.reset', prepared['id']),
    ],
  },
  deletion: {
    prepare: account,
    call: (node, _, { token }) => node.call('DELETE', '/api/auth/me', undefined, bearer(token)),
    effects: async (server, _, prepared) => [
      (await find(server, 'auth_users', { user_id: prepared['id'] }))!['deletion_at'] !== null,
      (await find(server, 'auth_one_time_tokens', { user_id: prepared['id'], kind: 'restore' })) !==
        undefined,
      ...(await ended(server, prepared)),
      await happened(server, 'user.deletion_requested', prepared['id']),
    ],
  },
};

describeEachDatabase('auth-2 acceptance 13: kill -9 at any moment', (database) => {
  let cluster: Awaited<ReturnType<typeof startProcesses>>;
  beforeAll(async () => {
    cluster = await startProcesses(database, 0, OPTIONS);
  });
  afterAll(() => cluster.close());

  it.each(Object.keys(FLOWS))(
    'of %s there is all or nothing, and the next server goes on',
    async (name) => {
      const { watcher } = cluster;
      const { prepare, call, effects } = FLOWS[name]!;
      let died = 0;
      for (const statements of KILLED_AFTER[database]) {
        const email = `${name}${statements}@x.test`;
        const prepared = await prepare(watcher, email);
        const node = await startProcess({ database, ...OPTIONS, url: watcher.databaseUrl });
        const armed = once(node.child, 'message');
        node.child.send({ statements });
        await armed;
        const exited = once(node.child, 'exit');
        const answer = await call(node, email, prepared).catch(() => null);
        if (answer === null) died += 1;
        else node.child.send('stop');
        await exited;
        const found = await effects(watcher, email, prepared);
        expect(new Set(found).size, `${statements} statements: ${found.join()}`).toBe(1);
        if (answer !== null) expect([answer.status < 300, found[0]]).toEqual([true, true]);
        else if (statements < 7) expect(found[0]).toBe(false);
        if (!found[0])
          expect((await call(watcher as never, email, prepared)).status).toBeLessThan(300);
      }
      expect(died).toBe(KILLED_AFTER[database].length);
    },
  );

  it('a purge that is killed is done by the next server', async () => {
    const { watcher } = cluster;
    const { id } = await account(watcher, 'purged@x.test');
    const { db } = watcher.kernel.store;
    await db.updateTable('auth_users').set({ deletion_at: 1 }).where('user_id', '=', id).execute();
    const doomed = startProcess({ database, ...OPTIONS, url: watcher.databaseUrl }, 'user.deleted');
    await doomed.then(({ child }) => once(child, 'exit')).catch(() => {});
    expect(await find(watcher, 'users', { id })).toBeUndefined();
    expect(await find(watcher, 'auth_users', { user_id: id })).toBeUndefined();
    expect(
      (await watcher.events('user.deleted')).filter(({ user_id }) => user_id === id),
    ).toHaveLength(1);
    expect(
      (await watcher.call('GET', `/api/auth/admin/users/${id}`, undefined, asRoot)).status,
    ).toBe(404);
  });
});
