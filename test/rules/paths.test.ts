import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { changesOf } from '../../runtime/core/data/changes/changes.ts';
import { systemContext } from '../../runtime/core/own-context/system-context.ts';
import { databases, startRest, user, type RestServer } from '../rest/harness.ts';
import { insert } from './project.ts';

const SDL = `
  interface Node { id: ID! }
  interface Named { id: ID! name: String! }
  union Thing = Room | Guest
  type User { id: ID! email: String! stays: [Guest!]! }
  type Room implements Named @auth(allow: [USER], on: [READ], where: { guests: { some: { user: CALLER } } })
    @auth(allow: [USER], on: [CREATE], where: { name: { ne: "none" } })
  { id: ID! name: String! guests: [Guest!]! notes: [Note!]! @relation(inverse: "room") noteCount: Int! @count(relation: "notes") }
  type Guest implements Named @auth(allow: [OWNER], owner: "room.guests.user") { id: ID! name: String! user: User room: Room }
  type Note implements Node @auth(allow: [OWNER], owner: "room.guests.user")
    @auth(allow: [USER], on: [READ], where: { room: { notes: { count: { gte: 3 } } } })
  { id: ID! text: String! room: Room about: Thing secret: String @auth(allow: [OWNER], owner: "room.guests.user", where: { not: { text: "plain" } }) }
  type Query {
    room(id: ID!): Room rooms: [Room!]! noteByText(text: String!): Note notes: [Note!]! node(id: ID!): Node
    named: [Named!]! mine: [Note!]! @resolve(as: CUSTOM)
  }
  type Mutation { createNote(text: String!, roomId: ID): Note deleteNote(id: ID!): Boolean! }
  type Subscription { noteCreated: Note! noteDeleted: Note! }
`;

describe.each(databases)('graphql-2 §3: every path to a row on %s', (database) => {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRest(SDL, {
      database,
      manifest: 'name: paths\napi: { rest: true }\nauth: {}\n',
      resolvers: {
        Query: {
          mine: () =>
            [1, 2, 3].map((id) => ({ id: `Note:${id}`, text: `n${id}`, secret: 'given' })),
        },
      },
    });
    await insert(server.store, {
      users: [{ email: 'a@x.org' }, { email: 'b@x.org' }],
      rooms: [{ name: 'one' }, { name: 'two' }],
      guests: [
        { name: 'ann', user_id: 1, room_id: 1 },
        { name: 'bob', user_id: 2, room_id: 2 },
      ],
      notes: [
        { text: 'n1', secret: 's1', room_id: 1, about_type: 'Room', about_id: 2 },
        { text: 'n2', secret: 's2', room_id: 2, about_type: 'Guest', about_id: 2 },
      ],
    });
  });
  afterAll(() => server.close());

  const ask = async (text: string, as: Principal = user(1)) => server.query(text, {}, as);

  it('interfaces, unions, node, and a lookup by another field', async () => {
    const { data } = await ask(
      '{ named { __typename name } one: node(id: "Note:1") { id } two: node(id: "Note:2") { id } noteByText(text: "n2") { id } notes { about { __typename } } }',
    );
    expect(data).toEqual({
      named: [
        { __typename: 'Guest', name: 'ann' },
        { __typename: 'Room', name: 'one' },
      ],
      one: { id: 'Note:1' },
      two: null,
      noteByText: null,
      notes: [{ about: null }],
    });
  });

  it('REST with include, and ctx.data', async () => {
    const rooms = (await server.get('/api/rooms?include=notes,guests', user(1))).body;
    expect(JSON.stringify(rooms)).not.toMatch(/two|n2|bob/);
    expect(JSON.stringify(rooms)).toMatch(/n1/);
    expect((await server.get('/api/notes/2', user(1))).status).toBe(404);
    const context: any = systemContext({
      store: server.store,
      log: { child: () => ({}) } as never,
    }).sudo();
    context.principal = user(1);
    expect((await context.data.note.findMany()).map(({ text }: any) => text)).toEqual(['n1']);
    expect(await context.data.note.count()).toBe(1);
    expect(await context.data.note.findUnique({ where: { id: 2 } })).toBe(null);
    await expect(
      context.data.note.create({ data: { text: 'x', roomId: 2 } }),
    ).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    });
  });

  it('objects of your own resolvers are judged by the stored row', async () => {
    const { data, errors } = await ask('{ mine { text secret } }');
    expect(data.mine.map(({ secret }: any) => secret)).toEqual(['given', null, null]);
    expect(errors?.map(({ path }) => path.join('.')).sort()).toEqual([
      'mine.1.secret',
      'mine.2.secret',
    ]);
  });

  it('a create is answered by rules that see the new row', async () => {
    const { data } = await ask(
      'mutation { a: createNote(text: "new", roomId: 1) { text room { name noteCount notes { text } } } }',
    );
    expect(data.a).toEqual({
      text: 'new',
      room: { name: 'one', noteCount: 2, notes: [{ text: 'n1' }, { text: 'new' }] },
    });
    expect(
      (await ask('mutation { createNote(text: "x", roomId: 2) { id } }')).errors?.[0],
    ).toMatchObject({
      message: 'roomId: there is no such Room',
    });
  });

  it('a subscription tells of rows that the caller may read, and of no others', async () => {
    const heard = await listen('subscription { noteCreated { text } }', user(2), () => {
      changesOf(server.store).publish(
        [1, 2].map((id) => ({ entity: 'Note', kind: 'created', id: String(id) })),
      );
    });
    expect(heard).toEqual([{ data: { noteCreated: { text: 'n2' } } }]);
    const removed = await listen('subscription { noteDeleted { text } }', user(1), async () => {
      await ask('mutation { deleteNote(id: "Note:2") }', user(2));
      await ask('mutation { deleteNote(id: "Note:1") }');
    });
    expect(removed).toEqual([{ data: { noteDeleted: { text: 'n1' } } }]);
  });

  /** The events of a subscription until the first one has come, and a moment longer. */
  async function listen(query: string, as: Principal, cause: () => unknown): Promise<unknown[]> {
    const gone = new AbortController();
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      signal: gone.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-test-principal': JSON.stringify(as),
      },
      body: JSON.stringify({ query }),
    });
    let text = '';
    const reading = (async () => {
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) text += part;
    })().catch(() => {});
    await cause();
    const events = () =>
      [...text.matchAll(/event: next\ndata: (.*)\n\n/g)].map(([, data = '']) => JSON.parse(data));
    for (let tries = 0; tries < 200 && events().length < 1; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 50));
    gone.abort();
    await reading;
    return events();
  }
});
