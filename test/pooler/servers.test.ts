import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, describeWith, needs, type TestDatabase } from '../engines/available.ts';
import { startPooler, type TestPooler } from '../engines/pgbouncer.ts';
import { ask, type ServerProcess, startServer, subscribe } from './start-server.ts';

const code = (wanted: string) => (line: Readonly<Record<string, any>>) =>
  line['msg']?.startsWith(`${wanted}  `);

describeWith('pgbouncer', 'servers behind a pooler in transaction mode', () => {
  let pooler: TestPooler;
  let database: TestDatabase;
  let servers: ServerProcess[] = [];
  const start = (env: Readonly<Record<string, string>> = {}) => {
    const server = startServer({ DATABASE_URL: pooler.through(database.url), ...env });
    servers.push(server);
    return server;
  };

  beforeAll(async () => {
    needs('postgres');
    pooler = await startPooler({ size: 4 });
  });
  afterAll(() => pooler?.stop());
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
    await database.drop();
  });

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async function run(text: string): Promise<any[]> {
    const client = await connect();
    return client
      .query(text)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  async function load(urls: readonly string[], requests: number): Promise<string[]> {
    const failed: string[] = [];
    const { data } = await ask(urls[0]!, 'mutation { createTag(name: "first") { id } }');
    const { id } = data.createTag;
    const texts = [
      `mutation { createNote(text: "new", tagId: ${id}) { id tag { name } } }`,
      '{ notes(limit: 5) { id text tag { name } } }',
      '{ note(id: 1) { id text } }',
      '{ tags { name notes { text } } }',
    ];
    let next = 0;
    const caller = async () => {
      while (next < requests) {
        const at = next++;
        const answer = await ask(urls[at % urls.length]!, texts[at % texts.length]!);
        if (answer.errors) failed.push(JSON.stringify(answer.errors));
      }
    };
    await Promise.all(Array.from({ length: 40 }, caller));
    return failed;
  }

  const LOCKS = `select 1 from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;

  for (const [name, direct] of [
    ['without', false],
    ['with', true],
  ] as const)
    describe(`${name} a direct address`, () => {
      const env = (): Record<string, string> =>
        direct ? { DATABASE_DIRECT_URL: database.url } : {};

      it('start at once, answer everything, and leave nothing behind', async () => {
        const both = [start(env()), start(env())];
        const urls = await Promise.all(both.map((server) => server.listening()));
        expect(await load(urls, 1_000)).toEqual([]);
        for (const server of both) {
          const { database: facts } = await server.line(({ database: found }) => found);
          expect(facts).toMatchObject({
            dialect: 'postgres',
            pooler: true,
            direct,
            read: 0,
            tls: false,
          });
          expect(facts.max_connections).toBeGreaterThan(0);
          expect(server.lines.filter(code('POOLER_WITHOUT_DIRECT'))).toHaveLength(direct ? 0 : 1);
        }
        await Promise.all(both.map((server) => server.stop()));
        expect(await run(LOCKS)).toEqual([]);
        if (!direct) expect(await run('select * from twofold_locks')).toEqual([]);
        await start(env()).listening();
      });

      it('tell subscribers of each other what was made', async () => {
        const urls = await Promise.all(
          [start(env()), start(env())].map((server) => server.listening()),
        );
        const { data } = await ask(urls[0]!, 'mutation { createTag(name: "t") { id } }');
        const heard: string[] = [];
        const end = await subscribe(
          urls[1]!,
          'subscription { noteCreated { text } }',
          ({ noteCreated }) => heard.push(noteCreated.text),
        );
        await pause(100);
        for (const text of ['one', 'two', 'three'])
          await ask(
            urls[0]!,
            `mutation { createNote(text: "${text}", tagId: ${data.createTag.id}) { id } }`,
          );
        await expect
          .poll(() => heard, { timeout: direct ? 1_000 : 2_500 })
          .toEqual(['one', 'two', 'three']);
        end();
      });
    });

  it('wait for a lock, say who holds it, and go on when it ends', async () => {
    const holder = await connect();
    await holder.query(
      `set application_name = 'the holder'; select pg_advisory_lock(hashtextextended('tables', 0))`,
    );
    const waiting = start({ DATABASE_DIRECT_URL: database.url });
    const begun = performance.now();
    const said = await waiting.line(code('WAITING_FOR_LOCK'));
    // It says so a second after it asked; a loaded machine takes some more to start the process.
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(said).toMatchObject({
      lock: 'tables',
      holder: { application: 'the holder', pid: expect.any(Number), address: '127.0.0.1' },
    });
    await holder.end();
    await waiting.listening();
  });

  it('get a lock within 30 s whose holder was killed', async () => {
    const first = start();
    await first.listening();
    // What a server leaves that is killed while it migrates.
    await run(
      `insert into twofold_locks values ('tables', 0, 'gone', 1, 'killed', 'host', now(), now() + interval '25 seconds')`,
    );
    const begun = performance.now();
    const second = start();
    await second.line(code('WAITING_FOR_LOCK'));
    await second.listening();
    expect(performance.now() - begun).toBeLessThan(30_000);
  }, 60_000);

  it('wait in production for a database that does not answer yet', async () => {
    await pooler.kill();
    const waiting = start({ NODE_ENV: 'production', MIGRATE: 'on' });
    const said = await waiting.line(code('WAITING_FOR_DATABASE'));
    expect(said['reason']).toMatch(/nothing listens at 127\.0\.0\.1/);
    await pooler.start();
    await waiting.listening();
  });

  for (const [name, direct] of [
    ['without', false],
    ['with', true],
  ] as const)
    it(`go on when the pooler is killed and comes again, ${name} a direct address`, async () => {
      const server = start(direct ? { DATABASE_DIRECT_URL: database.url } : {});
      const url = await server.listening();
      const { data } = await ask(url, 'mutation { createTag(name: "t") { id } }');
      const texts = [
        '{ tags { name } }',
        `mutation { createNote(text: "n", tagId: ${data.createTag.id}) { id } }`,
        '{ notes(limit: 3) { text tag { name } } }',
      ];
      const answers: { at: number; text: string; answer: any }[] = [];
      const ending = new AbortController();
      const callers = Array.from({ length: 8 }, async (_, of) => {
        for (let round = of; !ending.signal.aborted; round += 1) {
          const text = texts[round % 3]!;
          answers.push({ text, answer: await ask(url, text), at: performance.now() });
        }
      });
      await pause(500);
      await pooler.kill();
      await pause(500);
      await pooler.start();
      const listens = performance.now();
      await expect
        .poll(() => answers.some(({ at, answer }) => at > listens && !answer.errors), {
          timeout: 2_000,
          interval: 20,
        })
        .toBe(true);
      await pause(500);
      ending.abort();
      await Promise.all(callers);
      const failed = answers.filter(({ answer }) => answer.errors);
      expect(failed.filter(({ text }) => !text.startsWith('mutation'))).toEqual([]);
      for (const { answer } of failed)
        expect(answer.errors).toMatchObject([
          {
            extensions: {
              code: 'DATABASE_UNAVAILABLE',
              outcome: expect.stringMatching(/^(none|unknown)$/),
            },
          },
        ]);
      const [{ count }] = await run('select count(*)::int from notes');
      const made = answers.filter(
        ({ text, answer }) => text.startsWith('mutation') && !answer.errors,
      ).length;
      const unknown = failed.filter(
        ({ answer }) => answer.errors[0].extensions.outcome === 'unknown',
      ).length;
      expect(count).toBeGreaterThanOrEqual(made);
      expect(count).toBeLessThanOrEqual(made + unknown);
    });

  it('end at once when the name is wrong', async () => {
    const server = start({ NODE_ENV: 'production', DATABASE_URL: `${database.url}_not` });
    const { code: exit, errors } = await server.ended;
    expect([exit, errors]).toEqual([1, expect.stringMatching(/there is no database \w+_not/)]);
  });

  it('do not start when the two addresses lead to two databases', async () => {
    const other = await createDatabase();
    const server = start({ DATABASE_DIRECT_URL: other.url });
    const { code: exit, errors } = await server.ended;
    await other.drop();
    expect([exit, errors]).toEqual([1, expect.stringContaining('DATABASE_URL_MISMATCH')]);
  });

  it('do not start with settings of PostgreSQL beside SQLite', async () => {
    const server = start({
      DATABASE_URL: ':memory:',
      DATABASE_DIRECT_URL: database.url,
      DATABASE_POOLER: 'on',
    });
    const { code: exit, errors } = await server.ended;
    expect(exit).toBe(1);
    expect(errors).toMatch(/DATABASE_POOLER is about PostgreSQL/);
    expect(errors).toMatch(/DATABASE_DIRECT_URL is about PostgreSQL/);
  });
});
