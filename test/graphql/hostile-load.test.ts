import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, it, describe } from 'vitest';
import { createDatabase } from '../engines/available.ts';
import { end } from '../server/program.ts';
import { databases } from './harness.ts';
import { complaintsOf } from './fuzz/fuzz.ts';
import { CORPUS } from './hostile/corpus.ts';
import { ask, attack, bystander } from './hostile/load.ts';
import { serve } from './hostile/server.ts';

/** All of it, with figures: node test/graphql/run-hostile.ts sqlite */
const SHOTS = CORPUS.filter((_, index) => index % 5 === 0);
const SIZE = { rows: 10_000, time: '2s', large: { posts: 10, characters: 200_000 } };

describe.each(databases)('hostile operations of eight clients on %s', (kind) => {
  it('are each answered or refused, others are answered meanwhile, and nothing goes on', async () => {
    const database = kind === 'postgres' ? await createDatabase() : undefined;
    const program = await serve(SIZE, database?.url);
    try {
      const url = await program.listening;
      const over = new AbortController();
      const others = bystander(url, over.signal);
      const hits = await attack(url, 8, SHOTS);
      over.abort();
      const { byId, failed } = await others;
      expect(hits).toHaveLength(SHOTS.length);
      expect(hits.filter(({ code }) => code === 'INTERNAL_SERVER_ERROR' || code === '500')).toEqual(
        [],
      );
      expect(new Set(hits.map(({ code }) => code))).toContain('TOO_COSTLY');
      expect(failed).toBe(0);
      expect(byId.length).toBeGreaterThan(5);
      expect(complaintsOf(program.output())).toEqual([]);
      if (database) expect(await activeAfter(database.url, 1000)).toEqual([]);
      const path = '/graphql?query={posts(where:{title:{startsWith:"post 1 of"}}){title}}';
      expect((await ask(url, { method: 'GET', path })).text).toContain('post 1 of');
    } finally {
      await end(program);
      await database?.drop();
    }
  });
});

it('a filter of many words keeps none of the texts that SQLite compares in memory', async () => {
  const program = await serve({
    rows: 1000,
    time: '60s',
    large: { posts: 50, characters: 400_000 },
  });
  try {
    const url = await program.listening;
    const or = Array.from({ length: 100 }, (_, index) => ({ body: { contains: `none ${index}` } }));
    const query = 'query ($where: PostFilter) { posts(where: $where) { id } }';
    const body = { query, variables: { where: { or } } };
    const shot = { method: 'POST', path: '/graphql', body } as const;
    expect(
      (await ask(url, { ...shot, body: { query: '{ posts(limit: 1) { id } }' } })).status,
    ).toBe(200);
    const before = mostMemory(program.process.pid!);
    // 100 words and 50 texts: 2 GB if each comparison kept its text.
    expect((await ask(url, shot)).text).toBe('{"data":{"posts":[]}}');
    expect(mostMemory(program.process.pid!) - before).toBeLessThan(500);
  } finally {
    await end(program);
  }
});

it('a filter of many words keeps nothing of the calls that it makes for each row', async () => {
  const program = await serve({ rows: 40_000, time: '60s', large: { posts: 0, characters: 0 } });
  try {
    const url = await program.listening;
    const or = Array.from({ length: 430 }, (_, index) => ({ body: { contains: `none ${index}` } }));
    const query = 'query ($where: PostFilter) { posts(where: $where) { id } }';
    const shot = { method: 'POST', path: '/graphql' } as const;
    // The same with a word that each row has: a thread begins, and has its statement.
    const found = { where: { or: [{ views: { gte: 0 } }, ...or] } };
    expect((await ask(url, { ...shot, body: { query, variables: found } })).status).toBe(200);
    const before = mostMemory(program.process.pid!);
    // 16,000 rows: 110 MiB if node kept its 17 bytes of each call of a function.
    const body = { query, variables: { where: { or } } };
    expect((await ask(url, { ...shot, body })).text).toBe('{"data":{"posts":[]}}');
    expect(mostMemory(program.process.pid!) - before).toBeLessThan(80);
  } finally {
    await end(program);
  }
});

/** MiB that a process has had at once. */
const mostMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** Statements that PostgreSQL still works on after so many milliseconds. */
async function activeAfter(url: string, milliseconds: number): Promise<string[]> {
  await sleep(milliseconds);
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ query: string }>(
    `select query from pg_stat_activity where datname = current_database() and state <> 'idle' and backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  await client.end();
  return rows.map(({ query }) => query);
}
