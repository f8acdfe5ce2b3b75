import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isOwnTable } from '../../schema/names.ts';
import { PASSING } from '../../runtime/core/store/migrations/ledger.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { PostgresOptions } from '../../runtime/core/store/postgres/postgres-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createDatabase, describeWith, needs, type TestDatabase } from '../engines/available.ts';
import { startPooler, type TestPooler } from '../engines/pgbouncer.ts';

const BOUNDS = {
  asker: { cancelled: false },
  limits: { time: 10_000, result: 10_000_000, memory: 100_000_000 },
  sent: false,
};

describeWith('pgbouncer', 'a store behind a pooler in transaction mode', () => {
  for (const size of [2, 4])
    describe(`with ${size} connections`, () => {
      let pooler: TestPooler;
      let database: TestDatabase;
      let stores: Store[] = [];
      const open = (options: PostgresOptions = {}, url = pooler.through(database.url)) => {
        const store = openStore(url, '.', options);
        stores.push(store);
        return store;
      };

      beforeAll(async () => {
        needs('postgres');
        pooler = await startPooler({ size });
        database = await createDatabase();
        await run('create table item (id int primary key, n int not null)');
        await run('insert into item select id, 0 from generate_series(1, 100) id');
      });
      afterAll(async () => {
        await Promise.allSettled(stores.map((store) => store.close()));
        stores = [];
        await pooler?.stop();
        await database?.drop();
      });

      async function run(text: string): Promise<any[]> {
        const client = new pg.Client({ connectionString: database.url });
        await client.connect();
        try {
          return (await client.query(text)).rows;
        } finally {
          await client.end();
        }
      }

      it('answers each statement, however often it occurs, on two servers', async () => {
        const servers = [open(), open()];
        const texts = [1, 2, 3].map(
          (extra) => `select (n + ${extra}) as n from item where id = $1`,
        );
        const asked = Array.from({ length: 600 }, (_, at) => {
          const store = servers[at % 2]!;
          const text = texts[at % 3]!;
          if (at % 4 === 0)
            return store.valueLater(text.replace(' as n', '::text as n'), [1 + (at % 100)]);
          if (at % 4 === 1)
            return store.answer(
              {
                text: `select json_build_object('n', n)::text from item where id = $1`,
                long: at % 8 === 1,
              },
              [1],
              BOUNDS,
            );
          return store.query(text, [1 + (at % 100)]);
        });
        expect(
          (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected'),
        ).toEqual([]);
      });

      it('leaves the connections of the pooler as they were', async () => {
        const store = open();
        await store.answer({ text: 'select 1::text', long: true }, [], BOUNDS);
        const [{ jit }] = (await store.query('select current_setting($1) as jit', ['jit'])) as any;
        const [{ jit: usual }] = await run(`select current_setting('jit') as jit`);
        expect(jit).toBe(usual);
        expect(
          await store.answer({ text: `select current_setting('jit')`, long: true }, [], BOUNDS),
        ).toBe('off');
      });

      it('keeps a lock from other servers, and leaves nothing in the database', async () => {
        const servers = [open(), open()];
        let inside = 0;
        let most = 0;
        const work = async () => {
          most = Math.max(most, (inside += 1));
          await pause(2);
          inside -= 1;
        };
        await Promise.all(
          Array.from({ length: 40 }, (_, at) => servers[at % 2]!.lock('one', work)),
        );
        expect(most).toBe(1);
        expect(
          await run(`select 1 from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())`),
        ).toEqual([]);
        expect(await run('select * from twofold_locks')).toEqual([]);
      });

      it('leaves no lock behind when it is closed while it holds one', async () => {
        const store = open();
        const release = Promise.withResolvers<void>();
        const held = store.lock('closed', () => release.promise);
        await expect
          .poll(() => run(`select 1 from twofold_locks where name = 'closed'`))
          .toHaveLength(1);
        await store.close();
        expect(await run(`select 1 from twofold_locks where name = 'closed'`)).toEqual([]);
        release.resolve();
        await held;
        expect(await open().lock('closed', async () => 'free')).toBe('free');
      });

      it('sends where nobody has listened yet', async () => {
        await run('drop table if exists twofold_messages');
        const [sender, other] = [open(), open()];
        await sender!.notify!('early', ['before']);
        const heard: string[] = [];
        await other!.listen!('early', (text) => heard.push(text));
        await sender!.notify!('early', ['after']);
        await expect.poll(() => heard, { timeout: 3_000 }).toEqual(['after']);
      });

      it('makes only tables that backups and imports leave out', async () => {
        const store = open();
        await store.lock('any', async () => {});
        await store.listen!('any', () => {});
        const made = await run(
          `select table_name as name from information_schema.tables where table_name like 'twofold%' order by 1`,
        );
        expect(made.map(({ name }) => name)).toEqual(['twofold_locks', 'twofold_messages']);
        for (const { name } of made)
          expect([PASSING.includes(name), isOwnTable(name)]).toEqual([true, true]);
      });

      it('holds many locks without holding connections', async () => {
        const servers = [open(), open()];
        const held = Array.from({ length: 12 }, (_, at) =>
          servers[at % 2]!.lock(`many-${at}`, async () => {
            await pause(50);
            return servers[at % 2]!.query('select n from item where id = $1', [1]);
          }),
        );
        expect(await Promise.all(held)).toHaveLength(12);
      });

      it('says who holds a lock, and gives up when its patience ends', async () => {
        const lines: any[] = [];
        const log = { warn: (fields: object) => lines.push(fields), error: () => {} } as any;
        const [holder, other] = [open({ application: 'twofold:first' }), open({ log })];
        const release = Promise.withResolvers<void>();
        const begun = Promise.withResolvers<void>();
        const held = holder!.lock('waited', () => (begun.resolve(), release.promise));
        await begun.promise;
        await expect(other!.lock('waited', async () => 'never', 1_500)).rejects.toMatchObject({
          code: 'WAITING_FOR_LOCK',
          extensions: {
            lock: 'waited',
            holder: { application: 'twofold:first', pid: process.pid },
          },
        });
        expect(lines).toMatchObject([{ lock: 'waited', holder: { pid: process.pid } }]);
        const next = other!.lock('waited', async () => 'mine');
        release.resolve();
        await held;
        expect(await next).toBe('mine');
      });

      it('passes messages on within two seconds, none lost and none twice', async () => {
        const [sender, other] = [open(), open()];
        const heard: string[] = [];
        const stop = await other!.listen!('news', (text) => heard.push(text));
        await Promise.all(
          Array.from({ length: 50 }, (_, at) => sender!.notify!('news', [`a${at}`, `b${at}`])),
        );
        await expect.poll(() => heard.length, { timeout: 2_000 }).toBe(100);
        await pause(1_500);
        expect(new Set(heard).size).toBe(100);
        expect(heard).toHaveLength(100);
        stop();
      });

      it('hears a message of a transaction that ended late', async () => {
        const [sender, other] = [open(), open()];
        const heard: string[] = [];
        await other!.listen!('late', (text) => heard.push(text));
        const client = new pg.Client({ connectionString: database.url });
        await client.connect();
        await client.query(
          `begin; insert into twofold_messages (channel, payload) values ('late', 'first')`,
        );
        await sender!.notify!('late', ['second']);
        await expect.poll(() => heard, { timeout: 2_000 }).toEqual(['second']);
        await client.query('commit');
        await expect.poll(() => heard, { timeout: 2_000 }).toEqual(['second', 'first']);
        await client.end();
      });

      it('listens and locks on the direct address where there is one', async () => {
        const servers = [open({ direct: database.url }), open({ direct: database.url })];
        const heard: string[] = [];
        await servers[1]!.listen!('direct', (text) => heard.push(text));
        await servers[0]!.notify!('direct', ['now']);
        await expect.poll(() => heard, { timeout: 500 }).toEqual(['now']);
        await servers[0]!.lock('direct', async () => {
          expect(
            await run(`select 1 from pg_locks where locktype = 'advisory' and granted
            and database = (select oid from pg_database where datname = current_database())`),
          ).toHaveLength(1);
        });
      });
    });
});
