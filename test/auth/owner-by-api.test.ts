import { expect, it } from 'vitest';
import { readProject } from '@twofold/schema';
import { auth } from '@twofold/auth';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase } from '../engines/available.ts';
import { API_KEY, caller, describeEachDatabase, GOOD, SECRET } from './harness.ts';

const SDL = `type User { id: ID! name: String! email: String! @unique notes: [BlogNote!]! }
type BlogNote { id: ID! text: String! author: User }
type Query { users: [User!]! blogNotes: [BlogNote!]! }
type Mutation { deleteUser(id: ID!): User createBlogNote(text: String!): BlogNote! }
`;
const SETUP_TOKEN = 'a setup token that has 32 characters or more';

describeEachDatabase('§2.13 the last owner and scopes, by GraphQL and REST', (database) => {
  const start = async () => {
    const { project } = readProject({
      schema: [{ file: 'schema.graphql', text: SDL }],
      manifest: {
        file: 'manifest.yaml',
        text: 'name: shop\napi: { rest: true }\nauth: { roles: { list: [Owner, Member], first: Owner } }\n',
      },
    });
    const made = database === 'PostgreSQL' ? await createDatabase() : null;
    const server = createServer({ project: project!, capabilities: [auth()] });
    const { url } = await server.start('127.0.0.1:0', {
      env: {
        DATABASE_URL: made?.url ?? ':memory:',
        JWT_SECRET: SECRET,
        API_KEY,
        SETUP_TOKEN,
        LOG_LEVEL: 'silent',
        RATE_LIMIT_ENABLED: 'false',
      },
    });
    const call = caller(url);
    const graphql = async (query: string, headers: Record<string, string>) =>
      (await call('POST', '/graphql', { query }, headers)).body;
    return {
      call,
      graphql,
      close: async () => {
        await server.close();
        await made?.drop();
      },
    };
  };
  const root = { 'X-API-Key': API_KEY };

  it('no mutation and no REST call removes the last owner; a second one makes that possible', async () => {
    const { call, graphql, close } = await start();
    const person = (email: string) => ({ email, password: GOOD, name: 'Somebody' });
    const { body: owner } = await call('POST', '/api/auth/setup', {
      token: SETUP_TOKEN,
      ...person('owner@x.test'),
    });
    expect(owner.role_name).toBe('Owner');
    const remove = `mutation { deleteUser(id: ${owner.id}) { id } }`;
    expect(await graphql(remove, root)).toMatchObject({
      errors: [{ message: 'Cannot remove the last owner', extensions: { code: 'CONFLICT' } }],
    });
    expect(await call('DELETE', `/api/users/${owner.id}`, undefined, root)).toMatchObject({
      status: 409,
      body: { error: 'Cannot remove the last owner' },
    });
    expect((await graphql('{ users { id } }', root)).data.users).toHaveLength(1);
    const { body: second } = await call('POST', '/api/auth/register', person('second@x.test'));
    const role = { role_id: owner.role_id };
    await call('PUT', `/api/auth/admin/users/${second.id}/role`, role, root);
    expect(await graphql(remove, root)).toEqual({ data: { deleteUser: { id: String(owner.id) } } });
    await close();
  });

  it('scopes name an area, every read, or an entity of two words, and hold for GraphQL and REST', async () => {
    const { call, graphql, close } = await start();
    const keyOf = async (scope: string) => {
      const json = { name: 'k', scopes: [scope] };
      const { body } = await call('POST', '/api/auth/admin/api-keys', json, root);
      return { 'X-API-Key': body.key as string };
    };
    const tries = async (headers: Record<string, string>) => [
      (await graphql('{ blogNotes { id } }', headers)).data !== null,
      (await call('GET', '/api/blog-notes', undefined, headers)).status,
      (await graphql('mutation { createBlogNote(text: "x") { id } }', headers)).data !== null,
      (await graphql('{ users { id } }', headers)).data !== null,
    ];
    expect(await tries(await keyOf('blogNotes:read'))).toEqual([true, 200, false, false]);
    expect(await tries(await keyOf('blogNotes:*'))).toEqual([true, 200, true, false]);
    expect(await tries(await keyOf('*:read'))).toEqual([true, 200, false, true]);
    expect(await tries(await keyOf('users:read'))).toEqual([false, 403, false, true]);
    await close();
  });
});
