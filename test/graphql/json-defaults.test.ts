import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases, startServer, type TestServer } from './harness.ts';

const SDL = `
  scalar JSON
  enum Level { LOW HIGH }
  type Place { town: String! zip: Int }
  type Note {
    id: ID!
    tags: [String!]! @default(value: ["a'b", "c"])
    levels: [Level!]! @default(value: [LOW])
    counts: [Int] @default(value: [1, null])
    meta: JSON! @default(value: { on: true, deep: [{ n: 1.5 }] })
    odd: JSON @default(value: "{\\"a-b\\": [1]}")
    word: JSON @default(value: "plain")
    place: Place! @default(value: { town: "Ulm" })
  }
  input NewNote { tags: [String!] meta: JSON }
  type Query { notes: [Note!]! }
  type Mutation { createNote(input: NewNote!): Note! createNotes(input: [NewNote!]!): [Note!]! }
`;
const FIELDS = '{ tags levels counts meta odd word place { town zip } }';
const FILLED = {
  tags: ["a'b", 'c'],
  levels: ['LOW'],
  counts: [1, null],
  meta: { on: true, deep: [{ n: 1.5 }] },
  odd: { 'a-b': [1] },
  word: 'plain',
  place: { town: 'Ulm', zip: null },
};

describe.each(databases)('a default of a list, JSON or an object on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(SDL, { database, manifest: 'name: notes\n' });
  });
  afterAll(() => server?.close());

  it('fills what a create leaves out, one row or many', async () => {
    const { data, errors } = await server.query(
      `mutation { one: createNote(input: {}) ${FIELDS} some: createNotes(input: [{}, { tags: [], meta: 7 }]) ${FIELDS} }`,
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({ one: FILLED, some: [FILLED, { ...FILLED, tags: [], meta: 7 }] });
  });

  it('fills what a statement of another program leaves out', async () => {
    const [row] = await server.store.db
      .insertInto('notes')
      .defaultValues()
      .returningAll()
      .execute();
    expect(row).toMatchObject({ tags: FILLED.tags, meta: FILLED.meta, odd: FILLED.odd });
  });
});
