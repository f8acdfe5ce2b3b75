import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openDatabase } from '@twofold/database';
import { createServer } from '@twofold/runtime';
import { capabilitiesFor } from '../capabilities.ts';
import { readPage } from '../docs/page.ts';
import { createDatabase } from '../engines/available.ts';
import { databases, projectOf } from '../graphql/harness.ts';

const project = projectOf(
  'type User { id: ID! email: String! @unique name: String! notes: [Note!]! } type Note { id: ID! text: String! author: User! } type Query { me: User users: [User!]! }',
  'name: test\nauth: { roles: { list: [Admin, Member], first: Admin, default: Member } }\n',
);
const PASSWORD = 'a loom weaves twelve rows';

describe.each(databases)('a seed row of the user on %s', (database) => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  async function start() {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-seeded-'));
    ends.push(() => rmSync(folder, { recursive: true }));
    const made =
      database === 'postgres'
        ? await createDatabase()
        : { url: `file:${join(folder, 'app.db')}`, drop: () => {} };
    ends.push(() => made.drop());
    const env = {
      DATABASE_URL: made.url,
      JWT_SECRET: 'a test secret that is long enough to be one',
      LOG_LEVEL: 'silent',
      BCRYPT_COST: '10',
    };
    const app = { project, capabilities: capabilitiesFor(project) };
    const seed = (users: object, notes: object = {}) => {
      const rows = [...Object.entries({ User: users, Note: notes })].flatMap(([type, given]) =>
        Object.entries(given).map(([key, values]) => ({ type, key, values })),
      );
      return openDatabase(app, { env }).seed(rows);
    };
    const serve = async () => {
      const running = await createServer(app).start('127.0.0.1:0', { env });
      ends.push(() => running.close());
      const login = async (email: string, password: string) => {
        const response = await fetch(`${running.url}/api/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password }),
        });
        const { accessToken } = (await response.json()) as { accessToken?: string };
        const me = await fetch(`${running.url}/api/auth/me`, {
          headers: { authorization: `Bearer ${accessToken}` },
        });
        return { status: response.status, me: await me.text() };
      };
      return { running, login };
    };
    return { seed, serve };
  }
  const ada = { email: 'ada@example.test', name: 'Ada', password: PASSWORD, role: 'Admin' };
  const bob = { email: 'bob@example.test', name: 'Bob' };

  it('may hold a password and a role, with which they sign in before and after another run', async () => {
    const { seed, serve } = await start();
    expect(await seed({ ada, bob }, { one: { text: 'of Ada', author: 'ada' } })).toMatchObject({
      inserted: 3,
      findings: [],
    });
    expect(await seed({ ada, bob }, { one: { text: 'of Ada', author: 'ada' } })).toMatchObject({
      unchanged: 3,
    });
    const { login } = await serve();
    const signedIn = await login('ada@example.test', PASSWORD);
    expect(signedIn).toMatchObject({ status: 200, me: expect.stringContaining('"Admin"') });
    expect((await login('bob@example.test', PASSWORD)).status).toBe(401);
    const changed = { ...ada, password: 'another loom weaves rows', role: 'Member' };
    expect(await seed({ ada: changed, bob })).toMatchObject({ updated: 1, unchanged: 1 });
    expect((await login('ada@example.test', PASSWORD)).status).toBe(401);
    const again = await login('ada@example.test', 'another loom weaves rows');
    expect(again).toMatchObject({ status: 200, me: expect.stringContaining('"Member"') });
  });

  it('signs in as the page about seeds shows it', async () => {
    const page = readPage('generator/docs/commands.md');
    const shown = page.blocks.find(
      ({ language, text }) => language === 'yaml' && /^User:/m.test(text),
    );
    const { User: users } = parse(shown?.text ?? '') as { User: { eve: Record<string, string> } };
    const { seed, serve } = await start();
    expect(await seed(users)).toMatchObject({ inserted: 1, findings: [] });
    const { login } = await serve();
    const signedIn = await login(users.eve['email'] ?? '', users.eve['password'] ?? '');
    expect(signedIn).toMatchObject({ status: 200, me: expect.stringContaining('"Admin"') });
  });

  it('is refused with every finding when the policy does not hold or there is no such role', async () => {
    const { seed, serve } = await start();
    const report = await seed({
      ada: { ...ada, password: 'short' },
      bob: { ...bob, role: 'Owner' },
      eve: { email: 'eve@example.test', name: 'Eve', password: 7 },
    });
    expect(report).toMatchObject({ inserted: 0 });
    expect(report.findings.map(({ row, field }) => [row, field])).toEqual(
      expect.arrayContaining([
        [0, 'password'],
        [1, 'role'],
        [2, 'password'],
      ]),
    );
    expect(report.findings.find(({ row }) => row === 1)?.message).toContain('Admin, Member');
    const { login } = await serve();
    expect((await login('ada@example.test', 'short')).status).toBe(401);
  });
});
