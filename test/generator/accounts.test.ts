import { afterEach, describe, expect, test } from 'vitest';
import { starters } from '../../templates/starter/index.ts';
import { databases, type TestDatabase } from '../store/databases.ts';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

const { starter } = starters;
const WITH_AUTH = starter.manifest('x').replace('# auth: {}', 'auth: {}');
const MENDED = starter.schema
  .replace(/ {2}createUser.*\n/, '')
  .replace(/(input UpdateUserInput \{[^}]*?) {2}email: String\n/, '$1');

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `the starter that gets accounts, on ${name}${missing ? ` (${missing})` : ''}`,
    () => {
      const made: { project: TestProject; database: TestDatabase }[] = [];
      afterEach(async () => {
        for (const { project, database } of made.splice(0)) {
          project.remove();
          await database.drop();
        }
      });

      async function start(manifest: string, schema: string) {
        const project = makeProject({ 'schema.graphql': schema, 'manifest.yaml': manifest });
        const database = await create();
        made.push({ project, database });
        linkPackages(project);
        const run = (...words: string[]) =>
          generator(words, project.root, {
            DATABASE_URL: database.url,
            JWT_SECRET: 's'.repeat(43),
          });
        return { project, run, db: database.store.db };
      }

      test('is refused with the fixes, and is good once they are applied', async () => {
        const { project, run } = await start(starter.manifest('x'), starter.schema);
        expect((await run('generate')).code).toBe(0);
        project.write('manifest.yaml', WITH_AUTH);
        const refused = await run('generate', '--json');
        expect(refused.code).toBe(3);
        expect(
          JSON.parse(refused.stdout).findings.map(({ code }: { code: string }) => code),
        ).toEqual(['AUTH_COLUMN_WRITTEN', 'AUTH_COLUMN_WRITTEN']);
        project.write('schema.graphql', MENDED);
        expect((await run('generate', '--json')).code).toBe(0);
        expect((await run('check', '--json')).code).toBe(0);
      });

      test('keeps two rows of one address: the migration stops, names them, and passes when one is mended', async () => {
        const { project, run, db } = await start(starter.manifest('x'), starter.schema);
        await run('generate');
        expect((await run('migrate', 'up')).code).toBe(0);
        const rows = ['ann@x.test', 'bob@x.test', 'Ann@X.test'].map((email) => ({
          name: 'A',
          email,
        }));
        await db.insertInto('users').values(rows).execute();
        project.write('manifest.yaml', WITH_AUTH);
        project.write('schema.graphql', MENDED);
        expect((await run('generate')).code).toBe(0);
        expect(project.read('migrations/0002_index_users.ts')).toContain(
          "index: { name: 'users_email_identity_key', columns: ['email'], unique: true, fold: 'letters' }",
        );
        const stopped = await run('migrate', 'up');
        expect(stopped.code).not.toBe(0);
        expect(stopped.stderr + stopped.stdout).toMatch(
          /users\.email is to be unique, and 1 of 3 rows of users repeat a value \(key 3\)/,
        );
        expect(
          await db.selectFrom('users').select(['name', 'email']).orderBy('id').execute(),
        ).toEqual(rows);
        await db.updateTable('users').set({ email: 'old@x.test' }).where('id', '=', 3).execute();
        expect((await run('migrate', 'up')).code).toBe(0);
        await expect(
          db.insertInto('users').values({ name: 'B', email: 'BOB@x.test' }).execute(),
        ).rejects.toThrow(/users_email_identity_key/);
      });

      test('seeds accounts by the rules of registration', async () => {
        const { project, run } = await start(WITH_AUTH, MENDED);
        await run('generate');
        const seed = async (text: string) => {
          project.write('seed.yaml', text);
          const { code, stdout } = await run('seed', '--json');
          const { findings } = JSON.parse(stdout);
          return [code, findings.map(({ message }: { message: string }) => message)];
        };
        expect(await seed('User:\n  - { name: A, email: "a＠x.test" }\n')).toEqual([
          expect.any(Number),
          [expect.stringContaining('email must be a valid email address')],
        ]);
        expect(
          await seed(
            'User:\n  - { name: A, email: ann@x.test }\n  - { name: B, email: ANN@x.test }\n',
          ),
        ).toEqual([expect.any(Number), [expect.stringContaining('email already exists')]]);
        expect(await seed('User:\n  - { name: A, email: ann@x.test }\n')).toEqual([0, []]);
      });
    },
  );
}
