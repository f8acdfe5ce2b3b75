import { createServer } from '@twofold/runtime';
import { readProject } from '@twofold/schema';
import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { afterEach, describe, expect, it } from 'vitest';
import { databases, type TestDatabase } from '../store/databases.ts';

const NOTES = 'type Note { id: ID! text: String! }\ntype Query { notes: [Note!]! }\n';
const USERS = 'type User { id: ID! name: String! email: String! @unique }\n';
const PASSWORD = 'correct horse battery staple';

for (const { name, missing, create } of databases) {
  describe.skipIf(missing !== null)(`users that come later on ${name}`, () => {
    let database: TestDatabase;
    afterEach(() => database.drop());

    const start = (sdl: string, manifest: string) => {
      const { project } = readProject({
        schema: [{ file: 'schema.graphql', text: sdl }],
        manifest: { file: 'manifest.yaml', text: manifest },
      });
      return createServer({ project: project!, capabilities: [auth(), webConsole()] }).start(
        '127.0.0.1:0',
        {
          env: {
            DATABASE_URL: database.url,
            LOG_LEVEL: 'silent',
            JWT_SECRET: 'a secret of the tests that is long enough',
          },
        },
      );
    };

    it.each([
      ['with a type of their own', `${NOTES}${USERS}`, { name: 'Ada' }],
      ['without one', NOTES, {}],
    ])(
      'find their table free where only the operator signed in before: %s',
      async (_, sdl, more) => {
        database = await create();
        await (await start(NOTES, 'name: shop\nconsole: {}\n')).close();
        const { url, close } = await start(sdl, 'name: shop\nauth: {}\nconsole: {}\n');
        const answer = await fetch(`${url}/api/auth/register`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ email: 'ada@x.test', password: PASSWORD, ...more }),
        });
        expect([answer.status, await answer.text()]).toEqual([
          201,
          expect.stringContaining('ada@'),
        ]);
        await close();
      },
    );
  });
}
