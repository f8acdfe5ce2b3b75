import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createDatabase, describeWith, needs, type TestDatabase } from '../engines/available.ts';
import { startPooler, type TestPooler } from '../engines/pgbouncer.ts';
import { ask, type ServerProcess, startServer, subscribe } from '../pooler/start-server.ts';

const BLOG = '../../examples/blog/src/server.ts';

describeWith('pgbouncer', 'a schema of the address', () => {
  let pooler: TestPooler;
  let database: TestDatabase;
  let servers: ServerProcess[] = [];
  let stores: Store[] = [];
  beforeAll(async () => {
    needs('postgres');
    pooler = await startPooler({ size: 3 });
  });
  afterAll(() => pooler?.stop());
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all([
      ...servers.map((each) => each.stop()),
      ...stores.map((each) => each.close()),
    ]);
    [servers, stores] = [[], []];
    await database.drop();
  });

  async function run(text: string): Promise<any[]> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    return client
      .query(text)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  const at = (url: string, schema: string) => `${url}?schema=${encodeURIComponent(schema)}`;
  const start = (env: Readonly<Record<string, string>>, program?: string) => {
    const server = startServer(
      { PORT: '0', HOST: '127.0.0.1', JWT_SECRET: 'x'.repeat(32), ...env },
      program,
    );
    servers.push(server);
    return server;
  };
  const open = (url: string) => {
    const store = openStore(url, '.');
    stores.push(store);
    return store;
  };
  const tablesIn = async (schema: string) =>
    (await run(`select tablename as name from pg_tables where schemaname = '${schema}'`)).map(
      ({ name }) => name,
    );

  const ways: Record<string, (schema: string) => Record<string, string>> = {
    'at PostgreSQL itself': (schema) => ({ DATABASE_URL: at(database.url, schema) }),
    'behind a pooler': (schema) => ({ DATABASE_URL: at(pooler.through(database.url), schema) }),
    'behind a pooler, with a direct address': (schema) => ({
      DATABASE_URL: at(pooler.through(database.url), schema),
      DATABASE_DIRECT_URL: database.url,
    }),
  };

  for (const [name, env] of Object.entries(ways))
    it(`has all tables of two projects, which do not notice each other, ${name}`, async () => {
      const pair = ['shop', 'A "b" ü'].map((schema) => start(env(schema)));
      const urls = await Promise.all(pair.map((server) => server.listening()));
      const heard: unknown[][] = [[], []];
      const ends = await Promise.all(
        urls.map((url, of) =>
          subscribe(url, 'subscription { noteCreated { text } }', (data) => heard[of]!.push(data)),
        ),
      );
      const other = start(env('shop'));
      const elsewhere = await other.listening();
      const create = async (url: string, text: string) => {
        const made = await ask(url, `mutation { createTag(name: "${text}") { id } }`);
        return ask(
          url,
          `mutation { createNote(text: "${text}", tagId: ${made.data.createTag.id}) { tag { name } } }`,
        );
      };
      const texts = Array.from({ length: 20 }, (_, each) => `n${each}`);
      const answers = await Promise.all(
        texts.flatMap((text) => [create(elsewhere, text), create(urls[1]!, text)]),
      );
      expect(answers.filter(({ errors }) => errors)).toEqual([]);
      await expect
        .poll(() => heard.map(({ length }) => length), { timeout: 5_000 })
        .toEqual([20, 20]);
      for (const url of urls)
        expect((await ask(url, '{ notes(limit: 50) { text } }')).data.notes).toHaveLength(20);
      expect(await tablesIn('public')).toEqual([]);
      expect(await tablesIn('shop')).toEqual(expect.arrayContaining(['notes', 'tags']));
      ends.forEach((end) => end());
    });

  it('has what migrations make, behind a pooler too', async () => {
    for (const [schema, url] of [
      ['one', database.url],
      ['two', pooler.through(database.url)],
    ] as const) {
      const server = start({ DATABASE_URL: at(url, schema) }, BLOG);
      expect(await ask(await server.listening(), '{ posts { id } }')).toEqual({
        data: { posts: [] },
      });
      await server.stop();
    }
    expect(await tablesIn('public')).toEqual([]);
    const [one, two] = await Promise.all(['one', 'two'].map(tablesIn));
    expect(new Set(two)).toEqual(new Set([...one!, 'twofold_locks']));
  });

  describe('of a store', () => {
    it('holds in each statement and transaction behind a pooler, and leaves nothing there', async () => {
      await run('create schema here; create table here.item (n int)');
      const store = open(at(pooler.through(database.url), 'here'));
      const plain = open(pooler.through(database.url));
      const work = Array.from({ length: 60 }, async (_, of) => {
        if (of % 3 === 0) await store.query('insert into item values ($1)', [of]);
        if (of % 3 === 1)
          await store.transaction(async (trx) => {
            await trx.insertInto('item').values({ n: of }).execute();
            return trx.selectFrom('item').selectAll().execute();
          });
        if (of % 3 === 2) {
          await expect(store.query('select * from missing', [])).rejects.toThrow('missing');
          await expect(plain.query('select * from item', [])).rejects.toThrow('item');
        }
      });
      await Promise.all(work);
      await store.transaction((trx) => trx.insertInto('item').values({ n: 1 }).execute(), {
        isolation: 'serializable',
      });
      expect(await store.valueLater('select count(*)::text from item', [])).toBe('41');
      await store.db.schema.createTable('made').addColumn('n', 'integer').execute();
      const { sql } = await import('kysely');
      await sql.raw('create index concurrently made_n on "made" (n)').execute(store.db);
      expect(await store.transact((query) => query('select n from made', []))).toEqual([]);
      expect(await tablesIn('here')).toEqual(['item', 'made']);
    });

    it('is made where it may be, and else asked for', async () => {
      const role = `made_${randomBytes(4).toString('hex')}`;
      await run(`create role ${role} login password 'few'`);
      const url = Object.assign(new URL(database.url), { username: role, password: 'few' });
      const refused = open(at(url.href, 'shop')).query('select 1', []);
      await expect(refused).rejects.toThrow(
        /the database has no schema shop, which DATABASE_URL names: create schema "shop" .*permission denied/,
      );
      await run(`create schema shop authorization ${role}`);
      const store = open(at(url.href, 'shop'));
      await store.query('create table mine (n int)', []);
      expect(await tablesIn('shop')).toEqual(['mine']);
      await run(`drop owned by ${role}; drop role ${role}`);
    });
  });
});
