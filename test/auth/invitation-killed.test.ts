import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  markVerified,
  type TestServer,
  USER,
} from './harness.ts';
import { startProcess, startProcesses, type ServerProcess } from './processes.ts';
import { mailedToken } from './totp-app.ts';

const COMPANY = {
  ...USER,
  name: 'Company',
  singular: 'company',
  plural: 'companies',
  table: 'companies',
};
const OPTIONS = {
  entity: USER,
  more: [{ ...COMPANY, columns: COMPANY.columns.filter(({ name }) => name !== 'email') }],
  auth: {
    organizations: {
      entity: 'Company',
      table: 'companies',
      name: 'name',
      softDelete: null,
      roles: ['Owner', 'Member'],
      manage: ['Owner'],
      create: 'user',
      invitations: 86_400_000,
    },
  },
} as const;

type Row = Record<string, any>;
type Joining = (node: Pick<ServerProcess, 'call'>) => ReturnType<TestServer['call']>;

describeEachDatabase('auth-2 acceptance 13: kill -9 in an acceptance', (database) => {
  let cluster: Awaited<ReturnType<typeof startProcesses>>;
  let owner: Row;
  let invitations = 0;
  beforeAll(async () => {
    cluster = await startProcesses(database, 0, OPTIONS);
    const { watcher } = cluster;
    owner = (await watcher.register('ann@x.test')).body;
    await markVerified(watcher, owner as { id: number; email: string });
    const { db } = watcher.kernel.store;
    await db.insertInto('companies').values({ name: 'one' }).execute();
    const member = { organization_id: 1, user_id: owner['id'], role: 'Owner', created_at: 0 };
    await db.insertInto('auth_members').values(member).execute();
  });
  afterAll(() => cluster.close());

  const invited = async (email: string) => {
    const { watcher } = cluster;
    const body = { email, role: 'Member' };
    const path = '/api/auth/organizations/1/invitations';
    const { status } = await watcher.call('POST', path, body, bearer(owner['accessToken']));
    expect(status).toBe(201);
    // The mail goes out after the answer.
    await expect
      .poll(() => watcher.logs.filter((line) => line.includes('invitation?token=')).length)
      .toBe(++invitations);
    return mailedToken(watcher, 'invitation');
  };

  /** What there is of an acceptance: the member, the used invitation, the events. */
  const effects = async (email: string) => {
    const { watcher } = cluster;
    const user = (await watcher.rows('users')).find((row) => row['email'] === email);
    const of = (row: Row) => row['user_id'] === user?.['id'];
    return [
      (await watcher.rows('auth_members')).some(of),
      (await watcher.rows('auth_invitations')).every((row) => row['email'] !== email),
      (await watcher.events('invitation.accepted')).some(of),
      (await watcher.events('member.added')).some(of),
    ];
  };

  /** Kills a server after so many statements of the transaction, each time with the same invitation. */
  const killAt = async (statements: number, email: string, joining: Joining) => {
    const url = cluster.watcher.databaseUrl;
    const node = await startProcess({ database, ...OPTIONS, url });
    const armed = once(node.child, 'message');
    node.child.send({ statements });
    await armed;
    const exited = once(node.child, 'exit');
    expect(await joining(node).catch(() => null), `${statements} statements`).toBeNull();
    await exited;
    expect(await effects(email), `${statements} statements`).toEqual([false, false, false, false]);
  };

  it('of a user there is all or nothing, and the next server goes on', async () => {
    const { watcher } = cluster;
    const { body } = await watcher.register('bob@x.test');
    const verification = { token: await mailedToken(watcher, 'verify-email'), password: GOOD };
    await watcher.call('POST', '/api/auth/verify-email', verification);
    const token = await invited('bob@x.test');
    const joining: Joining = (node) =>
      node.call('POST', '/api/auth/invitations/accept', { token }, bearer(body.accessToken));
    for (const statements of [3, 6]) await killAt(statements, 'bob@x.test', joining);
    expect((await joining(watcher as never)).status).toBe(200);
    expect(await effects('bob@x.test')).toEqual([true, true, true, true]);
  });

  it('of a registration there is all or nothing, the account included', async () => {
    const { watcher } = cluster;
    const invitation = await invited('cid@x.test');
    const joining: Joining = (node) =>
      node.call('POST', '/api/auth/register', { email: 'cid@x.test', password: GOOD, invitation });
    for (const statements of [8]) {
      await killAt(statements, 'cid@x.test', joining);
      expect((await watcher.rows('users')).map(({ email }) => email)).not.toContain('cid@x.test');
    }
    expect((await joining(watcher as never)).status).toBe(201);
    expect(await effects('cid@x.test')).toEqual([true, true, true, true]);
  });
});
