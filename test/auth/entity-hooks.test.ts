import { afterEach, describe, expect, it } from 'vitest';
import { auth } from '../../runtime/auth/auth.ts';
import type { EntityHook, EntityHooks } from '../../runtime/core/context/entity-hooks.ts';
import { failure } from '../../runtime/core/errors.ts';
import { createServer } from '../../runtime/core/server.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { HANDLES } from '../data/handles.ts';
import { GOOD, SECRET } from './server.ts';

const SCHEMA = `
  type User { id: ID! email: String! name: String slug: String @unique isNew: Boolean tags: [String!] }
  type Profile { id: ID! text: String! user: User! }
  type Query { users: [User!]! @auth(allow: [PUBLIC]) profiles: [Profile!]! @auth(allow: [PUBLIC]) }
`;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function serve(database: string, hooks: EntityHooks, manifest = '') {
  const made = database === 'postgres' ? await createDatabase() : null;
  if (made) ends.push(made.drop);
  const lines: string[] = [];
  const running = await createServer()
    .schema(SCHEMA, `name: hooked\nauth: {}\n${manifest}`)
    .with(auth({}))
    .plugin({ name: 'hooks', entityHooks: { User: hooks } })
    .start('127.0.0.1:0', {
      env: { DATABASE_URL: made?.url ?? ':memory:', JWT_SECRET: SECRET },
      logTo: { write: (line) => void lines.push(line) },
    });
  ends.push(() => running.close());
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(running.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as any };
  };
  return {
    lines,
    register: (name: string) =>
      post('/api/auth/register', { email: `${name}@example.com`, password: GOOD, name }),
    stored: async () => {
      const query = '{ users { name slug isNew tags } profiles { text } }';
      return (await post('/graphql', { query })).body.data;
    },
  };
}

// own-code.md §4: hooks run at registration, as `create` of the user entity
describe.each(databases)('hooks of the user entity at registration on %s', (database) => {
  it('complete the row, see it as stored, and write more in its transaction', async () => {
    const ran: string[] = [];
    const { register, stored } = await serve(database, {
      resolveInput: {
        create: async ({ input, ctx }) => {
          ran.push(`resolve ${input.email} ${ctx.principal.kind} ${ctx.ip !== ''}`);
          return { slug: `u-${input.name}`, isNew: true, tags: ['a', 'b'] };
        },
      },
      validate: ({ operation, input }) => void ran.push(`validate ${operation} ${input.slug}`),
      beforeOperation: ({ item }) => void ran.push(`before ${item}`),
      afterOperation: async ({ item, originalItem, ctx }) => {
        ran.push(`after ${item.slug} ${item.isNew} ${originalItem}`);
        await ctx.data.profile.create({ data: { text: `of ${item.name}`, userId: item.id } });
      },
      afterCommit: ({ item }) => void ran.push(`committed ${item.slug}`),
    });
    expect(await register('ada')).toMatchObject({ status: 201 });
    expect(ran).toEqual([
      'resolve ada@example.com system true',
      'validate create u-ada',
      'before null',
      'after u-ada true null',
      'committed u-ada',
    ]);
    expect(await stored()).toEqual({
      users: [{ name: 'ada', slug: 'u-ada', isNew: true, tags: ['a', 'b'] }],
      profiles: [{ text: 'of ada' }],
    });
  });

  it('refuse with all that is wrong, and leave neither user nor session nor what they wrote', async () => {
    const committed: string[] = [];
    const { register, stored, lines } = await serve(database, {
      validate: ({ input, addError }) => {
        if (input.name === 'bad') addError('name', 'is taken by a rule');
      },
      afterOperation: async ({ item, ctx }) => {
        await ctx.data.profile.create({ data: { text: 'x', userId: item.id } });
        if (item.name === 'late') throw failure.forbidden('too late');
        if (item.name === 'broken') throw new Error('a secret of the server');
      },
      afterCommit: ({ item }) => void committed.push(item.name),
    });
    expect(await register('bad')).toEqual({
      status: 400,
      body: {
        error: 'name is taken by a rule',
        extensions: { errors: [{ field: 'name', message: 'is taken by a rule' }] },
      },
    });
    expect(await register('late')).toEqual({ status: 403, body: { error: 'too late' } });
    expect((await register('broken')).body).toEqual({ error: 'Internal server error' });
    expect(lines.join('\n')).toMatch(/src\/hooks\/User\.ts afterOperation\.create failed/);
    expect(await stored()).toEqual({ users: [], profiles: [] });
    expect(committed).toEqual([]);
    expect((await register('late2')).status).toBe(201);
    expect(committed).toEqual(['late2']);
  });

  it('cannot set the columns that users sign in with', async () => {
    const { register, stored } = await serve(database, {
      resolveInput: { create: () => ({ email: 'other@example.com' }) },
    });
    expect((await register('ada')).status).toBe(403);
    expect((await stored()).users).toEqual([]);
  });

  it('use the database by every handle, in the transaction of the registration', async () => {
    let fails = false;
    let seen: Record<string, Record<string, number>> = {};
    const counts =
      (name: string): EntityHook =>
      async ({ ctx }: any) => {
        const found: Record<string, number> = (seen[name] = {});
        for (const [handle, count] of Object.entries(HANDLES))
          found[handle] = await count(ctx, 'User');
        if (fails && name === 'afterOperation') throw failure.conflict('too late');
      };
    const names = ['resolveInput', 'validate', 'beforeOperation', 'afterOperation', 'afterCommit'];
    const hooks = Object.fromEntries(names.map((name) => [name, counts(name)])) as EntityHooks;
    const { register, stored } = await serve(database, hooks);
    const all = (count: number) =>
      Object.fromEntries(Object.keys(HANDLES).map((handle) => [handle, count]));
    for (const [before, name] of ['ada', 'bob'].entries()) {
      seen = {};
      const { status, body } = await register(name);
      expect([status, typeof (body.token ?? body.accessToken)]).toEqual([201, 'string']);
      await expect.poll(() => Object.keys(seen['afterCommit'] ?? {})).toEqual(Object.keys(HANDLES));
      expect(seen).toEqual({
        resolveInput: all(before),
        validate: all(before),
        beforeOperation: all(before),
        afterOperation: all(before + 1),
        afterCommit: all(before + 1),
      });
    }
    fails = true;
    expect((await register('eve')).body).toEqual({ error: 'too late' });
    expect((await stored()).users.map(({ name }: any) => name)).toEqual(['ada', 'bob']);
  });
});
