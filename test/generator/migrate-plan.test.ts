import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databases, type TestDatabase } from '../store/databases.ts';
import { generator, linkPackages, makeProject, runFile, type TestProject } from './project.ts';

const schema = (email: string, rating: string) => `
type Author { id: ID! email: ${email} rating: ${rating} }
type Query { authors: [Author!]! }
`;

for (const { name: kind, missing, create } of databases) {
  describe.skipIf(missing !== null)(
    `migrate plan and consent on ${kind}${missing ? ` (${missing})` : ''}`,
    () => {
      let database: TestDatabase;
      let shop: TestProject;
      beforeAll(async () => {
        database = await create();
        shop = makeProject({
          'schema.graphql': schema('String', 'Float'),
          'manifest.yaml': 'name: shop\n',
        });
        linkPackages(shop);
        await run('generate');
        await run('migrate', 'up');
        await database.store.db
          .insertInto('authors')
          .values([
            { email: 'a', rating: 7.5 },
            { email: 'b', rating: 3 },
            { email: 'a', rating: -7.5 },
          ])
          .execute();
        shop.write('schema.graphql', schema('String @unique', 'Int'));
        await run('generate');
      });
      afterAll(async () => {
        shop.remove();
        await database.drop();
      });

      const run = (...args: string[]) => generator(args, shop.root, { DATABASE_URL: database.url });
      const json = async (...args: string[]) => {
        const { code, stdout } = await run(...args, '--json');
        return { code, answer: JSON.parse(stdout) as any };
      };
      const name = () =>
        new URL(database.url.replace('file:', 'file://')).pathname.split('/').at(-1)!;
      const rows = () =>
        database.store.db.selectFrom('authors').selectAll().orderBy('id').execute();

      test('plan says what each step would meet, exits 5, and changes nothing', async () => {
        const before = await rows();
        const { code, answer } = await json('migrate', 'plan', '--values');
        expect(code).toBe(5);
        expect(answer).toMatchObject({
          ok: false,
          database: {
            dialect: database.store.dialect,
            name: name(),
          },
          migrations: [
            {
              steps: [
                {
                  step: 1,
                  does: 'unique',
                  object: 'authors.email',
                  rows: 3,
                  verdict: 'impossible',
                  atRisk: 1,
                  keys: ['3'],
                  values: ['a'],
                  compatible: true,
                },
                { step: 2, does: 'type', verdict: 'lossy', atRisk: 2, values: ['7.5', '-7.5'] },
              ],
            },
          ],
        });
        const text = await run('migrate', 'plan');
        expect(text.stdout).toMatch(
          /1 {2}unique {5}authors\.email {2}impossible: 1 of 3 rows \(key 3\)/,
        );
        expect(text.stdout).not.toContain('7.5');
        expect(await rows()).toEqual(before);
      });

      test('a server with MIGRATE=on ends with 1 before the first statement', async () => {
        const before = await rows();
        const { code, stdout, stderr } = await runFile(
          process.execPath,
          ['src/server.ts'],
          shop.root,
          { DATABASE_URL: database.url, PORT: '0', MIGRATE: 'on', NODE_ENV: 'production' },
        );
        expect(code).toBe(1);
        expect(stdout + stderr).toMatch(/authors\.email is to be unique, and 1 of 3 rows/);
        expect(stdout + stderr).not.toMatch(/listening|\n\s+at /);
        expect(await rows()).toEqual(before);
      });

      test('up stops for each with exit 5, and --allow-loss runs the lossy step alone', async () => {
        const before = await rows();
        expect(await json('migrate', 'up')).toMatchObject({
          code: 5,
          answer: { error: { code: 'ROWS_IN_THE_WAY' } },
        });
        await database.store.db
          .updateTable('authors')
          .set({ email: 'c' })
          .where('id', '=', 3)
          .execute();
        expect(await json('migrate', 'up')).toMatchObject({
          code: 5,
          answer: { error: { code: 'MIGRATION_NEEDS_CONSENT' } },
        });
        expect((await rows()).map(({ rating }) => rating)).toEqual(
          before.map(({ rating }) => rating),
        );
        expect(
          await json('migrate', 'up', '--allow-loss', 'Author.rating', '--confirm', name()),
        ).toMatchObject({
          code: 0,
          answer: { ok: true },
        });
        expect((await rows()).map(({ rating }) => rating)).toEqual([8, 3, -8]);
      });
    },
  );
}
