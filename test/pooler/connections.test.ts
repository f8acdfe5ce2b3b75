import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSettings } from '../../runtime/core/config/settings.ts';
import { databaseSettings } from '../../runtime/core/store/database-settings.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createDatabase, describeWith, type TestDatabase } from '../engines/available.ts';
import { ask, type ServerProcess, startServer, subscribe } from './start-server.ts';

describeWith('postgres', 'the connections of a server', () => {
  let database: TestDatabase;
  let servers: ServerProcess[] = [];
  let stores: Store[] = [];
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all([
      ...servers.map((server) => server.stop()),
      ...stores.map((store) => store.close()),
    ]);
    [servers, stores] = [[], []];
    await database.drop();
  });
  const start = (env: Readonly<Record<string, string>> = {}) => {
    const server = startServer({ DATABASE_URL: database.url, ...env });
    servers.push(server);
    return server;
  };
  const open = (...given: Parameters<typeof openStore>) => {
    const store = openStore(...given);
    stores.push(store);
    return store;
  };

  /** Counts the connections of servers every few milliseconds. @returns a function that ends it. */
  async function sample(url = database.url): Promise<() => Promise<number>> {
    const client = new pg.Client({ connectionString: url, application_name: 'the observer' });
    await client.connect();
    let most = 0;
    const ending = new AbortController();
    const loop = (async () => {
      while (!ending.signal.aborted) {
        const { rows } = await client.query(
          `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name like 'twofold%'`,
        );
        most = Math.max(most, rows[0].n);
        await pause(5);
      }
    })();
    return async () => {
      ending.abort();
      await loop;
      await client.end();
      return most;
    };
  }

  for (const bound of [3, 6])
    it(`are never more than ${bound}, from the start to the end`, async () => {
      const stop = await sample();
      const server = start(bound === 6 ? {} : { DATABASE_CONNECTIONS: String(bound) });
      const url = await server.listening();
      const heard: unknown[] = [];
      const end = await subscribe(url, 'subscription { noteCreated { text } }', (data) =>
        heard.push(data),
      );
      const { data } = await ask(url, 'mutation { createTag(name: "t") { id } }');
      const texts = [
        `mutation { createNote(text: "new", tagId: ${data.createTag.id}) { id tag { name } } }`,
        '{ notes(limit: 50) { text tag { name } } }',
        '{ tags { notes { text } } }',
      ];
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, at) => ask(url, texts[at % 3]!)),
      );
      expect(answers.filter(({ errors }) => errors)).toEqual([]);
      await expect.poll(() => heard.length).toBe(100);
      end();
      const { database: facts } = await server.line(({ database: found }) => found);
      expect(facts.connections).toBe(bound);
      await server.stop();
      expect(await stop()).toBeLessThanOrEqual(bound);
    });

  it('hold a lock in each of many tasks by one of them', async () => {
    const store = open(database.url, '.', { connections: 3 });
    const stop = await sample();
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        store.lock(`l${at}`, () => store.query('select pg_sleep(0.02)', [])),
      ),
    );
    expect(await stop()).toBeLessThanOrEqual(3);
  });

  it('must be enough, also for the workers that share them', () => {
    const problemOf = (given: string, workers: number) => {
      const settings = createSettings({ DATABASE_URL: database.url, DATABASE_CONNECTIONS: given });
      const { connections } = databaseSettings(settings, workers);
      expect(() => settings.assert()).toThrow();
      expect(connections).toBe(3);
      return () => settings.assert();
    };
    expect(problemOf('2', 1)).toThrow(/DATABASE_CONNECTIONS must be 3 or more$/);
    expect(problemOf('many', 1)).toThrow(/DATABASE_CONNECTIONS must be 3 or more$/);
    expect(problemOf('5', 2)).toThrow(/DATABASE_CONNECTIONS must be 6 or more for 2 WORKERS$/);
  });

  it('are shared by the workers', async () => {
    const stop = await sample();
    const server = start({ DATABASE_CONNECTIONS: '7', WORKERS: '2' });
    const url = await server.listening();
    await Promise.all(Array.from({ length: 200 }, () => ask(url, '{ tags { notes { text } } }')));
    expect((await server.line(({ database: found }) => found))['database'].connections).toBe(3);
    await server.stop();
    expect(await stop()).toBeLessThanOrEqual(6);
  });

  it('fail no read when an administrator ends all of them, and say of a write whether it was done', async () => {
    const server = start();
    const url = await server.listening();
    const { data } = await ask(url, 'mutation { createTag(name: "t") { id } }');
    const create = `mutation { createNote(text: "n", tagId: ${data.createTag.id}) { id } }`;
    const reads: any[] = [];
    const writes: any[] = [];
    const ending = new AbortController();
    const callers = Array.from({ length: 8 }, async () => {
      while (!ending.signal.aborted) {
        reads.push(await ask(url, '{ notes(limit: 3) { text tag { name } } }'));
        writes.push(await ask(url, create));
      }
    });
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    for (let round = 0; round < 5; round += 1) {
      await pause(200);
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    }
    await pause(200);
    ending.abort();
    await Promise.all(callers);
    expect(reads.filter(({ errors }) => errors)).toEqual([]);
    const failed = writes.filter(({ errors }) => errors);
    const outcomes = failed.map(({ errors }) => errors[0].extensions.outcome);
    expect(outcomes.filter((each) => each !== 'unknown' && each !== 'none')).toEqual([]);
    const { rows } = await admin.query('select count(*)::int as n from notes');
    await admin.end();
    const done = writes.length - failed.length;
    expect(rows[0].n).toBeGreaterThanOrEqual(done);
    expect(rows[0].n).toBeLessThanOrEqual(
      done + outcomes.filter((each) => each === 'unknown').length,
    );
    expect(server.child.exitCode).toBeNull();
  });

  it('end with a process that is killed, and its locks with them', async () => {
    const holder = startServer({ DATABASE_URL: database.url }, 'lock-holder.ts');
    await holder.line(({ held }) => held);
    const waiting = open(database.url, '.').lock('held', async () => performance.now());
    await pause(300);
    const killed = performance.now();
    holder.child.kill('SIGKILL');
    expect((await waiting) - killed).toBeLessThan(5_000);
  });

  it('are said to be tight when PostgreSQL has no room for them', async () => {
    const server = start({ DATABASE_CONNECTIONS: '1000' });
    await server.listening();
    const { msg } = await server.line(({ msg: text }) => text?.startsWith('CONNECTIONS_TIGHT  '));
    expect(msg).toMatch(/may use 1000 connections .* room for \d+ of its \d+ /);
  });

  describe('when the role gets no more than three', () => {
    const role = `few_${randomBytes(4).toString('hex')}`;
    let url: string;
    const asAdmin = async (text: string) => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(text).finally(() => client.end());
    };
    beforeEach(async () => {
      await asAdmin(`create role ${role} login password 'few' connection limit 3`);
      url = Object.assign(new URL(database.url), { username: role, password: 'few' }).href;
    });
    afterEach(() => asAdmin(`drop role ${role}`));

    it('answers everything with those', async () => {
      const store = open(url, '.', { connections: 20 });
      const rows = await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          store.query('select pg_sleep(0.01), $1::int as n', [at]),
        ),
      );
      expect(rows.map(([row]) => row!['n'])).toEqual(Array.from({ length: 100 }, (_, at) => at));
      await store.transact(async (query) => query('select 1', []));
    });

    it('waits for a first one that another server has', async () => {
      const others = Array.from({ length: 3 }, () => new pg.Client({ connectionString: url }));
      await Promise.all(others.map((client) => client.connect()));
      const asked = open(url, '.').query('select 1 as n', []);
      await pause(500);
      await Promise.all(others.map((client) => client.end()));
      expect(await asked).toEqual([{ n: 1 }]);
    });
  });
});
