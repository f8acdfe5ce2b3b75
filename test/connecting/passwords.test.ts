import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, describeWith, type TestDatabase } from '../engines/available.ts';
import { ask, type ServerProcess, startServer } from '../pooler/start-server.ts';

describeWith('postgres', 'a password that a command prints', () => {
  const role = `rotated_${randomBytes(4).toString('hex')}`;
  let directory: string;
  let database: TestDatabase;
  let admin: pg.Client;
  let server: ServerProcess | undefined;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'twofold-password-'));
    database = await createDatabase();
    admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await rotate('first');
    await admin.query(`grant create on schema public to ${role}`);
  });
  afterEach(async () => {
    await server?.stop();
    await admin.query(`drop owned by ${role}; drop role ${role}`);
    await admin.end();
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });

  const file = (name: string) => join(directory, name);

  async function rotate(password: string): Promise<void> {
    await admin.query(
      `do $$ begin create role ${role} login; exception when duplicate_object then null; end $$`,
    );
    await admin.query(`alter role ${role} password '${password}'`);
    await pause(50);
    writeFileSync(file('password'), `${password}\nand no more\n`);
  }

  const start = (command: string, env: Readonly<Record<string, string>> = {}) => {
    const url = Object.assign(new URL(database.url), { username: role, password: '' });
    server = startServer({ DATABASE_URL: url.href, DATABASE_PASSWORD_COMMAND: command, ...env });
    return server;
  };
  const counted = () => `echo run >> ${file('runs')}; cat ${file('password')}`;
  const runs = () => readFileSync(file('runs'), 'utf8').split('\n').length - 1;

  it('is asked for once a minute, and fails no request when it is rotated ten times', async () => {
    const url = await start(counted()).listening();
    expect(runs()).toBe(1);
    const failed: unknown[] = [];
    const ending = new AbortController();
    const { data } = await ask(url, 'mutation { createTag(name: "t") { id } }');
    const create = `mutation { createNote(text: "n", tagId: ${data.createTag.id}) { id } }`;
    let asked = 0;
    const callers = Array.from({ length: 6 }, async () => {
      while (!ending.signal.aborted) {
        const text = asked++ % 2 === 0 ? create : '{ notes(limit: 3) { text } }';
        const { errors } = await ask(url, text);
        if (errors) failed.push(errors);
      }
    });
    for (let round = 0; round < 10; round += 1) {
      await rotate(`password ${round}`);
      // Connections are made anew where they are idle; those with a statement would fail it.
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}' and state = 'idle'`,
      );
      await pause(400);
    }
    ending.abort();
    await Promise.all(callers);
    expect(failed.filter((errors) => !/"outcome":"unknown"/.test(JSON.stringify(errors)))).toEqual(
      [],
    );
    expect(asked).toBeGreaterThan(callers.length);
    expect(runs()).toBeGreaterThanOrEqual(10);
  });

  it('ends the start at once when it is wrong', async () => {
    writeFileSync(file('password'), 'wrong\n');
    const { code, errors } = await start(counted(), { NODE_ENV: 'production' }).ended;
    expect([code, errors]).toEqual([1, expect.stringMatching(`password of ${role}`)]);
    expect(runs()).toBe(2);
  });

  it('ends the start with the exit code and the errors of the command, and never its output', async () => {
    const { code, errors } = await start('echo hidden; echo no such secret >&2; exit 7').ended;
    expect(code).toBe(1);
    expect(errors).toMatch('DATABASE_PASSWORD_COMMAND ended with 7: no such secret');
    expect(errors).not.toMatch('hidden');
  });
});
