import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../engines/available.ts';
import { type ServerProcess, startServer, subscribe } from '../pooler/start-server.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { Cluster } from './cluster.ts';
import { load, post, tell } from './load.ts';

describeWith('postgres', 'a server whose database goes away', () => {
  let cluster: Cluster;
  let servers: ServerProcess[] = [];
  const start = async (env: Readonly<Record<string, string>> = {}) => {
    const server = startServer({ DATABASE_URL: cluster.url, ...env }, '../failover/program.ts');
    servers.push(server);
    return { server, url: await server.listening() };
  };
  const linesOf = ({ lines }: ServerProcess, code: string) =>
    lines.filter(({ msg }) => msg?.startsWith(`${code}  `));

  beforeAll(async () => {
    cluster = await Cluster.start();
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
    await cluster.start();
  });
  afterAll(() => cluster?.drop());

  it('answers at once when it is back, never says none of what was done, and says both in one line', async () => {
    const { server, url } = await start();
    const { id } = (await post(url, 'mutation { createTag(name: "first") { id } }')).data.createTag;
    const running = load(url, id);
    for (let round = 0; round < 3; round += 1) {
      await pause(500);
      await cluster.kill();
      await pause(300);
      await cluster.start();
      const back = performance.now();
      await running.success();
      expect(performance.now() - back).toBeLessThan(2_000);
    }
    const { done, unknown, none, reads, slowest, wrong } = await running.end();
    expect(wrong).toEqual([]);
    const rows = await cluster.ask('select text from notes');
    const texts = new Set(rows.map(({ text }) => text));
    expect(texts.size).toBe(rows.length);
    expect(done.filter((text) => !texts.has(text))).toEqual([]);
    expect(none.filter((text) => texts.has(text))).toEqual([]);
    expect(texts.size).toBeLessThanOrEqual(done.length + unknown.length);
    expect(reads.failed).toEqual([]);
    expect(slowest).toBeLessThan(6_000);
    expect(linesOf(server, 'DATABASE_LOST')).toHaveLength(3);
    expect(linesOf(server, 'DATABASE_BACK')).toHaveLength(3);
    expect(server.child.exitCode).toBeNull();
  });

  it('answers 503 within five seconds of the loss, at once after that, and is unhealthy', async () => {
    const { url } = await start();
    await post(url, '{ tags { name } }');
    await cluster.kill();
    // What goes to a connection whose end nobody has noticed may have been done.
    await pause(200);
    const began = performance.now();
    const answers = await Promise.all([
      tell(url, '/graphql', { query: 'mutation { createTag(name: "x") { id } }' }),
      tell(url, '/graphql', { query: 'mutation { own(name: "x") }' }),
      tell(url, '/graphql', { query: 'mutation { loose(name: "x") }' }),
      tell(url, '/graphql', { query: '{ tags { name } }' }),
      tell(url, '/api/tags', { name: 'x' }),
      tell(url, '/api/tags'),
    ]);
    expect(performance.now() - began).toBeLessThan(5_500);
    expect(answers.map(({ status, retryAfter }) => `${status} ${retryAfter}`)).toEqual(
      answers.map(() => '503 1'),
    );
    expect(answers.map(({ body }) => body.errors?.[0].extensions.outcome ?? body.outcome)).toEqual([
      'none',
      'none',
      'unknown',
      undefined,
      'none',
      undefined,
    ]);
    const again = performance.now();
    const late = await tell(url, '/graphql', { query: '{ tags { name } }' });
    expect(late.body.errors[0].extensions.code).toBe('DATABASE_UNAVAILABLE');
    expect((await tell(url, '/api/health')).status).toBe(503);
    expect(performance.now() - again).toBeLessThan(500);
    await cluster.start();
    await expect.poll(() => tell(url, '/api/health').then(({ status }) => status)).toBe(200);
  });

  it('leaves a database that takes no writes any more', async () => {
    const { server, url } = await start();
    await post(url, 'mutation { createTag(name: "before") { id } }');
    await cluster.ask('alter system set default_transaction_read_only = on');
    await cluster.ask('select pg_reload_conf()');
    await pause(200);
    const written = tell(url, '/graphql', {
      query: 'mutation { createTag(name: "during") { id } }',
    });
    await server.line(({ msg }) => msg?.startsWith('DATABASE_LOST  '));
    await cluster.ask('alter system reset all');
    await cluster.ask('select pg_reload_conf()');
    expect((await written).body.data.createTag.id).toBeTruthy();
  });

  it('tells a subscriber that changes of others may have been missed', async () => {
    const [one, other] = [await start(), await start()];
    const heard: any[] = [];
    let ended = false;
    await subscribe(
      other.url,
      'subscription { noteCreated { text } }',
      (data, errors) => heard.push(errors?.[0].extensions.code ?? data.noteCreated.text),
      () => (ended = true),
    );
    const { id } = (await post(one.url, 'mutation { createTag(name: "s") { id } }')).data.createTag;
    const create = (text: string) =>
      post(one.url, `mutation { createNote(text: "${text}", tagId: ${id}) { id } }`);
    await create('before');
    await expect.poll(() => heard).toEqual(['before']);
    await cluster.kill();
    await cluster.start();
    await create('after');
    await expect.poll(() => ended || heard.includes('after')).toBe(true);
    if (ended) expect(heard).toEqual(['before', 'DATABASE_UNAVAILABLE']);
  });

  it('tells who holds a lock that it is lost, and gives it to the next', async () => {
    const [one, other] = [openStore(cluster.url, '.'), openStore(cluster.url, '.')];
    const held = one.lock('held', () => pause(20_000, 'done', { ref: false }));
    const refused = expect(held).rejects.toMatchObject({ code: 'LOCK_LOST', status: 503 });
    await pause(300);
    const next = other.lock('held', async () => 'next');
    await cluster.ask(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted`,
    );
    await refused;
    expect(await next).toBe('next');
    expect(await one.lock('held', async () => 'again')).toBe('again');
    await Promise.all([one.close(), other.close()]);
  });
});
