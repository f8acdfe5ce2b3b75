import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { createServer, type Running } from '@twofold/runtime';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../runtime/core/app.ts';
import type { Migration } from '../../runtime/core/store/migrations/migration.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { createUsers } from '../../runtime/auth/users/user-table.ts';
import { catalogSource, readCatalog } from '../../runtime/database/catalog/read-catalog.ts';
import { migrate } from '../../runtime/database/migrations/migrate.ts';
import { openDatabase } from '../../runtime/database/open-database.ts';
import { projectOf } from '../graphql/harness.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { released } from '../upgrade/releases.ts';

const OPERATOR = 'the operator knows this';
const CONSOLE = { client: 'console', delivery: 'cookie' };
const NOTES = 'type Note { id: ID! text: String! }\ntype Query { notes: [Note!]! }\n';
const FILE = `
export async function up(db, { dialect }) {
  const key = (c) => dialect === 'sqlite' ? c.primaryKey() : c.primaryKey().generatedByDefaultAsIdentity();
  await db.schema.createTable('notes').addColumn('id', dialect === 'sqlite' ? 'integer' : 'bigint', key).addColumn('text', 'text', (c) => c.notNull()).execute();
}
`;

const TABLES = [
  'auth_identifier_locks',
  'auth_limit_windows',
  'auth_login_attempts',
  'auth_one_time_tokens',
  'auth_revoked_tokens',
  'auth_security_events',
  'auth_sessions',
];

/** The tables of auth with all that a migration could have changed of them. */
async function tablesOf({ db }: Store) {
  const { tables } = await readCatalog(catalogSource(db));
  return new Map(
    tables
      .filter(({ name }) => name.startsWith('auth_'))
      .map(({ name, columns, indexes, uniques, primaryKey }) => [
        name,
        {
          columns: columns.map(({ name: column, type, nullable }) => [column, type, nullable]),
          indexes: indexes.map(({ definition }) => definition).sort(),
          keys: [primaryKey, ...uniques].map((each) => each?.columns.join()).sort(),
        },
      ]),
  );
}

const namesOf = async (store: Store) => [...(await tablesOf(store)).keys()].sort();

/** What 0.1.0 made where only the operator signed in: the tables of accounts too. */
async function begunBefore(store: Store): Promise<void> {
  const path = join(released('0.1.0').modules, '@twofold/auth/tables.js');
  const { authMigrations } = (await import(path)) as {
    authMigrations: (user: unknown, ids: string) => Migration[];
  };
  await migrate(store, authMigrations(DEFAULT_AUTH.user, 'integer'));
  await createUsers(store.db, 'auth_no_users', 'integer');
}

interface Server extends Running {
  readonly troubles: string[];
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ status: number; body: any; headers: Headers }>;
}

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`a console without accounts on ${name}`, () => {
    const made: TestDatabase[] = [];
    const servers: Server[] = [];
    const root = mkdtempSync(join(tmpdir(), 'twofold-operator-'));
    mkdirSync(join(root, 'migrations'));
    writeFileSync(join(root, 'migrations/0001_notes.ts'), FILE);
    let clock = 0;
    afterEach(async () => {
      for (const server of servers.splice(0)) await server.close();
      for (const each of made.splice(0)) await each.drop();
    });
    afterAll(() => rmSync(root, { recursive: true, force: true }));
    const newDatabase = async () => {
      const database = await create();
      made.push(database);
      return database;
    };
    const envOf = ({ url }: TestDatabase) => ({
      DATABASE_URL: url,
      LOG_LEVEL: 'warn',
      JWT_SECRET: 'a secret of the tests that is long enough',
      HOST_PASSWORD: OPERATOR,
    });
    const appOf = (section: 'auth: {}' | ''): App => ({
      project: projectOf(NOTES, `name: shop\napi: { access: public }\nconsole: {}\n${section}\n`),
      root: pathToFileURL(`${root}/`),
      migrations: pathToFileURL(`${root}/migrations/`),
      capabilities: [auth(), webConsole()],
    });
    const verbs = (section: 'auth: {}' | '', database: TestDatabase) =>
      openDatabase(appOf(section), { env: envOf(database) });
    const start = async (section: 'auth: {}' | '', database: TestDatabase): Promise<Server> => {
      const troubles: string[] = [];
      const write = (line: string) =>
        void ((JSON.parse(line) as { level: number }).level >= 50 && troubles.push(line));
      const running = await createServer(appOf(section)).start('127.0.0.1:0', {
        env: envOf(database),
        logTo: { write },
        now: () => Date.now() + clock,
      });
      const call: Server['call'] = async (method, path, body, headers = {}) => {
        const response = await fetch(running.url + path, {
          method,
          headers: {
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const { status } = response;
        return { status, headers: response.headers, body: text && JSON.parse(text) };
      };
      const server = { ...running, troubles, call };
      servers.push(server);
      return server;
    };

    it('has the tables of the operator, and all that the operator does needs no others', async () => {
      const database = await newDatabase();
      const server = await start('', database);
      expect(await namesOf(database.store)).toEqual(TABLES);
      const { call } = server;
      const signIn = (password = OPERATOR) =>
        call('POST', '/api/auth/login', { password, ...CONSOLE });
      expect((await signIn('wrong')).status).toBe(401);
      expect(
        (await call('GET', '/api/data', undefined, { 'X-API-Key': 'no such key' })).status,
      ).toBe(401);
      const first = await signIn();
      const second = await signIn();
      expect([first.status, second.status]).toEqual([200, 200]);
      const as = { Authorization: `Bearer ${first.body.token}` };
      const note = await call('POST', '/api/data/notes', { text: 'one' }, as);
      expect([note.status, note.body]).toMatchObject([201, { text: 'one' }]);
      const audited = await call('GET', '/api/system/audit', undefined, as);
      expect(audited.body.entries).toMatchObject([{ actor: 'host' }]);
      const told = await call('GET', '/api/auth/sessions', undefined, as);
      const other = told.body.sessions.find((each: { current: boolean }) => !each.current);
      const named = await call('PATCH', `/api/auth/sessions/${other.id}`, { name: 'Desk' }, as);
      expect([told.body.total, named.body.name]).toEqual([2, 'Desk']);
      const [Cookie = ''] =
        (first.headers.get('Set-Cookie') ?? '').match(/refresh-console=[^;]+/) ?? [];
      const renewed = await call('POST', '/api/auth/refresh', CONSOLE, {
        Cookie,
        Origin: server.url,
      });
      expect(renewed.status).toBe(200);
      // After five minutes another session ends only with a new proof.
      clock = 6 * 60_000;
      const end = (token: string) =>
        call('DELETE', `/api/auth/sessions/${other.id}`, undefined, {
          Authorization: `Bearer ${token}`,
        });
      expect((await end(renewed.body.token)).status).toBe(403);
      const again = await signIn();
      expect((await end(again.body.token)).status).toBe(204);
      const leave = { Authorization: `Bearer ${again.body.token}` };
      expect((await call('POST', '/api/auth/logout', CONSOLE, leave)).status).toBe(200);
      expect((await call('GET', '/api/auth/sessions', undefined, leave)).status).toBe(401);
      expect((await signIn('wrong')).status).toBe(401);
      const tries: number[] = [];
      for (let time = 0; time < 10; time++) tries.push((await signIn('wrong')).status);
      expect(new Set(tries)).toEqual(new Set([401, 423]));
      await server.close();
      expect(server.troubles).toEqual([]);
      clock = 0;
    });

    it('is in accord with its migrations: none waits, nothing has drifted, all rows move', async () => {
      const database = await newDatabase();
      await (await start('', database)).close();
      const { pending, missing: gone, applied } = await verbs('', database).status();
      expect([pending, gone]).toEqual([[], []]);
      expect(applied).toContain('auth/0002_sessions');
      expect(applied).not.toContain('auth/0001_accounts');
      expect(await verbs('', database).drift()).toEqual([]);
      const plan = await verbs('auth: {}', database).plan();
      expect(plan.migrations.map((each) => each.name)).toEqual(['auth/0001_accounts']);
      expect(
        new Set(plan.migrations.flatMap(({ steps }) => steps.map(({ verdict }) => verdict))),
      ).toEqual(new Set(['safe']));
      const to = await newDatabase();
      const moved = await verbs('', database).copy({ from: database.url, to: to.url });
      expect([moved.ok, moved.pending]).toEqual([true, []]);
      expect(await namesOf(to.store)).toEqual(TABLES);
    });

    it('gets the tables of accounts with the first auth section, and keeps them without it', async () => {
      const database = await newDatabase();
      await (await start('', database)).close();
      const before = await tablesOf(database.store);
      const server = await start('auth: {}', database);
      const user = { email: 'ada@x.test', password: 'correct horse battery staple' };
      expect((await server.call('POST', '/api/auth/register', user)).status).toBe(201);
      expect((await server.call('POST', '/api/auth/login', user)).status).toBe(200);
      const after = await tablesOf(database.store);
      expect(after.size).toBe(23);
      for (const [table, facts] of before) expect(after.get(table)).toEqual(facts);
      expect(await verbs('auth: {}', database).drift()).toEqual([]);
      await server.close();
      expect(server.troubles).toEqual([]);
      const without = await start('', database);
      await without.close();
      expect(without.troubles).toEqual([]);
      expect((await verbs('', database).status()).missing).toEqual([]);
      expect(await tablesOf(database.store)).toEqual(after);
      const to = await newDatabase();
      const moved = await verbs('', database).copy({ from: database.url, to: to.url });
      expect(moved.tables).toContainEqual(expect.objectContaining({ name: 'auth_users', rows: 1 }));
      expect([moved.ok, moved.pending]).toEqual([true, []]);
    });

    it('goes on in a database of 0.1.0, which has all tables, and changes none of them', async () => {
      const database = await newDatabase();
      await begunBefore(database.store);
      const before = await tablesOf(database.store);
      expect(before.size).toBe(24);
      for (const section of ['', 'auth: {}', ''] as const) {
        const server = await start(section, database);
        const { status } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
        await server.close();
        expect([status, server.troubles]).toEqual([200, []]);
        const { pending, missing: gone } = await verbs(section, database).status();
        expect([pending, gone, await verbs(section, database).drift()]).toEqual([[], [], []]);
      }
      expect(await tablesOf(database.store)).toEqual(before);
      const to = await newDatabase();
      const moved = await verbs('', database).copy({ from: database.url, to: to.url });
      expect([moved.ok, moved.pending]).toEqual([true, []]);
    });
  });
}
