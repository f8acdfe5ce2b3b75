import { execFile } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { readProject } from '@twofold/schema';
import { withAddress } from '../../generator/deploy/app-settings.ts';
import { createServer } from '../../runtime/core/server.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

const SCHEMA =
  'type User { id: ID! name: String! email: String! @unique }\ntype Query { users: [User!]! }\n';
const MANIFEST =
  'name: shop\nauth: { roles: { list: [Owner, Member], default: Member, first: Owner } }\n';
const PASSWORD = 'correct horse battery staple';

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`admin on ${name}${missing ? ` (${missing})` : ''}`, () => {
    const made: { project: TestProject; database: TestDatabase }[] = [];
    afterEach(async () => {
      for (const { project, database } of made.splice(0)) {
        project.remove();
        await database.drop();
      }
    });

    async function start(manifest = MANIFEST) {
      const project = makeProject({ 'schema.graphql': SCHEMA, 'manifest.yaml': manifest });
      const database = await create();
      made.push({ project, database });
      linkPackages(project);
      expect((await generator(['generate'], project.root)).code).toBe(0);
      const env = {
        DATABASE_URL: database.url,
        JWT_SECRET: 'a secret of the tests that is long enough',
        APP_URL: 'https://shop.test',
      };
      const script = (JSON.parse(project.read('package.json')) as { scripts: { admin?: string } })
        .scripts.admin;
      return {
        script,
        env,
        project,
        /** The command of the generator. */
        admin: (...words: string[]) => generator(['admin', ...words], project.root, env),
        /** What `npm run admin` runs; nothing of it may need the generator, which an image has not. */
        run: (...words: string[]) => runScript(project.root, script ?? '', words, env),
      };
    }

    test('create makes an owner and a link that sets the password; link is refused from then on', async () => {
      const { admin, run, project, env } = await start();
      const setup = await run('link');
      expect([setup.code, setup.stdout]).toEqual([
        0,
        expect.stringMatching(/https:\/\/shop\.test\/auth\/setup\?token=[\w-]+/),
      ]);
      expect(setup.stdout).toContain('curl https://shop.test/api/auth/setup');
      const usage = 'npm run admin -- create --email ada@example.com';
      for (const word of ['--help', '-h'])
        expect(await run(word)).toMatchObject({
          code: 0,
          stdout: expect.stringContaining(usage),
          stderr: '',
        });
      const created = await run('create', '--email', 'ada@x.test', '--json');
      expect(created.code).toBe(0);
      const { link } = JSON.parse(created.stdout) as { link: string };
      const [, token] = /^https:\/\/shop\.test\/auth\/reset-password\?token=([\w-]+)$/.exec(link)!;
      const again = await admin('create', '--email', 'ADA@x.test');
      expect([again.code, again.stderr]).toEqual([
        3,
        expect.stringContaining('User already exists'),
      ]);
      for (const tried of [await run('link'), await admin('link')])
        expect([tried.code, tried.stderr]).toEqual([3, expect.stringContaining('Owner')]);

      const { app } = (await import(project.path('src/generated/app.ts'))) as { app: never };
      const server = createServer(app);
      const { url } = await server.start('127.0.0.1:0', {
        env: { ...env, LOG_LEVEL: 'silent' },
      });
      const post = async (path: string, body: object) => {
        const answer = await fetch(`${url}/api/auth/${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      };
      const setupToken = /token=([\w-]+)/.exec(setup.stdout)![1];
      const eve = { token: setupToken, email: 'eve@x.test', password: PASSWORD };
      expect((await post('setup', eve)).status).toBe(400);
      expect((await post('reset-password', { token, new_password: PASSWORD })).status).toBe(200);
      expect((await post('login', { email: 'ada@x.test', password: PASSWORD })).body).toMatchObject(
        { role_name: 'Owner' },
      );
      expect(
        (await post('register', { email: 'bob@x.test', password: PASSWORD })).body,
      ).toMatchObject({ role_name: 'Member' });
      await server.close();
      const granted = await admin('grant', '--email', 'bob@x.test', '--role', 'Owner');
      expect([granted.code, granted.stdout]).toEqual([0, 'bob@x.test is Owner now.\n']);
      const down = (who: string) => run('grant', '--email', `${who}@x.test`, '--role', 'Member');
      expect((await down('ada')).code).toBe(0);
      expect(await down('bob')).toMatchObject({
        code: 3,
        stderr: 'refused: Cannot remove the last owner\n',
      });
    });

    // What is refused, and with which words, is the same on each database.
    if (name !== databases[0]!.name) return;

    test('wrong words are 2, what cannot be is 3, each with the reason', async () => {
      const { admin, run } = await start();
      for (const words of [[], ['create'], ['grant', '--email', 'a@x.test'], ['link', 'x']])
        expect(await run(...words)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining('npm run admin -- create --email'),
        });
      expect(await admin('make')).toMatchObject({ code: 2 });
      expect(await admin('create')).toMatchObject({ code: 2 });
      for (const [words, reason] of [
        [['grant', '--email', 'nobody@x.test', '--role', 'Owner'], 'no user has the address'],
        [['create', '--email', 'ada@x.test', '--role', 'Boss'], 'the manifest has Owner, Member'],
        [['create', '--email', 'no address'], 'email must be a valid email address'],
      ] as const)
        expect(await run(...words)).toMatchObject({
          code: 3,
          stderr: expect.stringContaining(reason),
        });
      expect((await run('link')).code).toBe(0);
    });

    test('a project without sign-in has no such script, and the command is refused', async () => {
      const { admin, script } = await start('name: shop\n');
      expect(script).toBeUndefined();
      expect(await admin('link')).toMatchObject({ code: 3 });
    });
  });
}

test('deploy gives a project with sign-in the address of its app, unless another one is given', () => {
  const projectOf = (manifest: string) =>
    readProject({
      schema: [{ file: 'schema.graphql', text: SCHEMA }],
      manifest: { file: 'manifest.yaml', text: manifest },
    }).project!;
  const app = { url: 'https://shop.apps.test', env: {} };
  const none = { env: {}, secrets: {} };
  expect(withAddress(none, projectOf(MANIFEST), app)).toEqual({ APP_URL: app.url });
  expect(withAddress(none, projectOf('name: shop\n'), app)).toEqual({});
  const given = { env: { APP_URL: 'https://shop.test' }, secrets: {} };
  expect(withAddress(given, projectOf(MANIFEST), app)).toEqual(given.env);
  const known = { ...app, env: { APP_URL: 'https://shop.test' } };
  expect(withAddress(none, projectOf(MANIFEST), known)).toEqual({});
});

/** Runs an npm script that is `node FILE`, with words behind it. */
function runScript(
  cwd: string,
  script: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [node, file = ''] = script.split(' ');
  expect(node).toBe('node');
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [file, ...words],
      { cwd, env: { ...process.env, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
