import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { run } from '../server/program.ts';
import { root } from '../source-files.ts';
import { GOOD, SECRET } from './server.ts';

const PROGRAM = `
import { auth } from '${root}/runtime/auth/index.ts';
import { createServer } from '${root}/runtime/core/index.ts';
const profile = (ctx, userId, text) => ctx.data.profile.create({ data: { text, userId } });
const afterRegister = ({ user, ctx }) => profile(ctx, user.id, 'of registration');
const User = { afterOperation: ({ item, ctx }) => profile(ctx, item.id, 'of the entity') };
await createServer()
  .schema(
    'type User { id: ID! email: String! } type Profile { id: ID! text: String! user: User! } type Query { profiles: [Profile!]! }',
    'name: killed\\nauth: {}',
  )
  .with(auth({ hooks: { afterRegister } }))
  .plugin({ name: 'own', entityHooks: { User } })
  .serve('127.0.0.1:0');
`;

// own-code.md §13, line 11
it.each(databases)(
  'a registration with a profile by each hook, killed at any moment, leaves both or none, on %s',
  { timeout: 120_000 },
  async (database) => {
    const folder = mkdtempSync(join(tmpdir(), 'twofold-killed-'));
    const made =
      database === 'postgres'
        ? await createDatabase()
        : { url: `file:${join(folder, 'app.db')}`, drop: async () => {} };
    try {
      for (const wait of [0, 60, 150]) {
        const settings = { DATABASE_URL: made.url, JWT_SECRET: SECRET, LOG_LEVEL: 'info' };
        const program = run(PROGRAM, { ...settings, RATE_LIMIT_ENABLED: 'false' }, folder);
        const url = await program.listening;
        const requests = Array.from({ length: 12 }, (_, index) =>
          register(url, `${wait}-${index}@example.com`).catch(() => {}),
        );
        await Promise.race(requests);
        await new Promise((resolve) => setTimeout(resolve, wait));
        program.process.kill('SIGKILL');
        await program.ended;
        await Promise.all(requests);
      }
      const store = openStore(made.url, '/');
      const users = await store.db.selectFrom('users').select('id').execute();
      const profiles = await store.db.selectFrom('profiles').select('user_id').execute();
      await store.close();
      const owners = profiles.map(({ user_id }) => Number(user_id));
      const twice = users.flatMap(({ id }) => [Number(id), Number(id)]);
      expect(users.length).toBeGreaterThan(0);
      expect(owners.toSorted((a, b) => a - b)).toEqual(twice.toSorted((a, b) => a - b));
    } finally {
      await made.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

const register = (url: string, email: string) =>
  fetch(`${url}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: GOOD }),
  });
