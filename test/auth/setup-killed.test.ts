import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { describeEachDatabase, GOOD, USER } from './harness.ts';
import { startProcess, startProcesses } from './processes.ts';

const SETUP_TOKEN = 'a setup token that has 32 characters or more';
const ROLES = { list: ['Owner', 'Member'], default: 'Member', first: 'Owner' };
/** Milliseconds after the request: before, within and after the transaction, which takes about ten. */
const DELAYS = [0, 6, 12, 40];

describeEachDatabase('auth-2 acceptance 13: kill -9 in the setup', (database) => {
  it('leaves all of it or none, and the next start can go on', { timeout: 60_000 }, async () => {
    const options = { entity: USER, auth: { roles: ROLES }, env: { SETUP_TOKEN } };
    const { watcher, close } = await startProcesses(database, 0, options);
    const body = { token: SETUP_TOKEN, email: 'ada@x.test', password: GOOD };
    const outcomes: boolean[] = [];
    for (const delay of DELAYS) {
      const server = await startProcess({ database, ...options, url: watcher.databaseUrl });
      const answer = server.call('POST', '/api/auth/setup', body).catch(() => null);
      await sleep(delay);
      server.child.kill('SIGKILL');
      await once(server.child, 'exit').catch(() => {});
      const answered = (await answer)?.status ?? null;
      const users = await watcher.rows('users');
      const isDone = users.length === 1;
      // Without the rest there is no user, and with it the user has the role and can sign in.
      const events = await watcher.events('user.setup');
      const changes = await watcher.rows('auth_permission_changes');
      expect([users.length, events.length, changes.length]).toEqual(isDone ? [1, 1, 1] : [0, 0, 0]);
      if (answered !== null) expect([answered, isDone]).toEqual([201, true]);
      outcomes.push(isDone);
      if (!isDone) continue;
      const login = await watcher.login('ada@x.test');
      expect([login.status, login.body.role_name]).toEqual([200, 'Owner']);
      const again = await watcher.call('POST', '/api/auth/setup', { ...body, email: 'eve@x.test' });
      expect(again.status).toBe(400);
      await watcher.kernel.store.db.deleteFrom('auth_users').execute();
      await watcher.kernel.store.db.deleteFrom('users').execute();
      await watcher.kernel.store.db.deleteFrom('auth_security_events').execute();
      await watcher.kernel.store.db.deleteFrom('auth_permission_changes').execute();
    }
    if (!outcomes.includes(true)) {
      const setup = await watcher.call('POST', '/api/auth/setup', body);
      expect([setup.status, setup.body.role_name]).toEqual([201, 'Owner']);
    }
    await close();
  });
});
