import { expect, it } from 'vitest';
import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { hosting } from '@twofold/hosting';
import { models } from '@twofold/models';
import { createServer } from '@twofold/runtime';
import { isOwnTable } from '../../schema/names.ts';
import { openStore } from '../../runtime/core/store/open-store.ts';
import { makeProject } from '../generator/project.ts';

const SDL =
  'type User { id: ID! email: String! @unique } type Query { users: [User!]! user(id: ID!): User }';
const MANIFEST =
  'name: all\nauth: { organizations: null }\nhosting: { domain: apps.test }\nconsole: {}\n';

it('every table that a server makes beside those of the schema is known, so that an import leaves it out', async () => {
  const folder = makeProject({});
  const env = {
    DATABASE_URL: `file:${folder.path('all.db')}`,
    JWT_SECRET: 'a test secret that is long enough to be one',
    NODE_ENV: 'test',
  };
  const server = createServer({
    capabilities: [auth(), hosting(), models(), webConsole()],
  } as never);
  const running = await server
    .schema(SDL, MANIFEST)
    .start('127.0.0.1:0', { env, logTo: { write: () => {} } as never });
  const store = openStore(env.DATABASE_URL, '/');
  try {
    const tables = await store.db.introspection.getTables();
    const others = tables.map(({ name }) => name).filter((name) => name !== 'users');
    expect(others.length).toBeGreaterThan(20);
    expect(others.filter((name) => !isOwnTable(name))).toEqual([]);
  } finally {
    await store.close();
    await running.close();
    folder.remove();
  }
});
