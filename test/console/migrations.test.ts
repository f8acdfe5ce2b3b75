import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import type { App } from '../../runtime/core/app.ts';
import { openDatabase } from '../../runtime/database/open-database.ts';
import type { Running } from '../../runtime/core/running.ts';
import { createServer } from '../../runtime/core/server.ts';
import { projectOf } from '../graphql/harness.ts';
import { databases, type TestDatabase } from '../store/databases.ts';

const OPERATOR = 'the operator knows this';
const FILE = `
export async function up(db) {
  await db.schema.createTable('notes').addColumn('id', 'integer', (c) => c.primaryKey()).addColumn('text', 'text').execute();
}
`;

describe.each(databases)('GET /api/system/migrations on $name', ({ create }) => {
  let database: TestDatabase;
  let root: string;
  let app: App;
  let running: Running;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await create();
    root = mkdtempSync(join(tmpdir(), 'twofold-history-'));
    mkdirSync(join(root, 'migrations'));
    writeFileSync(join(root, 'migrations/0001_notes.ts'), FILE);
    app = {
      project: projectOf(
        'type Note { id: ID! text: String } type Query { notes: [Note!]! }',
        'name: shop\nconsole: {}\n',
      ),
      root: pathToFileURL(`${root}/`),
      migrations: pathToFileURL(`${root}/migrations/`),
      capabilities: [auth(), webConsole()],
    };
    env = {
      DATABASE_URL: database.url,
      JWT_SECRET: 'a secret of the tests that is long enough',
      HOST_PASSWORD: OPERATOR,
    };
    const logTo = { write: () => {} };
    running = await createServer(app).start('127.0.0.1:0', { env, logTo });
  });
  afterAll(async () => {
    await running?.close();
    await database?.drop();
    if (root) rmSync(root, { recursive: true, force: true });
  });
  const ask = async (query: string, token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const answer = await fetch(`${running.url}/api/system/migrations${query}`, { headers });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const signIn = async () => {
    const answer = await fetch(`${running.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ password: OPERATOR }),
    });
    return ((await answer.json()) as { token: string }).token;
  };

  it('says what `migrate status` says, with drift what it says of the tables, and runs nothing', async () => {
    expect((await ask('')).status).toBe(401);
    const token = await signIn();
    const given = { env };
    const { status, body } = await ask('', token);
    expect([status, body]).toEqual([200, await openDatabase(app, given).status()]);
    expect(body.applied).toContain('0001_notes');
    expect(body.applied).toContain('audit/0001');
    expect((await ask('?drift=true', token)).body.drift).toEqual([]);

    writeFileSync(join(root, 'migrations/0002_more.ts'), FILE.replace('notes', 'more'));
    const { db } = database.store;
    await db.schema.alterTable('notes').addColumn('extra', 'text').execute();
    const drifted = await ask('?drift=true', token);
    expect(drifted.body).toEqual({
      ...(await openDatabase(app, given).status()),
      drift: await openDatabase(app, given).drift(),
    });
    expect(drifted.body.pending).toEqual(['0002_more']);
    expect(drifted.body.drift).toMatchObject([{ object: 'notes.extra', kind: 'extra' }]);
    const tables = (await db.introspection.getTables()).map(({ name }) => name);
    expect(tables).not.toContain('more');
    expect((await ask('?drift=maybe', token)).status).toBe(400);
  });
});
