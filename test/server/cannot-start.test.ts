import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createDatabase, postgresUrl } from '../engines/available.ts';
import { end, newFolder, type Program, run } from './program.ts';

const CODE = `
import { createServer } from '@twofold/runtime';
const server = createServer();
server.schema('type User { id: ID! name: String! } type Query { users: [User!]! }');
await server.serve('127.0.0.1:0');
`;

const programs: Program[] = [];
afterEach(async () => void (await Promise.all(programs.splice(0).map(end))));

/** What a server says that ends at its start, which has to be a reason and no trace. */
async function reason(env: Record<string, string>, folder = newFolder(), code = CODE) {
  const program = run(code, { LOG_LEVEL: 'silent', ...env }, folder);
  programs.push(program);
  expect(await program.ended).toBe(1);
  const said = program.output();
  expect(said).toMatch(/^The server cannot start:\n/);
  expect(said).not.toMatch(/^\s+at .*:\d+:\d+|node:internal/m);
  return said;
}

/** A port on which nothing listens, as somebody did until just now. */
async function unusedPort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

describe('a server that cannot start says why in one line', () => {
  it('when PostgreSQL does not listen, without the password', async () => {
    const port = await unusedPort();
    const said = await reason({ DATABASE_URL: `postgres://app:hunter2@127.0.0.1:${port}/shop` });
    expect(said).toContain(`DATABASE_URL: nothing listens at 127.0.0.1:${port}`);
    expect(said).not.toContain('hunter2');
  });

  it.skipIf(!postgresUrl && !process.env['CI'])(
    'when PostgreSQL refuses the password, or has no such database',
    async () => {
      const database = await createDatabase();
      try {
        const wrong = Object.assign(new URL(database.url), { password: 'wrong' });
        expect(await reason({ DATABASE_URL: wrong.href })).toContain('the password of ');
        const absent = Object.assign(new URL(database.url), { pathname: '/nowhere' });
        expect(await reason({ DATABASE_URL: absent.href })).toContain(
          'there is no database nowhere at ',
        );
      } finally {
        await database.drop();
      }
    },
  );

  it('when the file of the database is none', async () => {
    const folder = newFolder();
    writeFileSync(
      join(folder, 'notes.db'),
      'these are notes, no database, and there are many of them',
    );
    const said = await reason({ DATABASE_URL: 'file:notes.db' }, folder);
    expect(said).toContain('DATABASE_URL (file:notes.db): the file is no SQLite database');
  });

  it('when .env cannot be read', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, '.env'));
    expect(await reason({ DATABASE_URL: ':memory:' }, folder)).toMatch(
      /\.env cannot be read \(EISDIR\): it is a folder/,
    );
  });

  it('when WORKERS is no number, and when something listens at its port', async () => {
    expect(await reason({ DATABASE_URL: ':memory:', WORKERS: 'many' })).toContain(
      'WORKERS must be',
    );
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const code = CODE.replace('127.0.0.1:0', `127.0.0.1:${port}`);
    expect(await reason({ DATABASE_URL: ':memory:' }, newFolder(), code)).toContain(
      `PORT ${port} is in use`,
    );
    other.close();
  });
});
