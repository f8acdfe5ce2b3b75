import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { toFailure } from '../../runtime/core/data/write/database-failure.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { createDatabase, describeWith, type TestDatabase } from '../engines/available.ts';
import { ask, type ServerProcess, startServer } from '../pooler/start-server.ts';

const BLOG = '../../examples/blog/src/server.ts';

describeWith('postgres', 'a role of a provider', () => {
  const role = `few_${randomBytes(4).toString('hex')}`;
  let database: TestDatabase;
  let servers: ServerProcess[] = [];
  let stores: Store[] = [];
  beforeEach(async () => {
    database = await createDatabase();
    await run(`create role ${role} login password 'few'`);
  });
  afterEach(async () => {
    await Promise.all([
      ...servers.map((each) => each.stop()),
      ...stores.map((each) => each.close()),
    ]);
    [servers, stores] = [[], []];
    await run(`drop owned by ${role}; drop role ${role}`);
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

  const ofRole = () =>
    Object.assign(new URL(database.url), { username: role, password: 'few' }).href;
  const start = (env: Readonly<Record<string, string>>) => {
    const server = startServer(
      { PORT: '0', HOST: '127.0.0.1', JWT_SECRET: 'x'.repeat(32), ...env },
      BLOG,
    );
    servers.push(server);
    return server;
  };
  const open = () => {
    const store = openStore(ofRole(), '.');
    stores.push(store);
    return store;
  };

  it('serves with DML alone where another one has migrated, and is told all that lacks', async () => {
    const owner = start({ DATABASE_URL: database.url });
    await owner.listening();
    await owner.stop();
    await run('revoke all on schema public from public');
    const refused = await start({ DATABASE_URL: ofRole(), MIGRATE: 'off' }).ended;
    expect(refused.code).toBe(1);
    expect(refused.errors).toMatch(`DATABASE_RIGHTS_MISSING  the role ${role} lacks rights`);
    const grants = refused.errors.match(/grant .*;/g)!;
    expect(grants).toContain(`grant usage on schema public to ${role};`);
    expect(grants).toContain(
      `grant select, insert, update, delete on table public.posts to ${role};`,
    );
    await run(grants.join('\n'));
    const served = start({ DATABASE_URL: ofRole(), MIGRATE: 'off', NODE_ENV: 'production' });
    const url = await served.listening();
    expect(await ask(url, '{ posts { id } }')).toEqual({ data: { posts: [] } });
    expect(served.lines.filter(({ level }) => level > 40)).toEqual([]);
    await run(`revoke delete on posts from ${role}`);
    const { errors } = await start({
      DATABASE_URL: ofRole(),
      DATABASE_DIRECT_URL: database.url,
    }).ended;
    expect(errors.match(/grant .*;/g)).toEqual([`grant delete on table public.posts to ${role};`]);
  });

  it('has limits of time, which migrations lift and which are TIMEOUT for others', async () => {
    await run(`alter role ${role} set statement_timeout = '200ms'`);
    await run(`alter role ${role} set lock_timeout = '100ms'`);
    await run(`alter role ${role} set idle_in_transaction_session_timeout = '200ms'`);
    await run(`grant create on schema public to ${role}`);
    const store = open();
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'none',
        (error: unknown) => toFailure(error)?.code,
      );
    await store.query('create table slow (n int)', []);
    expect(await codeOf(store.query('select pg_sleep(1)', []))).toBe('TIMEOUT');
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('begin; lock table slow in access exclusive mode');
    expect(await codeOf(store.query('select * from slow', []))).toBe('TIMEOUT');
    await holder.end();
    const idle = store.transaction(async () => {
      await store.query('select 1', []);
      await pause(600);
      await store.query('select 1', []);
    });
    expect(await codeOf(idle)).toBe('TIMEOUT');
    await store.structuralTransaction(async (trx) => {
      await pause(400);
      await trx.executeQuery({ sql: 'select pg_sleep(0.4)', parameters: [], query: {} } as never);
    });
    expect(await store.query('select 1 as n', [])).toEqual([{ n: 1 }]);
  });
});
