import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openapiDocument } from '@twofold/schema';
import { createRest } from '../../runtime/core/rest/index.ts';
import { databases, projectOf, startServer, type TestServer } from '../graphql/harness.ts';

const SDL = `
  type Note { id: ID! text: String! }
  input NewNote { text: String! mood: String @computed }
  input NotePatch { text: String }
  type Query { notes: [Note!]! note(id: ID!): Note }
  type Mutation {
    createNote(input: NewNote!, notify: Boolean! @computed, word: String @computed @constraint(maxLength: 5)): Note!
    updateNote(id: ID!, input: NotePatch!, why: String @computed): Note
  }
`;
const MANIFEST = 'name: notes\napi: { access: public, rest: true }\n';

// own-code.md §4
describe.each(databases)('@computed arguments beside an input object on %s', (database) => {
  let server: TestServer;
  let seen: unknown[] = [];
  const note = ({ input }: { readonly input: object }) => void seen.push({ ...input });
  beforeAll(async () => {
    server = await startServer(SDL, {
      database,
      manifest: MANIFEST,
      entityHooks: { Note: { beforeOperation: { create: note, update: note } } },
      also: (kernel, { service: { engine } }) => createRest({ kernel, engine }),
    });
  });
  afterAll(() => server?.close());
  beforeEach(() => void (seen = []));

  it('are handed to hooks with the members of the input, and not stored', async () => {
    const created = await server.query(
      'mutation { createNote(input: { text: "a", mood: "good" }, notify: true, word: "loom") { id text } }',
    );
    expect(created).toEqual({ data: { createNote: { id: expect.any(String), text: 'a' } } });
    const { id } = created.data.createNote;
    await server.query(
      'mutation ($id: ID!) { updateNote(id: $id, input: { text: "b" }, why: "typo") { id } }',
      { id },
    );
    await server.query('mutation ($id: ID!) { updateNote(id: $id, input: {}) { id } }', { id });
    expect(seen).toEqual([
      { text: 'a', mood: 'good', notify: true, word: 'loom' },
      { text: 'b', why: 'typo' },
      {},
    ]);
  });

  it('are checked before any hook', async () => {
    const query =
      'mutation { createNote(input: { text: "a" }, notify: true, word: "too long") { id } }';
    const { errors } = await server.query(query);
    expect(errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', errors: [{ field: 'word' }] } },
    ]);
    expect(errors?.[0]?.extensions.errors).toHaveLength(1);
    expect(seen).toEqual([]);
  });

  it('stand in a body of REST among the members', async () => {
    const body = { text: 'r', notify: false, word: 'loom' };
    const created = await server.call('POST', '/api/notes', { body });
    expect(created).toMatchObject({ status: 201, body: { text: 'r' } });
    const missing = await server.call('POST', '/api/notes', { body: { text: 'r' } });
    expect(missing).toMatchObject({ status: 400, body: { error: 'notify is required' } });
    const patch = { body: { text: 's', why: 'typo' } };
    const changed = await server.call('PATCH', `/api/notes/${created.body.id}`, patch);
    expect(changed.status).toBe(200);
    expect(seen).toEqual([body, { text: 's', why: 'typo' }]);
  });

  it('stand in the document of the REST API', () => {
    const { paths } = openapiDocument(server.project) as any;
    const { schema } = paths['/api/notes'].post.requestBody.content['application/json'];
    expect(schema.allOf).toMatchObject([
      { properties: { text: {}, mood: {} }, required: ['text'] },
      { properties: { notify: {}, word: {} }, required: ['notify'] },
    ]);
  });
});

it('has to have another name than the members of the input', () => {
  const clash = SDL.replace('word: String', 'mood: String');
  const { operations } = projectOf(clash, MANIFEST);
  const create = operations.find(({ name }) => name === 'createNote');
  expect(create?.action.kind).toBe('custom');
});
