import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bearer, BETTER, describeEachDatabase, type TestServer, USER } from './harness.ts';
import { startProcess, startProcesses, type ServerProcess } from './processes.ts';
import { markVerified } from './server.ts';
import { codeAt, enableTotp, mailedToken } from './totp-app.ts';

const OPTIONS = { entity: USER } as const;
/** After how many statements a process is killed. */
const KILLED_AFTER = { SQLite: 7, PostgreSQL: 5 } as const;

type Row = Record<string, any>;

/** A flow that is killed: its call, and what is there when all of it is. */
interface Flow {
  prepare(server: TestServer, email: string): Promise<Row>;
  call(node: Pick<ServerProcess, 'call'>, prepared: Row): Promise<{ readonly status: number }>;
  effects(server: TestServer, prepared: Row): Promise<readonly boolean[]>;
}

const userRow = async (server: TestServer, id: unknown): Promise<Row> =>
  (await server.rows('auth_users')).find(({ user_id }) => user_id === id)!;
const isUsed = async (server: TestServer, id: unknown, kind: string) =>
  (await server.rows('auth_one_time_tokens'))
    .filter((row) => row['user_id'] === id && row['kind'] === kind)
    .every(({ used_at }) => used_at !== null);
/** The code after the one that switched TOTP on: the clocks of the servers are not moved. */
const codeOf = ({ secret, step }: Row) => codeAt(secret, (step + 1) * 30_000);
/** A user with TOTP on, and the step of the last code. */
async function memberOf(server: TestServer, email: string): Promise<Row> {
  const { body } = await server.register(email);
  const { secret } = await enableTotp(server, body.accessToken);
  return { id: body.id, secret, step: (await userRow(server, body.id))['totp_step'] };
}

const FLOWS: Readonly<Record<string, Flow>> = {
  'the last step of a sign-in': {
    prepare: async (server, email) => {
      const member = await memberOf(server, email);
      const { ticket } = (await server.login(email)).body;
      return { ...member, ticket };
    },
    call: (node, prepared) =>
      node.call('POST', '/api/auth/second-factor', {
        ticket: prepared['ticket'],
        code: codeOf(prepared),
        remember_device: true,
      }),
    effects: async (server, { id, step }) => [
      (await userRow(server, id))['totp_step'] !== step,
      await isUsed(server, id, 'ticket'),
      (await server.rows('auth_sessions')).filter((row) => row['user_id'] === id).length === 2,
      (await server.rows('auth_remembered_devices')).some((row) => row['user_id'] === id),
    ],
  },
  'switching TOTP on': {
    prepare: async (server, email) => {
      const { body } = await server.register(email);
      const as = bearer(body.accessToken);
      const { secret } = (await server.call('POST', '/api/auth/totp', {}, as)).body;
      return { id: body.id, token: body.accessToken, secret };
    },
    call: (node, prepared) =>
      node.call(
        'POST',
        '/api/auth/totp/confirm',
        { code: codeAt(prepared['secret'], Date.now()) },
        bearer(prepared['token']),
      ),
    effects: async (server, { id }) => [
      (await userRow(server, id))['totp_confirmed_at'] !== null,
      (await server.rows('auth_recovery_codes')).filter((row) => row['user_id'] === id).length ===
        10,
      (await server.events('totp.enabled')).some(({ user_id }) => user_id === id),
    ],
  },
  'a reset with a second factor': {
    prepare: async (server, email) => {
      const member = await memberOf(server, email);
      // A reset that is the first proof of the address would end the second factor.
      await markVerified(server, { id: member['id'], email });
      await server.call('POST', '/api/auth/forgot-password', { email });
      await expect
        .poll(async () =>
          (await server.events('password.reset_requested')).some(
            ({ user_id }) => user_id === member['id'],
          ),
        )
        .toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const token = await mailedToken(server, 'reset-password');
      const reset = { token, new_password: BETTER };
      const { ticket } = (await server.call('POST', '/api/auth/reset-password', reset)).body;
      return { ...member, ticket, before: (await userRow(server, member['id']))['password'] };
    },
    call: (node, prepared) =>
      node.call('POST', '/api/auth/second-factor', {
        ticket: prepared['ticket'],
        code: codeOf(prepared),
      }),
    effects: async (server, { id, before }) => [
      (await userRow(server, id))['password'] !== before,
      await isUsed(server, id, 'reset'),
      await isUsed(server, id, 'ticket'),
      (await server.events('password.reset')).some(({ user_id }) => user_id === id),
    ],
  },
};

describeEachDatabase('auth-2 acceptance 13: kill -9 in the steps of a sign-in', (database) => {
  let cluster: Awaited<ReturnType<typeof startProcesses>>;
  beforeAll(async () => {
    cluster = await startProcesses(database, 0, OPTIONS);
  });
  afterAll(() => cluster.close());

  it.each(Object.keys(FLOWS))('of %s there is all or nothing', async (name) => {
    const { watcher } = cluster;
    const { prepare, call, effects } = FLOWS[name]!;
    const statements = KILLED_AFTER[database];
    const prepared = await prepare(watcher, `${name.replaceAll(/\W/g, '')}@x.test`);
    const node = await startProcess({ database, ...OPTIONS, url: watcher.databaseUrl });
    const armed = once(node.child, 'message');
    node.child.send({ statements });
    await armed;
    const exited = once(node.child, 'exit');
    expect(await call(node, prepared).catch(() => null)).toBeNull();
    await exited;
    const found = await effects(watcher, prepared);
    expect(new Set(found).size, `${statements} statements: ${found.join()}`).toBe(1);
    if (found[0]) return;
    // Nothing is used up, so the next server goes on.
    expect((await call(watcher as never, prepared)).status).toBe(200);
    expect(new Set(await effects(watcher, prepared))).toEqual(new Set([true]));
  });
});
