import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { oddParameters, parsePostgresAddress as addressOf } from '../../schema/postgres-address.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import type { Store } from '../../runtime/core/store/store.ts';
import { describeWith } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { type OwnPostgres, ownPostgres } from '../engines/own-postgres.ts';

describeWith('postgres', 'an address with several hosts', () => {
  let servers: readonly OwnPostgres[];
  let stores: Store[] = [];
  beforeAll(async () => {
    servers = await Promise.all([ownPostgres(), ownPostgres()]);
    const first = new URL(servers[0]!.url);
    // Both have the password of the first one, so that one address fits them.
    await run(1, `alter role postgres password '${first.password}'`);
    await run(0, 'create table place as select 1 as at');
  }, 60_000);
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    stores = [];
    await readOnly(0, false);
    await readOnly(1, false);
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  async function run(at: number, text: string): Promise<void> {
    const password = new URL(servers[0]!.url).password;
    for (const each of [
      servers[at]!.url,
      Object.assign(new URL(servers[at]!.url), { password }).href,
    ]) {
      const client = new pg.Client({ connectionString: each });
      const connected = await client.connect().then(
        () => true,
        () => false,
      );
      if (!connected) continue;
      await client.query('set default_transaction_read_only = off');
      await client.query(text).finally(() => client.end());
      return;
    }
  }

  async function readOnly(at: number, is: boolean): Promise<void> {
    await run(at, `alter system set default_transaction_read_only = ${is ? 'on' : 'off'}`);
    await run(at, 'select pg_reload_conf()');
  }

  const portOf = (at: number) => new URL(servers[at]!.url).port;

  function open(hosts: readonly string[], query = ''): Store {
    const { password } = new URL(servers[0]!.url);
    const store = openStore(
      `postgres://postgres:${password}@${hosts.join(',')}/postgres${query}`,
      '.',
    );
    stores.push(store);
    return store;
  }
  const both = () => [`localhost:${portOf(0)}`, `127.0.0.1:${portOf(1)}`];
  const where = async (store: Store) =>
    (await store.query('select inet_server_port()::text as port', []))[0]!['port'];

  it('uses the first one that takes writes', async () => {
    expect(await where(open(both()))).toBe(portOf(0));
    await readOnly(0, true);
    expect(await where(open(both()))).toBe(portOf(1));
    expect(await where(open([`localhost:${await freePort()}`, ...both()]))).toBe(portOf(1));
  });

  it('leaves a host that has stopped to take writes, with all connections, and fails no write', async () => {
    const store = open(both());
    await Promise.all(Array.from({ length: 20 }, () => store.query('select pg_sleep(0.01)', [])));
    const write = (query: Parameters<Parameters<Store['transact']>[0]>[0]) =>
      query('create table if not exists written (n int)', []);
    await store.transact(write);
    await readOnly(0, true);
    await expect.poll(() => store.transact(write).then(() => where(store))).toBe(portOf(1));
    const places = await Promise.all(Array.from({ length: 20 }, () => where(store)));
    expect(new Set(places)).toEqual(new Set([portOf(1)]));
  });

  it('says that none takes writes', async () => {
    await readOnly(0, true);
    await readOnly(1, true);
    await expect(where(open(both()))).rejects.toMatchObject({
      cause: { message: 'the server takes no writes' },
    });
    expect(await where(open([both()[0]!]))).toBe(portOf(0));
  });

  it('reads an address as libpq does', () => {
    const { places, user, password, database, parameters } = addressOf(
      'postgresql://a%40b:p:q%2F@[::1]:5433,db2,%2Fvar%2Frun:1/shop%20b?connect_timeout=3',
    );
    expect(places).toEqual([
      { host: '::1', port: 5433 },
      { host: 'db2', port: 5432 },
      { host: '/var/run', port: 1 },
    ]);
    expect([user, password, database, parameters['connect_timeout']]).toEqual([
      'a@b',
      'p:q/',
      'shop b',
      '3',
    ]);
    expect(addressOf('postgres:///shop?host=a,b&port=1,2').places).toEqual([
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ]);
    expect(() => addressOf('postgres://h:p/x/y:1')).toThrow(/has no host and port|must be/);
  });

  it('warns of parameters that nothing knows, and of none that libpq has', () => {
    const said = oddParameters(
      addressOf('postgres://h/d?slmode=require&channel_binding=require&pgbouncer=true&schema=a'),
    );
    expect(said).toEqual([
      'DATABASE_URL has the parameter slmode, which nothing knows. Did you mean "sslmode"?',
      expect.stringMatching(
        /^DATABASE_URL has the parameter pgbouncer, which nothing knows. known: sslmode/,
      ),
    ]);
  });
});
