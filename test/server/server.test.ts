import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError, createServer, type Middleware } from '@twofold/runtime';
import { end, newFolder, type Program, query, run } from './program.ts';

/** The schema of the first seed document. */
const SEED = `
type User { id: ID! name: String! email: String! }
type Query { user(id: ID!): User users: [User!]! }
`;
const WITH_CREATE = `${SEED} type Mutation { createUser(name: String!, email: String!): User! }`;

const FIVE_LINES = (schema: string) => `
import { createServer } from '@twofold/runtime';
const server = createServer();
server.schema(${JSON.stringify(schema)});
await server.serve(':0');
`;

const programs: Program[] = [];
const start = (...options: Parameters<typeof run>) => {
  const program = run(...options);
  programs.push(program);
  return program;
};
afterEach(async () => void (await Promise.all(programs.splice(0).map(end))));

const quiet = { DATABASE_URL: ':memory:', LOG_LEVEL: 'silent' };

describe('New, Schema, Serve', () => {
  it('serve the seed’s schema from five lines and nothing else', async () => {
    const url = await start(FIVE_LINES(SEED)).listening;
    expect(await query(url, '{ users { id name email } user(id: 1) { name } }')).toEqual({
      data: { users: [], user: null },
    });
  });

  it('keep what was written when the program ends and starts again', async () => {
    const first = start(FIVE_LINES(WITH_CREATE));
    const created = await query(
      await first.listening,
      'mutation { createUser(name: "Ada", email: "ada@example.test") { id } }',
    );
    expect(created).toEqual({ data: { createUser: { id: '1' } } });
    first.process.kill('SIGKILL');
    await first.ended;
    const second = start(FIVE_LINES(WITH_CREATE), {}, first.folder);
    expect(await query(await second.listening, '{ user(id: 1) { name email } }')).toEqual({
      data: { user: { name: 'Ada', email: 'ada@example.test' } },
    });
  });

  it('refuse a schema that is wrong, with the place and the fix', () => {
    expect(() =>
      createServer().schema('type Query { users: [Usr!]! } type User { id: ID! }'),
    ).toThrow(ConfigError);
    expect(() =>
      createServer().schema('type Query { users: [Usr!]! } type User { id: ID! }'),
    ).toThrow(/schema:1:\d+.*Usr/s);
    expect(() => createServer().schema('')).toThrow(ConfigError);
  });

  it('says at its start when other machines reach it too', async () => {
    const lines: string[] = [];
    const logTo = { write: (line: string) => void lines.push(JSON.parse(line).msg) };
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      const env = { ...quiet, LOG_LEVEL: 'info' };
      await (await createServer().schema(SEED).start(`${host}:0`, { env, logTo })).close();
    }
    const started = lines.filter((line) => line.startsWith('listening on http://127.0.0.1:'));
    expect(started.map((line) => line.replace(/^.*:\d+/, ''))).toEqual([
      '',
      ' and all other addresses of this machine (HOST=0.0.0.0)',
    ]);
  });

  it('refuse to serve without a schema and on an address of another form', async () => {
    await expect(createServer().start(':0')).rejects.toThrow(/\.schema\(sdl\)/);
    await expect(createServer().schema(SEED).start('8080', { env: quiet })).rejects.toThrow(
      /:8080/,
    );
  });
});

describe('a server', () => {
  it('writes answers whole, short and long, of whatever letters', async () => {
    const server = createServer().schema(WITH_CREATE);
    const { url } = await server.start('127.0.0.1:0', { env: quiet });
    for (const [at, name] of [
      'a',
      'é',
      '\u{1F600}b',
      'a'.repeat(100_000),
      'é'.repeat(50_000),
      '\u{1F600}b'.repeat(20_000),
    ].entries()) {
      const asked = {
        query:
          'mutation New($name: String!) { createUser(name: $name, email: "a@example.test") { id name } }',
        variables: { name },
      };
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(asked),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      expect(JSON.parse(bytes.toString())).toEqual({
        data: { createUser: { id: String(at + 1), name } },
      });
    }
    await server.close();
  });

  it('runs middleware after the request context and before the endpoint', async () => {
    const seen: unknown[] = [];
    const trace: Middleware = async (ctx, next) => {
      ctx['values'].set('company_id', 7);
      seen.push(ctx['values'].get('company_id'), ctx['values'].get('nothing'), ctx['user']);
      await next();
    };
    const server = createServer().schema(SEED).use(trace);
    const { url } = await server.start('127.0.0.1:0', { env: quiet });
    await query(url, '{ users { id } }');
    await server.close();
    expect(seen).toEqual([[7, true], [undefined, false], null]);
  });

  it('takes plugins with middleware, resolvers, routes and hooks', async () => {
    const calls: string[] = [];
    const server = createServer()
      .schema(`${SEED} extend type Query { now: String! }`)
      .plugin({
        name: 'clock',
        middleware: async (_ctx, next) => (calls.push('middleware'), next()),
        resolvers: { Query: { now: () => 'noon' } },
        routes: (router) => void router.get('/clock', (ctx) => void (ctx.body = { now: 'noon' })),
        hooks: { start: () => void calls.push('start'), stop: () => void calls.push('stop') },
      });
    const { url } = await server.start('127.0.0.1:0', { env: quiet });
    expect(await query(url, '{ now }')).toEqual({ data: { now: 'noon' } });
    expect(await (await fetch(`${url}/clock`)).json()).toEqual({ now: 'noon' });
    await server.close();
    expect(calls).toEqual(['start', 'middleware', 'middleware', 'stop']);
  });

  it('says that it is ready at /api/health, and answers JSON where there is nothing', async () => {
    const server = createServer().schema(SEED);
    const { url } = await server.start('127.0.0.1:0', { env: quiet });
    expect(await (await fetch(`${url}/api/health`)).json()).toEqual({ status: 'ok' });
    const missing = await fetch(`${url}/nowhere`);
    expect([missing.status, await missing.json()]).toEqual([404, { error: 'Not found' }]);
    expect(missing.headers.get('x-content-type-options')).toBe('nosniff');
    await server.close();
  });

  it('does not wait for a connection that never sent a byte, as browsers open them', async () => {
    const server = createServer().schema(SEED);
    const { url } = await server.start('127.0.0.1:0', { env: quiet });
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    const ended = once(silent, 'close');
    await once(silent, 'connect');
    const outcome = await Promise.race([server.close().then(() => 'closed'), sleep(8000, 'waits')]);
    expect(outcome).toBe('closed');
    await ended;
  });

  it('lists every wrong setting at once, by name, and exits with 1', async () => {
    const program = start(FIVE_LINES(SEED), { DATABASE_URL: 'mysql://x', LOG_LEVEL: 'loud' });
    expect(await program.ended).toBe(1);
    expect(program.output()).toMatch(/DATABASE_URL must be/);
    expect(program.output()).toMatch(/LOG_LEVEL must be/);
    expect(program.output()).not.toMatch(/\n\s+at /);
  });

  it('names the port when it is taken', async () => {
    const first = start(FIVE_LINES(SEED));
    const port = new URL(await first.listening).port;
    const second = start(FIVE_LINES(SEED).replace(':0', `:${port}`));
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`PORT ${port} is in use`);
  });

  it('finishes what runs on SIGTERM, also when it comes twice, takes nothing new, and exits with 0', async () => {
    const code = `
      import { createServer } from '@twofold/runtime';
      await createServer().schema(${JSON.stringify(`${SEED} extend type Query { slow: String! }`)})
        .plugin({ name: 'slow', resolvers: { Query: { slow: () => new Promise((done) => setTimeout(() => done('done'), 600)) } } }).serve(':0');`;
    const program = start(code);
    const url = await program.listening;
    const answer = query(url, '{ slow }');
    await sleep(200);
    program.process.kill('SIGTERM');
    await sleep(100);
    program.process.kill('SIGTERM');
    program.process.kill('SIGINT');
    await expect(fetch(`${url}/api/health`)).rejects.toThrow();
    expect(await answer).toEqual({ data: { slow: 'done' } });
    expect(await program.ended).toBe(0);
  });

  it('reads .env, and what is set outside wins', async () => {
    const folder = newFolder();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${folder}/.env`, 'LOG_LEVEL=loud\nDATABASE_URL=:memory:\n');
    expect(await start(FIVE_LINES(SEED), {}, folder).ended).toBe(1);
    expect(await start(FIVE_LINES(SEED), { LOG_LEVEL: 'info' }, folder).listening).toMatch(/^http/);
  });

  it('runs as many workers as WORKERS says over one database file, and ends them all', async () => {
    const program = start(FIVE_LINES(WITH_CREATE).replace(':0', ':18473'), { WORKERS: '2' });
    const url = await program.listening;
    const create = (name: string) =>
      query(
        url,
        'mutation ($name: String!) { createUser(name: $name, email: "x@example.test") { id } }',
        { name },
      );
    await Promise.all(Array.from({ length: 20 }, (_, index) => create(`u${index}`)));
    expect((await query(url, '{ users { id } }')).data.users).toHaveLength(20);
    program.process.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    await expect(fetch(`${url}/api/health`)).rejects.toThrow();
  });
});
