import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../engines/available.ts';
import { type ServerProcess, startServer } from '../pooler/start-server.ts';
import { Cluster } from './cluster.ts';
import { tell } from './load.ts';

describeWith('postgres', 'a server with read replicas', () => {
  let primary: Cluster;
  let near: Cluster;
  let late: Cluster;
  let servers: ServerProcess[] = [];
  const start = async (...replicas: readonly Cluster[]) => {
    const read = replicas.map(({ url }) => url).join(',');
    const server = startServer(
      { DATABASE_URL: primary.url, DATABASE_READ_URL: read },
      '../failover/program.ts',
    );
    servers.push(server);
    return { server, url: await server.listening() };
  };
  const ask = (url: string, query: string, headers: Readonly<Record<string, string>> = {}) =>
    tell(url, '/graphql', { query }, headers);
  beforeAll(async () => {
    primary = await Cluster.start();
    near = await primary.standby();
    late = await primary.standby([`recovery_min_apply_delay = '2s'`]);
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
  });
  afterAll(async () => {
    for (const each of [near, late, primary]) await each?.drop();
  });

  it('reads what was written, on both servers, whichever replica answers', async () => {
    const urls = [(await start(near, late)).url, (await start(late)).url];
    const { readAfter, body } = await ask(urls[0]!, 'mutation { createTag(name: "0") { id } }');
    expect(readAfter).toMatch(/^[\w-]+$/);
    const id = body.data.createTag.id;
    let [given, stale] = [readAfter!, 0];
    for (let at = 1; at <= 40; at += 1) {
      const text = `n${at}`;
      const written = await ask(
        urls[at % 2]!,
        `mutation { createNote(text: "${text}", tagId: ${id}) { id } }`,
        { 'read-after': given },
      );
      given = written.readAfter!;
      const note = written.body.data.createNote.id;
      const headers = at % 3 === 0 ? { cookie: `read_after=${given}` } : { 'read-after': given };
      const read = await ask(urls[(at + 1) % 2]!, `{ note(id: ${note}) { text } }`, headers);
      if (read.body.data.note?.text !== text) stale += 1;
      expect(read.readAfter).toBeNull();
    }
    expect(stale).toBe(0);
    const invented = await ask(urls[1]!, `{ notes(limit: 100) { text } }`, {
      'read-after': 'AAAA',
    });
    expect(invented.body.data.notes).toHaveLength(40);
    const anyone = await ask(urls[1]!, `{ notes(limit: 100) { text } }`);
    expect(anyone.body.data.notes.length).toBeLessThan(40);
  });

  it('reads by GraphQL and GET from the replica', async () => {
    const { server, url } = await start(near);
    const { database } = await server.line((line) => line['database']);
    expect(database.read).toBe(1);
    // What only the primary has by now is in no answer.
    await near.ask('select pg_wal_replay_pause()');
    const [{ id }] = await primary.ask(`insert into tags (name) values ('new') returning id`);
    const answers = async () => [
      (await ask(url, `{ tag(id: "${id}") { name } }`)).body,
      (await tell(url, `/api/tags/${id}`)).status,
    ];
    for (let at = 0; at < 20; at += 1)
      expect(await answers()).toEqual([{ data: { tag: null } }, 404]);
    await near.ask('select pg_wal_replay_resume()');
    await expect.poll(answers).toEqual([{ data: { tag: { name: 'new' } } }, 200]);
  });

  it('fails no read when a replica is killed, and comes back to it', async () => {
    const { url } = await start(near);
    const failed: string[] = [];
    const ending = new AbortController();
    const callers = Array.from({ length: 4 }, async () => {
      while (!ending.signal.aborted) {
        const { status, body } = await ask(url, '{ tags { name } }');
        if (status !== 200 || body.errors) failed.push(JSON.stringify(body));
      }
    });
    await pause(300);
    await near.kill();
    await pause(1_000);
    await near.start();
    await pause(2_000);
    ending.abort();
    await Promise.all(callers);
    expect(failed).toEqual([]);
  });

  it('starts without a replica, and not with one of another database', async () => {
    const { server } = await start({ url: 'postgres://postgres@127.0.0.1:1/postgres' } as Cluster);
    await server.line(({ msg }) => msg?.startsWith('REPLICA_UNAVAILABLE  '));
    const other = await Cluster.start();
    try {
      await expect(start(other)).rejects.toThrow(/DATABASE_URL_MISMATCH|must be those of/);
    } finally {
      servers.pop();
      await other.drop();
    }
  });

  it('gives a promoted replica no reads', async () => {
    const { url } = await start(near);
    await near.promote();
    await pause(500);
    await near.ask(`update tags set name = 'of another'`);
    const { body } = await ask(url, '{ tags { name } }');
    expect(JSON.stringify(body)).not.toContain('of another');
  });
});
