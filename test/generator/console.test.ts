import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, linkApp } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { readProject } from '@twofold/schema';
import { afterEach, describe, expect, test } from 'vitest';
import { createServer } from '../../runtime/core/server.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

const SCHEMA = 'type Note { id: ID! text: String! }\ntype Query { notes: [Note!]! }\n';
const LINK = /^http:\/\/localhost:8080\/console#code=[\w-]{20,}$/;

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`console on ${name}${missing ? ` (${missing})` : ''}`, () => {
    const made: { project: TestProject; database: TestDatabase }[] = [];
    afterEach(async () => {
      for (const { project, database } of made.splice(0)) {
        project.remove();
        await database.drop();
      }
    });

    async function start() {
      const project = makeProject({
        'schema.graphql': SCHEMA,
        'manifest.yaml': 'name: shop\nconsole: {}\n',
      });
      const database = await create();
      made.push({ project, database });
      linkPackages(project);
      expect((await generator(['generate'], project.root)).code).toBe(0);
      const env = {
        DATABASE_URL: database.url,
        JWT_SECRET: 'a secret of the tests that is long enough',
        LOG_LEVEL: 'silent',
      };
      const link = (settings = {}) =>
        generator(['console', '--json'], project.root, { ...env, ...settings });
      return { project, env, link };
    }

    test('--open gives the link to the program that opens links, and says when there is none', async () => {
      const { project, env } = await start();
      const opener = `#!/bin/sh\nprintf %s "$1" > '${project.path('opened')}'\n`;
      project.write('bin/xdg-open', opener);
      chmodSync(project.path('bin/xdg-open'), 0o755);
      const open = (PATH: string) =>
        generator(['console', '--open'], project.root, { ...env, PATH });
      const { stdout } = await open(`${project.path('bin')}:${process.env['PATH']}`);
      await expect
        .poll(() => (project.has('opened') ? project.read('opened') : ''))
        .toBe(stdout.trim());
      expect((await open(project.path('none'))).stderr).toContain('no browser was found');
    });

    test('gives a link before the first start and while the server runs; each works once', async () => {
      const { project, env, link } = await start();
      const before = await generator(['console'], project.root, env);
      expect([before.code, before.stdout.trim()]).toEqual([0, expect.stringMatching(LINK)]);
      expect(before.stderr).toContain('npm start');

      const { app } = (await import(project.path('src/generated/app.ts'))) as { app: never };
      const server = createServer(app);
      const { url } = await server.start('127.0.0.1:0', { env });
      const during = await link({ APP_URL: url });
      const { link: another, running } = JSON.parse(during.stdout) as Record<string, unknown>;
      expect([String(another).startsWith(`${url}/console#code=`), running]).toEqual([true, true]);
      expect(during.stderr).toBe('');

      const enter = async (text: string) => {
        const answer = await fetch(`${url}/api/auth/login`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({
            code: text.split('#code=')[1],
            client: 'console',
            delivery: 'cookie',
          }),
        });
        return [answer.status, ((await answer.json()) as { error?: string }).error];
      };
      for (const text of [before.stdout.trim(), String(another)]) {
        expect(await enter(text)).toEqual([200, undefined]);
        expect(await enter(text)).toEqual([400, 'Invalid or expired token']);
      }
      await server.close();

      if (name !== 'SQLite') return; // A reason does not depend on the database.
      for (const [settings, reason] of [
        [{ NODE_ENV: 'production', RATE_LIMIT_ENABLED: 'true' }, /enabled: always/],
        [{ DATABASE_URL: ':memory:' }, /the link that the server logs/],
        [{ JWT_SECRET: 'short' }, /JWT_SECRET/],
      ] as const)
        expect(await link(settings)).toMatchObject({
          code: 2,
          stdout: expect.stringMatching(reason),
        });
      project.write('manifest.yaml', 'name: shop\n');
      expect(await link()).toMatchObject({
        code: 2,
        stdout: expect.stringContaining('the manifest has no console'),
      });
    });
  });
}

test.each([
  ['', 'absent'],
  ['console: { host: false }', 'host'],
  ['console: { enabled: never }', 'closed'],
])('a project with %j has no link: %s', async (section, reason) => {
  const { project } = readProject({
    schema: [{ file: 'schema.graphql', text: SCHEMA }],
    manifest: { file: 'manifest.yaml', text: `name: shop\n${section}\n` },
  });
  const app = { project: project!, capabilities: section === '' ? [] : [auth(), webConsole()] };
  const folder = mkdtempSync(join(tmpdir(), 'twofold-link-'));
  const env = {
    DATABASE_URL: `file:${folder}/app.db`,
    JWT_SECRET: 'a secret of the tests, long enough',
  };
  expect(await linkApp(app, { client: 'console' }, { env })).toEqual({ ok: false, reason });
  rmSync(folder, { recursive: true });
});

test('--help says what it does, with an example', async () => {
  const { code, stdout } = await generator(['console', '--help'], '.');
  expect(code).toBe(0);
  expect(stdout).toMatch(/once, within 10 minutes[\s\S]*--open[\s\S]*npx generator console --open/);
});
