import { afterEach, describe, expect, it } from 'vitest';
import { databases, projectOf, startServer, user, type TestServer } from './harness.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const SDL = `
  type Note @auth(allow: [PUBLIC]) { id: ID! text: String! author: Author query: Query! }
  type Author { id: ID! name: String! notes: [Note!]! }
  type CreateNotePayload { note: Note! query: Query! }
  type Query { notes(limit: Int): [Note!]! authors: [Author!]! viewer: Query! guarded: Query @auth(allow: [USER]) now: Int! }
  type Mutation { createNote(text: String!): CreateNotePayload! again: Query }
  type Subscription { noteCreated: Note! }
`;
const MANIFEST = 'name: test\nauth: {}\n';

describe.each(databases)('a field whose type is the query root, on %s', (database) => {
  it('is the root again: below itself, in a payload after the commit, and in rows', async () => {
    let calls = 0;
    server = await startServer(SDL, {
      manifest: MANIFEST,
      database,
      resolvers: { Query: { now: () => (calls += 1) } },
    });
    const as = user(1);
    const made = await server.query(
      'mutation { a: createNote(text: "one") { query { notes { text } } note { text } } b: createNote(text: "two") { query { notes { text } viewer { now } } } again { notes { id } } }',
      {},
      as,
    );
    expect(made).toEqual({
      data: {
        a: { query: { notes: [{ text: 'one' }] }, note: { text: 'one' } },
        b: { query: { notes: [{ text: 'one' }, { text: 'two' }], viewer: { now: 1 } } },
        again: { notes: [{ id: '1' }, { id: '2' }] },
      },
    });
    server.statements();
    const read = await server.query(
      '{ viewer { __typename notes(limit: 1) { text } v: viewer { notes { id query { n: notes(limit: 1) { id } } } } } notes { text } __typename }',
      {},
      as,
    );
    expect(read).toEqual({
      data: {
        viewer: {
          __typename: 'Query',
          notes: [{ text: 'one' }],
          v: {
            notes: [
              { id: '1', query: { n: [{ id: '1' }] } },
              { id: '2', query: { n: [{ id: '1' }] } },
            ],
          },
        },
        notes: [{ text: 'one' }, { text: 'two' }],
        __typename: 'Query',
      },
    });
    // One for each root field, wherever it stands: rows of one list share it.
    expect(server.statements()).toHaveLength(4);
  });

  it('has the rules, depth and cost of what is below it', async () => {
    server = await startServer(SDL, { manifest: MANIFEST, database });
    const { data, errors } = await server.query('{ viewer { notes { id } authors { id } } }');
    expect(data).toBeNull();
    expect(errors![0]).toMatchObject({
      path: ['viewer', 'authors'],
      extensions: { code: 'UNAUTHENTICATED' },
    });
    const open = await server.query('{ viewer { notes { id } } guarded { notes { id } } }');
    expect(open.data).toEqual({ viewer: { notes: [] }, guarded: null });
    expect(open.errors![0].extensions.code).toBe('UNAUTHENTICATED');
    const deep = `{ ${'viewer { '.repeat(12)} __typename ${'} '.repeat(12)} }`;
    expect((await server.query(deep)).errors![0].extensions.code).toBe('TOO_DEEP');
  });

  it('is no stub and no column in the model', () => {
    const project = projectOf(SDL, MANIFEST);
    const decided = project.operations.filter(({ type }) => type.name === 'Query');
    expect(decided.map(({ name, decidedBy }) => [name, decidedBy])).toEqual([
      ['viewer', 'query root'],
      ['guarded', 'query root'],
      ['again', 'query root'],
    ]);
    const note = project.entities.find(({ name }) => name === 'Note');
    expect(note?.columns.map(({ name }) => name)).not.toContain('query');
    expect(project.operations.find(({ name }) => name === 'createNote')?.action.kind).toBe(
      'create',
    );
  });
});
