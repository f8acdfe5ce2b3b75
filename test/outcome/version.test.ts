import { beforeEach, describe, expect, it } from 'vitest';
import { auth } from '../../runtime/auth/auth.ts';
import { createServer } from '../../runtime/core/server.ts';
import { GOOD, SECRET } from '../auth/server.ts';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { atOnce, everywhere } from './places.ts';

const SDL = `
  type Page {
    id: ID! slug: String @unique text: String! revision: Int! @version book: Book
    tags: [Tag!]! cover: Cover
  }
  type Book { id: ID! title: String! edition: Int! @version pages: [Page!]! }
  type Tag { id: ID! name: String! pages: [Page!]! }
  type Cover { id: ID! color: String! }
  type Hooked { id: ID! n: Int! revision: Int! @version }
  input NewPage { slug: String text: String! }
  input PagePatch { text: String revision: Int! tagIds: [ID!] cover: CoverPatch }
  input CoverPatch { create: NewCover }
  input NewCover { color: String! }
  input LoosePatch { text: String revision: Int }
  input PageKey { slug: String! }
  input PageId { id: ID! }
  input PageUpdate { where: PageId! data: LoosePatch! }
  input PagesPatch { connect: [PageId!] disconnect: [PageId!] update: [PageUpdate!] create: [NewPage!] }
  input BookPatch { title: String pages: PagesPatch edition: Int }
  input PageFilter { text: TextFilter }
  input TextFilter { eq: String startsWith: String }
  input HookedPatch { n: Int revision: Int! }
  type Query { pages: [Page!]! page(id: ID!): Page books: [Book!]! hookeds: [Hooked!]! hooked(id: ID!): Hooked }
  type Mutation {
    createPage(input: NewPage!): Page!
    updatePage(id: ID!, input: PagePatch!): Page
    deletePage(id: ID!, revision: Int!): Boolean!
    textPage(id: ID!, revision: Int, input: TextPatch!): Page @resolve(as: UPDATE)
    slugPage(slug: String!, revision: Int!, text: String): Page @resolve(as: UPDATE)
    updatePages(where: PageFilter!, input: LoosePatch!): Int!
    upsertPage(where: PageKey!, create: NewPage!, update: LoosePatch!): Page!
    updateBook(id: ID!, input: BookPatch!): Book
    updateHooked(id: ID!, input: HookedPatch!): Hooked
  }
  input TextPatch { text: String }
`;
const hooks = { Hooked: { validate: { update: () => undefined } } };

everywhere('@version', { sdl: SDL, entityHooks: hooks as never }, (servers) => {
  const data = () => (servers[0]!.ctx as any).data;
  const page = (id: unknown = 1) => data().page.findUnique({ where: { id } });
  const query = (text: string, variables = {}) => servers[0]!.query(text, variables);
  const rest = (method: string, path: string, body?: unknown, at = servers[0]!) =>
    fetch(`${at.url}/api/${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
  const conflict = (current: number) => ({ code: 'CONFLICT', reason: 'VERSION', current });

  beforeEach(async () => {
    await data().page.create({ data: { slug: 'a', text: 'a' } });
  });

  it('of 20 parallel updates with one version, by GraphQL, REST and ctx.data, exactly one succeeds', async () => {
    const done = await atOnce(servers, 20, async (server, at) => {
      if (at % 3 === 0) {
        const { errors } = await server.query(
          `mutation { updatePage(id: 1, input: { text: "${at}", revision: 1 }) { revision } }`,
        );
        if (errors) expect(errors[0].extensions).toEqual(conflict(2));
        return !errors;
      }
      if (at % 3 === 1) {
        const { status } = await rest('PATCH', 'pages/1', { text: `${at}`, revision: 1 }, server);
        expect([200, 409]).toContain(status);
        return status === 200;
      }
      return (server.ctx as any).data.page
        .update({ where: { id: 1 }, data: { text: `${at}`, revision: 1 } })
        .then(
          () => true,
          (error: any) => {
            expect(error).toMatchObject({
              code: 'CONFLICT',
              status: 409,
              extensions: { reason: 'VERSION', current: 2 },
            });
            return false;
          },
        );
    });
    expect(done.filter(Boolean).length).toBe(1);
    expect(await page()).toMatchObject({ text: `${done.indexOf(true)}`, revision: 2 });
  });

  it('of 20 with hooks, and of 20 deletes beside updates, exactly one succeeds', async () => {
    await data().hooked.create({ data: { n: 0 } });
    const hooked = await atOnce(servers, 20, (server, at) =>
      server.query(`mutation { updateHooked(id: 1, input: { n: ${at + 1}, revision: 1 }) { n } }`),
    );
    const refused = hooked.flatMap(({ errors = [] }) => errors);
    expect(refused.map(({ extensions }) => extensions)).toEqual(
      Array.from({ length: 19 }, () => conflict(2)),
    );
    expect(await data().hooked.findUnique({ where: { id: 1 } })).toMatchObject({ revision: 2 });
    const answers = await atOnce(servers, 20, (server, at) =>
      server.query(
        at % 2 === 0
          ? 'mutation { done: deletePage(id: 1, revision: 1) }'
          : 'mutation { done: updatePage(id: 1, input: { text: "b", revision: 1 }) { id } }',
      ),
    );
    expect(answers.filter(({ data: answer }) => answer?.done).length).toBe(1);
  });

  it('is one more with every update by any path, and 1 in every new row', async () => {
    const made = await query('mutation { createPage(input: { text: "b" }) { id revision } }');
    expect(made.data.createPage).toEqual({ id: '2', revision: 1 });
    await data().book.create({ data: { title: 'x', pages: { create: { text: 'c' } } } });
    await data().page.createMany({ data: [{ text: 'd' }, { text: 'e' }] });
    const revisions = async () => {
      const rows = await data().page.findMany({ orderBy: { id: 'asc' } });
      return rows.map(({ revision }: any) => revision);
    };
    expect(await revisions()).toEqual([1, 1, 1, 1, 1]);
    const nested = await query(
      `mutation { updateBook(id: 1, input: { pages: {
        connect: [{ id: 1 }], disconnect: [{ id: 3 }],
        update: [{ where: { id: 1 }, data: { text: "A", revision: 2 } }] } }) { edition } }`,
    );
    expect(nested).toEqual({ data: { updateBook: { edition: 2 } } });
    expect(await revisions()).toEqual([3, 1, 2, 1, 1]);
    await query('mutation { updatePages(where: { text: { eq: "d" } }, input: { text: "D" }) }');
    await data().page.updateMany({ where: { text: 'D' }, data: { text: 'd' } });
    const upsert = await query(
      'mutation { upsertPage(where: { slug: "a" }, create: { text: "n" }, update: { text: "u" }) { revision } }',
    );
    expect(upsert.data.upsertPage).toEqual({ revision: 4 });
    const upserted = await data().page.upsert({
      where: { slug: 'z' },
      create: { text: 'z' },
      update: { text: 'y' },
    });
    expect(upserted.revision).toBe(1);
    expect((await rest('PUT', 'pages/5', { text: 'E', revision: 1 })).status).toBe(200);
    await data().page.update({ where: { id: 2 }, data: { book: { connect: { id: 1 } } } });
    expect(await revisions()).toEqual([4, 2, 2, 3, 2, 1]);
  });

  it('is demanded as Int!, and as Int checked when given', async () => {
    const demanded = await query('mutation { updatePage(id: 1, input: { text: "b" }) { id } }');
    expect(demanded.errors?.[0].message).toContain('revision');
    expect((await rest('PATCH', 'pages/1', { text: 'b' })).status).toBe(400);
    expect((await rest('DELETE', 'pages/1')).status).toBe(400);
    expect((await rest('DELETE', 'pages/1?revision=x')).status).toBe(400);
    expect((await page()).revision).toBe(1);
    const text = (version: string) =>
      query(`mutation { textPage(id: 1${version}, input: { text: "c" }) { revision } }`);
    expect((await text('')).data.textPage.revision).toBe(2);
    expect((await text(', revision: null')).data.textPage.revision).toBe(3);
    expect((await text(', revision: 3')).data.textPage.revision).toBe(4);
    expect((await text(', revision: 3')).errors?.[0].extensions).toEqual(conflict(4));
    const slug = (revision: number) =>
      query(`mutation { slugPage(slug: "a", revision: ${revision}, text: "d") { revision } }`);
    expect((await slug(4)).data.slugPage.revision).toBe(5);
    expect((await slug(4)).errors?.[0].extensions).toEqual(conflict(5));
    const gone = await query('mutation { updatePage(id: 9, input: { revision: 1 }) { id } }');
    expect(gone).toEqual({ data: { updatePage: null } });
  });

  it('a write that is refused changes nothing, nested rows and rows of others included', async () => {
    await data().tag.create({ data: { name: 't' } });
    const refused = await query(
      'mutation { updatePage(id: 1, input: { text: "b", revision: 7, tagIds: [1], cover: { create: { color: "red" } } }) { id } }',
    );
    expect(refused.errors?.[0].extensions).toEqual(conflict(1));
    expect(await data().cover.count()).toBe(0);
    expect(await data().page.count({ where: { tags: { some: {} } } })).toBe(0);
    await data().page.createMany({ data: [{ text: 'a1' }, { text: 'a2' }] });
    await data().page.update({ where: { id: 3 }, data: { text: 'a3' } });
    const many = await query(
      'mutation { updatePages(where: { text: { startsWith: "a" } }, input: { text: "x", revision: 1 }) }',
    );
    expect(many.errors?.[0].extensions).toEqual(conflict(2));
    const { body, status } = await rest('PATCH', 'pages/1', { text: 'b', revision: 7 }).then(
      async (answer) => ({ status: answer.status, body: await answer.json() }),
    );
    expect([status, body]).toEqual([
      409,
      { error: 'Page was changed since it was read: its version is 1' },
    ]);
    expect((await data().page.findMany({})).map(({ text }: any) => text).sort()).toEqual(
      ['a', 'a1', 'a3'].sort(),
    );
  });

  it('a delete has the version that was read, by GraphQL, REST and ctx.data', async () => {
    const remove = (revision: number) =>
      query(`mutation { deletePage(id: 1, revision: ${revision}) }`);
    expect((await remove(2)).errors?.[0].extensions).toEqual(conflict(1));
    expect((await rest('DELETE', 'pages/1?revision=2')).status).toBe(409);
    const wrong = data().page.delete({ where: { slug: 'a', revision: 2 } });
    await expect(wrong).rejects.toMatchObject({ extensions: { reason: 'VERSION', current: 1 } });
    await expect(data().page.delete({ where: { id: 1, revision: 'x' } })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    expect(await page()).not.toBeNull();
    expect((await data().page.delete({ where: { slug: 'a', revision: 1 } })).text).toBe('a');
    await data().page.createMany({ data: [{ text: 'b' }, { text: 'c' }] });
    const [two, three] = await data().page.findMany({ orderBy: { id: 'asc' } });
    expect((await rest('DELETE', `pages/${two.id}?revision=1`)).status).toBe(204);
    expect(
      (await query(`mutation { deletePage(id: ${three.id}, revision: 1) }`)).data.deletePage,
    ).toBe(true);
  });

  it('is set by no create, and changed by no operator', async () => {
    for (const write of [
      data().page.create({ data: { text: 'b', revision: 3 } }),
      data().page.update({ where: { id: 1 }, data: { revision: { increment: 1 } } }),
    ])
      await expect(write).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    expect((await page()).revision).toBe(1);
  });
});

describe.each(databases)('@version of the user type on %s', (database) => {
  it('counts what the flows of signing in change, too', async () => {
    const made = database === 'postgres' ? await createDatabase() : undefined;
    const running = await createServer()
      .schema(
        'type User { id: ID! email: String! locale: String revision: Int! @version } type Query { users: [User!]! @auth(allow: [PUBLIC]) }',
        'name: versions\nauth: {}\n',
      )
      .with(auth({}))
      .start('127.0.0.1:0', {
        env: { DATABASE_URL: made?.url ?? ':memory:', JWT_SECRET: SECRET },
        logTo: { write: () => {} },
      });
    const send = async (method: string, path: string, body: unknown, token = '') => {
      const answer = await fetch(running.url + path, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as any;
    };
    const revisions = async () =>
      (await send('POST', '/graphql', { query: '{ users { locale revision } }' })).data.users;
    const { accessToken } = await send('POST', '/api/auth/register', {
      email: 'ada@example.com',
      password: GOOD,
    });
    expect(await revisions()).toEqual([{ locale: null, revision: 1 }]);
    await send('PATCH', '/api/auth/me', { locale: 'de' }, accessToken);
    expect(await revisions()).toEqual([{ locale: 'de', revision: 2 }]);
    await running.close();
    await made?.drop();
  });
});
